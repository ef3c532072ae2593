"""The vectors with damage, and what is left of it."""
import struct

from vector_encoder import (MASK, SESSION, START, SYNC, Stream, chunk, damaged, file_header, hash32,
                            joined, memory, one_block, part, region, ring, stream_chunk, text_chunk,
                            three_blocks, vector)

# ------------------------------------------------------------------ bad: records


@vector
def bad_pad_not_zero():
    """A word with id 0 that is not zero; the next block is read."""
    s = Stream()
    s.event(0x010)
    s.emit("PAD that is not zero", 0x00000001)
    s.fill(54)
    s.event(0x011)
    s.event(0x810, 1)
    s.event(0x010)
    return s.data()


@vector
def bad_pad_third():
    """Three PADs in a block."""
    s = Stream()
    s.fill(54)
    s.event(0x011)
    for _ in range(3):
        s.emit("PAD", 0)
    s.event(0x010)
    return s.data()


@vector
def bad_pad_record_behind():
    """A record behind a PAD."""
    s = Stream()
    s.fill(54)
    s.event(0x011)
    s.emit("PAD", 0)
    s.event(0x810, 1)
    s.event(0x010)
    return s.data()


@vector
def bad_crossing():
    """Records of two and three words that would cross the border."""
    s = Stream()
    s.fill(54)
    s.event(0x810, 1)
    s.event(0x011)
    s.emit("event 0x810 without its argument", 0x81012345)
    s.event(0x010)
    s.fill(54)
    s.event(0x011)
    s.emit("event 0xC10 without its arguments", 0xC1012345, 0)
    s.event(0x012)
    return s.data()


@vector
def bad_sync_in_block():
    """Id 0xFFF in the middle of a block that begins no anchor."""
    s = Stream()
    s.event(0x010)
    s.emit("sync word", SYNC)
    s.fill(54)
    s.event(0x810, 1)
    s.event(0x011)
    return s.data()


@vector
def bad_check():
    """One bit of an anchor turned: its block is skipped, the next is read."""
    s = three_blocks()
    return damaged(s.data(), 256 + 12, mask=0x10)


@vector
def bad_check_byte():
    """A wrong check byte in the first anchor."""
    s = three_blocks()
    return damaged(s.data(), 0, mask=1)


@vector
def bad_index_not_a_multiple():
    """An anchor whose index is no multiple of the block size."""
    s = Stream()
    s.fill(57)
    s.event(0x011)
    s.index += 1
    s.event(0x010)
    return s.data()


@vector
def bad_block_size_changed():
    """Blocks of another size in a stream are none of its own."""
    s, t = Stream(), Stream(block=128, index=128)
    s.fill(57)
    s.event(0x011)
    t.event(0x010)
    return s.data() + t.data()


@vector
def bad_block_size():
    """Blocks of 32 and 512 words do not exist. exit 4"""
    s, t = Stream(block=32), Stream(block=512)
    s.event(0x010)
    t.event(0x010)
    return s.data() + t.data()


@vector
def bad_version():
    """Streams of format version 0, the draft, and of a later one. exit 4"""
    s, t = Stream(), Stream()
    s.version, t.version = 0, 2
    s.event(0x010)
    t.event(0x010)
    return s.data() + t.data()


@vector
def bad_byte_order_changed():
    """A big-endian block in an input that is little-endian."""
    s, t = one_block(), one_block(order=">", index=64)
    return s.data() + t.data()


@vector
def bad_epoch_old():
    """An EPOCH whose old part is not the reader's: not applied, the rest of the block is skipped."""
    s = Stream(time=7 << 20)
    s.event(0x010)
    s.emit("EPOCH from 6 to 8", 0x80000000, 6 << 16 | 8)
    s.fill(54)
    s.event(0x011)
    s.event(0x010)
    return s.data()


@vector
def bad_epoch_equal():
    """An EPOCH that changes nothing."""
    s = Stream(time=7 << 20)
    s.anchor()
    s.emit("EPOCH from 7 to 7", 0x80000000, 7 << 16 | 7)
    s.fill(54)
    s.event(0x811, 0)
    s.event(0x810, 1)
    return s.data()


@vector
def bad_epoch_wide_stamp():
    """An EPOCH_WIDE whose low 20 bits are not its stamp."""
    s = Stream()
    s.anchor()
    s.emit("EPOCH_WIDE", 0xC0012345, 0x12346, 9)
    s.fill(54)
    s.event(0x011)
    s.event(0x810, 1)
    return s.data()


@vector
def bad_clock_backwards():
    """Backwards within a block, behind an anchor, in an anchor, by EPOCH_WIDE; events are kept."""
    s = Stream()
    s.event(0x010, after=100)
    s.event(0x010, after=-1)
    s.event(0x010)
    s.time -= 1
    s.loss(0xC06, 1, 5, 0)
    s.fill(42)
    s.emit("event", 0x010 << 20 | s.time + 3)
    s.event(0x810, 1)
    s.time += 1 << 20
    s.put("event 0x7FF", 0x7FF)
    s.event(0x010, after=-(1 << 20))
    s.event(0x010, after=1 << 20)
    s.event(0x010, after=-(1 << 20))
    return s.data()


@vector
def bad_clock_backwards_by_epoch():
    """The high part runs over 2^44 by an EPOCH."""
    s = Stream()
    s.event(0x010)
    s.time = (1 << 64) - (1 << 20)
    s.event(0x010)
    s.emit("EPOCH from ...FFFF to ...0001", 0x80000007, 0xFFFF0001)
    s.high = 1
    s.time = 1 << 20 | 7
    s.event(0x011)
    return s.data()


@vector
def bad_clock_backwards_behind_anchor():
    """The first record behind an anchor is earlier than the anchor says."""
    s = Stream()
    s.anchor()
    s.event(0x010, after=-0x345)
    return s.data()


@vector
def bad_clock_backwards_over_gap():
    """An anchor behind a gap that is earlier than what was read before."""
    s = three_blocks()
    s.blocks.pop()
    s.index, s.room = s.index - 64 + s.room, 0
    s.event(0x010, after=-0x2345)
    return s.data(0, 2)


# ------------------------------------------------------------------ bad: texts


@vector
def bad_orphan_text():
    """TEXT records that nobody opened count as stored."""
    s = Stream()
    s.text_records(b"who opened me?")
    s.event(0x010)
    return s.data()


@vector
def bad_cut_text_by_loss():
    """A loss cuts all open texts, the innermost first; what follows of them has no owner."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.put("string event, 20 bytes", 0x811, 20)
    s.text_records(b"outer te")
    s.put("string event, 9 bytes", 0x811, 9)
    s.loss(0xC05, 1, START, 0)
    s.text_records(b"xt")
    s.put("string event, 9 bytes", 0x811, 9)
    s.loss(0xC06, 1, START, 0)
    s.event(0x010)
    return s.data()


@vector
def bad_cut_text_by_gap():
    """A lost block cuts a text that goes on behind it."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.string(0x811, b"a" * 400)
    return s.data(0, 2)


@vector
def bad_cut_text_at_end():
    """The data end inside a definition inside a string."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.put("string event, 9 bytes", 0x811, 9)
    s.put("DEFINE, 30 bytes", 0xC03, 7 << 24, 30)
    s.text_records(b"network")
    return s.data()


@vector
def bad_ninth_text():
    """A ninth text cuts the eight that are open and is read itself."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    for i in range(8):
        s.put("string event, 9 bytes", 0x811, 9)
    s.string(0x811, b"ninth")
    s.text_records(b"eighth")
    return s.data()


@vector
def bad_too_long_text():
    """A string and a definition of more than 1023 bytes open nothing; the text around them goes on."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.put("string event, 5 bytes", 0x811, 5)
    s.put("string event, 1024 bytes", 0x811, 1024)
    s.put("DEFINE, 2^32 - 1 bytes", 0xC03, 1 << 24 | 0x010, MASK)
    s.text_records(b"hello")
    return s.data()


# ------------------------------------------------------------------ bad: totals


@vector
def bad_total_in_anchor():
    """An anchor that states fewer dropped events than were reported; said once."""
    s = Stream()
    s.loss(0xC05, 3, START, 0)
    s.dropped = 2
    s.fill(51)
    s.event(0x011)
    s.event(0x010)
    s.fill(54)
    s.event(0x011)
    s.event(0x810, 1)
    s.event(0x010)
    return s.data()


@vector
def bad_total_behind_loss():
    """A DROPPED record that leaves the sum behind the total of the anchor before it."""
    s = Stream()
    s.dropped = 5
    s.event(0x010)
    s.loss(0xC05, 3, START, 0)
    s.event(0x010)
    s.loss(0xC05, 1, START, 0)
    return s.data()


@vector
def bad_total_in_end():
    """END states another number of suppressed events than were reported."""
    s = Stream()
    s.loss(0xC05, 3, START, 0)
    s.loss(0xC06, 2, START, 0)
    s.put("END", 0xC09, 3, 1)
    return s.data()


# ------------------------------------------------------------------ bad: the path


@vector
def bad_lost_byte():
    """One byte lost in a block: what is read wrong is skipped, all later blocks are read."""
    s = three_blocks()
    words = s.data()
    return part(words, 0, 256 + 24 + 9) + part(words, 256 + 24 + 10)


@vector
def bad_lost_byte_late():
    """A lost byte that nothing shows before the block's end: the next anchor has been read as the argument of
    a record that never was. The search starts behind the block's anchor and finds it."""
    s = Stream()
    s.fill(57)
    s.event(0x010)
    s.fill(54)
    s.event(0x010)
    s.event(0x012)
    s.event(0x810, 0x81)
    s.event(0x011)
    words = s.data()
    return part(words, 0, 500) + part(words, 501)


@vector
def bad_added_bytes():
    """Three bytes too many between two blocks: nothing is missing but the certainty of it."""
    s = three_blocks()
    return s.data(0) + [(b"abc", "added")] + s.data(1)


@vector
def bad_swapped_blocks():
    """Two blocks in the wrong order: each is read."""
    s = three_blocks()
    while len(s.blocks) == 3:
        s.event(0x810, 3, after=1)
    return s.data(0, 2, 1, 3)


@vector
def bad_repeated_block():
    """A block twice."""
    return three_blocks().data(0, 0, 1)


@vector
def bad_repeated_block_cuts_text():
    """A block twice while a text is open, then the rest."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.string(0x811, b"a" * 200)
    return s.data(0, 0, 1)


@vector
def bad_no_anchor():
    """Bytes without an anchor. exit 4"""
    return part(three_blocks().data(), 1, 256)


@vector
def bad_empty():
    """No bytes at all. exit 4"""
    return []


@vector
def bad_truncated_record():
    """The data end inside a record."""
    s = Stream()
    s.event(0x010)
    s.event(0xC10, 1, 2)
    return part(s.data(), 0, 24 + 4 + 8)


@vector
def bad_truncated_word():
    """The data end inside a word."""
    s = Stream()
    s.event(0x010)
    s.event(0x010)
    return part(s.data(), 0, 24 + 4 + 1)


@vector
def bad_truncated_anchor():
    """The data end inside the anchor at a block's end."""
    s = three_blocks()
    return part(s.data(), 0, 256 + 23)


@vector
def bad_truncated_sync():
    """Id 0xFFF inside a block, too near the end to be judged."""
    s = Stream()
    s.event(0x010)
    s.emit("sync and more", SYNC, 0, 0, 0, 0)
    return s.data()


@vector
def bad_skipped_at_end():
    """The data end while the reader is unsynchronised, inside an anchor."""
    s = three_blocks()
    return part(damaged(s.data(), 256 + 5, mask=4), 0, 512 + 20)


# ------------------------------------------------------------------ bad: the file


def pieces_file():
    """Header, one STREAM chunk of three blocks: its raw bytes start at offset 16 + 48 + 16."""
    return file_header() + stream_chunk(three_blocks().data())


@vector
def bad_tare_piece_first():
    """The first piece is damaged: the other two are read."""
    return damaged(pieces_file(), 80 + 40, mask=1)


@vector
def bad_tare_piece_middle():
    """The piece in the middle is damaged."""
    return damaged(pieces_file(), 80 + 300, mask=0x80)


@vector
def bad_tare_piece_last():
    """The last piece is damaged."""
    return damaged(pieces_file(), 80 + 512, mask=0x40)


@vector
def bad_tare_piece_of_split_block():
    """A block in two chunks whose second half is damaged: the first stands."""
    s = three_blocks()
    words = s.data()
    second = stream_chunk(part(words, 4 * 72, 4 * 128), 72)
    return file_header() + stream_chunk(part(words, 0, 4 * 72)) + damaged(second, 48 + 8 + 100, mask=2) + \
        stream_chunk(part(words, 512), 128)


@vector
def bad_tare_header_length():
    """A damaged length in a chunk header: what the chunk held is read as unverified."""
    s, t = one_block(), one_block(index=64)
    return damaged(file_header() + stream_chunk(s.data()), 16 + 9, mask=4) + stream_chunk(t.data(), 64)


@vector
def bad_tare_header_magic():
    """A damaged magic, and in front of it a chunk that ends inside a block."""
    s = three_blocks()
    words = s.data()
    return file_header() + stream_chunk(part(words, 0, 4 * 72)) + \
        damaged(stream_chunk(part(words, 4 * 72, 4 * 134), 72), 0, 0x74) + stream_chunk(part(words, 4 * 134), 134)


@vector
def bad_tare_header_last():
    """The header of the last chunk is damaged."""
    s, t = one_block(), one_block(index=64)
    return file_header() + stream_chunk(s.data()) + damaged(stream_chunk(t.data(), 64), 41, mask=1)


@vector
def bad_tare_table():
    """A damaged piece hash in the table: the payload is read as unverified."""
    return damaged(pieces_file(), 64 + 4, mask=1)


@vector
def bad_tare_count():
    """A table with a right hash that has one piece too few for its bytes."""
    s = three_blocks()
    data = joined(s.data())
    table = struct.pack("<3I", 2, hash32(data[:256]), hash32(data[256:512]))
    return file_header() + chunk(4, [(table, "table: 2 piece hashes")] + s.data(), 0, 1, 256, table=table)


@vector
def bad_tare_piece_size():
    """A STREAM chunk with pieces of 300 bytes."""
    return file_header() + stream_chunk(one_block().data(), piece=300)


@vector
def bad_tare_half_word():
    """A STREAM chunk whose raw bytes are no whole words."""
    return file_header() + stream_chunk(part(one_block().data(), 0, 255))


@vector
def bad_tare_payload():
    """A damaged INFO: stepped over; the rest is read."""
    return damaged(file_header() + text_chunk(1, b'{"command":[]}'), 70, mask=1) + \
        stream_chunk(one_block().data())


@vector
def bad_tare_ring():
    """Rings with a wrong magic, another version, a block size that does not exist, and too short."""
    return file_header() + chunk(3, ring(magic=0x52A7E002)) + chunk(3, ring(version=0)) + chunk(3, ring(block=32)) + \
        chunk(3, ring()[:3]) + stream_chunk(one_block().data())


@vector
def bad_tare_length_too_large():
    """A header, right but for a length of more than 16 MiB."""
    return file_header() + chunk(1, [(b"{}", "JSON")], length=(1 << 24) + 1) + stream_chunk(one_block().data())


@vector
def bad_tare_position_back():
    """The same chunk twice: a hole, and a block that was read before."""
    one = stream_chunk(one_block().data())
    return file_header() + one + one


@vector
def bad_tare_version():
    """A file of format version 0, the draft. exit 4"""
    return file_header(0) + stream_chunk(one_block().data())


@vector
def bad_tare_version_later():
    """A file of a later format version. exit 4"""
    return file_header(2) + stream_chunk(one_block().data())


@vector
def bad_tare_magic_alone():
    """A damaged file header and no stream behind it. exit 4"""
    return damaged(file_header() + text_chunk(1, b"{}"), 0, 0)


@vector
def bad_tare_all_damaged():
    """A file without one right byte behind its header. exit 4"""
    return file_header() + [(bytes(range(200)), "damage")]


@vector
def bad_tare_cut_in_file_header():
    """Cut in the file header. exit 4"""
    return part(pieces_file(), 0, 12)


@vector
def bad_tare_cut_in_header():
    """Cut in a chunk header."""
    whole = pieces_file()
    return whole + part(stream_chunk(three_blocks(index=192).data(), 192), 0, 47)


@vector
def bad_tare_cut_in_first_header():
    """Cut in the first chunk header. exit 4"""
    return part(pieces_file(), 0, 16 + 47)


@vector
def bad_tare_cut_in_table():
    """Cut in the table of a STREAM chunk. exit 4"""
    return part(pieces_file(), 0, 64 + 15)


@vector
def bad_tare_cut_in_piece():
    """Cut in the second piece of a STREAM chunk: its first piece is read."""
    return part(pieces_file(), 0, 80 + 256 + 255)


@vector
def bad_tare_cut_behind_piece():
    """Cut behind the second piece of a STREAM chunk."""
    return part(pieces_file(), 0, 80 + 512)


@vector
def bad_tare_cut_in_json():
    """Cut in the payload of END."""
    whole = pieces_file() + text_chunk(6, b'{"status":0}')
    return part(whole, 0, len(joined(whole)) - 1)


@vector
def bad_tare_cut_damaged_piece():
    """Cut in the last piece, and the first one is damaged."""
    return part(damaged(pieces_file(), 80, mask=1), 0, 80 + 520)


@vector
def bad_image_ring():
    """A ring whose buffer lies outside the image. exit 4"""
    return memory(buffer=0x20000154)


@vector
def bad_image_small_ring():
    """A ring of less than two blocks. exit 4"""
    return memory(size=256)
