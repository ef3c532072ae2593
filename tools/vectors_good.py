"""The vectors of what a writer may write and a path may lose."""
import struct

from vector_encoder import (MASK, SESSION, START, SYNC, Stream, chunk, damaged, file_header, hash32,
                            joined, memory, names_chunk, one_block, part, region, ring, stream_chunk, text_chunk,
                            three_blocks, vector)

# ------------------------------------------------------------------ good: records


@vector
def good_pad():
    """Two PADs, then one PAD, before a record that does not fit; a full block without PAD."""
    s = Stream()
    s.fill(54)
    s.event(0x810, 1)
    s.event(0xC10, 1, 2)
    s.fill(54)
    s.event(0x811, 4)
    s.event(0x810, 5)
    s.fill(54)
    s.event(0x011)
    return s.data()


@vector
def good_unnamed():
    """Events whose declaration found no id."""
    s = Stream()
    s.put("UNNAMED0", 0x001)
    s.put("UNNAMED1", 0x801, 42)
    s.put("UNNAMED2", 0xC01, 1, MASK)
    return s.data()


@vector
def good_epoch():
    """The high part grows from 7 to 8, then by 65535 over the end of its low 16 bits."""
    s = Stream(time=7 << 20 | 0x12345)
    s.event(0x010)
    s.event(0x010, after=1 << 20)
    s.event(0x010, after=65535 << 20)
    return s.data()


@vector
def good_epoch_wide():
    """The high part grows by 65536 or more, almost to the largest time."""
    s = Stream(time=0x812345)
    s.event(0x010)
    s.event(0x010, after=0x90 << 32)
    s.fill(48)
    s.event(0x010, after=0xFFFFFF00 << 32)
    return s.data()


@vector
def good_epoch_wide_small():
    """EPOCH_WIDE where the high part grows by one: what a small target writes always."""
    s = Stream(time=7 << 20 | 0x12345)
    s.event(0x010)
    s.time += 1 << 20
    s.emit("EPOCH_WIDE to %d" % s.time, 0xC00 << 20 | s.time & 0xFFFFF, s.time & MASK, s.time >> 32)
    s.high = s.time >> 20
    s.event(0x010)
    return s.data()


@vector
def good_epoch_at_border():
    """The high part changes where a block ends: the anchor says it, there is no epoch record. In the
    next block the EPOCH stands last and the anchor comes between it and its event."""
    s = Stream()
    s.fill(57)
    s.event(0x011)
    s.event(0x010, after=1 << 20)
    s.fill(54)
    s.event(0x011)
    s.event(0x010, after=1 << 20)
    return s.data()


@vector
def good_string():
    """String events of 5, 0, 8 and 9 bytes."""
    s = Stream()
    s.define(6, 0, 0x811, b"note|length:u32:B")
    s.string(0x811, b"hello")
    s.string(0x811, b"")
    s.string(0x811, b"12345678")
    s.time += 5
    s.string(0x811, b"123456789")
    return s.data()


@vector
def good_string_escapes():
    """Bytes that a listing shows as hexadecimal; bytes behind the end of a text are ignored."""
    s = Stream()
    s.define(6, 0, 0x811, b"a \"quoted\" \\ name")
    s.string(0x811, bytes([0, 9, 0x1F, 0x20, 0x7E, 0x7F, 0x80, 0xFF]))
    s.put("string event, 1 byte", 0x811, 1)
    s.put("TEXT with bytes behind the end", 0xC02, 0x44434241, 0x48474645)
    return s.data()


@vector
def good_string_before_definition():
    """A late reader: the definition comes behind the event, yet the class holds."""
    s = Stream()
    s.string(0x811, b"early")
    s.event(0x810, 5)
    s.define(6, 0, 0x811, b"note")
    return s.data()


@vector
def good_string_of_another_session():
    """A definition holds for its session only: the same id opens no text in the next one."""
    s, t = Stream(), Stream(session=SESSION + 1)
    s.define(6, 0, 0x811, b"note")
    s.string(0x811, b"hello")
    t.event(0x811, 5)
    return s.data() + t.data()


@vector
def good_string_ids():
    """Class STRING for ids that are no event with one argument: no text is opened."""
    s = Stream()
    for id in 0x00F, 0x012, 0x801, 0xC12, 0xFFFF:
        s.define(6, 0, id, b"no")
    s.event(0x012)
    s.put("UNNAMED1", 0x801, 5)
    s.event(0xC12, 5, 6)
    return s.data()


@vector
def good_nested_texts():
    """A handler's string inside a definition inside a string; each is complete before the outer goes on."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.put("string event, 12 bytes", 0x811, 12)
    s.text_records(b"outer te")
    s.time += 1
    s.define(7, 0, 3, b"network")
    s.put("string event, 9 bytes", 0x811, 9)
    s.text_records(b"inner te")
    s.time += 1
    s.string(0x811, b"innermost")
    s.text_records(b"x")
    s.text_records(b"xt12")
    return s.data()


@vector
def good_eight_texts():
    """Eight texts open at a time, closed from the inside out."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    for _ in range(8):
        s.put("string event, 1 byte", 0x811, 1)
        s.time += 1
    for i in range(8):
        s.text_records(b"hgfedcba"[i:i + 1])
    return s.data()


@vector
def good_long_text():
    """The longest text, 1023 bytes, over several blocks, with an event inside."""
    s = Stream()
    s.define(6, 0, 0x811, b"note")
    s.put("string event, 1023 bytes", 0x811, 1023)
    s.text_records(b"a" * 512)
    s.event(0x010)
    s.text_records(b"b" * 511)
    return s.data()


@vector
def good_define():
    """The example: one event with one argument; then a later definition of the same id, and one of another
    class group with the same number."""
    s = Stream()
    s.define(1, 0, 0x810, b"block|seq:u32:")
    s.event(0x810, 7)
    s.define(2, 1, 0x810, b"block|seq:u32:blocks")
    s.define(8, 0, 0x810, b"worker")
    return s.data()


@vector
def good_define_classes():
    """Every class, and one of a later version."""
    s = Stream()
    s.define(1, 1, 0xC10, b"copy|from:x32:|size:u32:B")
    s.define(2, 2, 0x810, b"load|value:f32:%")
    s.define(3, 3, 0x811, b"link|state:u32:{down,up}")
    s.define(4, 4, 0x812, b"block|id:u32:")
    s.define(5, 4, 0x813, b"block|id:u32:")
    s.define(6, 5, 0x814, b"note|length:u32:B")
    s.define(7, 31, 31, b"network")
    s.define(8, 0, 65535, b"main")
    for kind in range(9, 19):
        s.define(kind, kind - 9, 0x010 + 4 * kind, b"object")
    s.define(19, 255, 0, b"")
    return s.data()


@vector
def good_define_zero():
    """A definition whose first argument is zero: class 0 of a later version, category 0, id 0."""
    s = Stream()
    s.define(0, 0, 0, b"zero")
    s.define(0, 0, 0, b"")
    s.event(0x010)
    return s.data()


@vector
def good_define_empty():
    """Nothing but a definition without text."""
    s = Stream()
    s.define(1, 0, 0x010, b"")
    return s.data()


@vector
def good_dropped():
    """The examples: three events dropped, pending when the anchor was written."""
    s = Stream(time=9 << 32 | 0x812345)
    s.event(0x810, 1)
    s.fill(54)
    s.dropped = 3
    s.loss(0xC05, 3, 9 << 32 | 0x811111, 0x234)
    s.event(0x010)
    return s.data()


@vector
def good_dropped_twice():
    """Losses in two blocks: each anchor has the total at its time; the last is still pending at the end."""
    s = Stream()
    s.event(0x010)
    s.loss(0xC05, 2, START, 0)
    s.dropped = 2
    s.fill(48)
    s.event(0x010)
    s.dropped = 7
    s.loss(0xC05, 5, START, MASK)
    s.fill(51)
    s.event(0x011)
    s.dropped = 8
    s.event(0x010)
    return s.data()


@vector
def good_suppressed():
    """Both kinds of loss before one event; one without its LOSS_TIME; one whose LOSS_TIME is void."""
    s = Stream()
    s.loss(0xC05, 1, START - 9, 0)
    s.loss(0xC06, 4, START - 8, 7)
    s.event(0x010)
    s.put("SUPPRESSED without LOSS_TIME", 0xC06, 1, 0)
    s.put("LOSS_TIME", 0xC04, START, 0)
    s.event(0x010)
    s.put("SUPPRESSED", 0xC06, 1, 0)
    return s.data()


@vector
def good_suppressed_many():
    """Sums beyond 2^31: nothing at the end of the stream is ahead of them."""
    s = Stream()
    s.dropped = 0x7FFFFFFF
    s.loss(0xC05, 0x7FFFFFFF, START, 0)
    s.loss(0xC06, 0x7FFFFFFF, START, 0)
    s.loss(0xC06, 2, START, 0)
    s.event(0x010)
    return s.data()


@vector
def good_loss_over_border():
    """LOSS_TIME, PAD, PAD, anchor, DROPPED; then an anchor alone between the two."""
    s = Stream()
    s.fill(51)
    s.event(0x810, 1)
    s.dropped = 1
    s.loss(0xC05, 1, START - 5, 0)
    s.fill(51)
    s.event(0x011)
    s.loss(0xC06, 2, START - 4, 1)
    s.event(0x010)
    return s.data()


@vector
def good_clock():
    """25 MHz, and a rate of more than 32 bits."""
    s = Stream()
    s.put("CLOCK 25 MHz", 0xC07, 25000000, 0)
    s.put("CLOCK", 0xC07, 1, 1)
    return s.data()


@vector
def good_self_cost():
    """What an event with 0, 1 and 2 argument words costs."""
    s = Stream()
    s.put("SELF_COST", 0xC08, 0, 1400)
    s.put("SELF_COST", 0xC08, 1, 1566)
    s.put("SELF_COST", 0xC08, 2, 1800)
    return s.data()


@vector
def good_end():
    """The recording ended in order, with its totals."""
    s = Stream()
    s.event(0x010)
    s.loss(0xC05, 3, START, 9)
    s.put("END", 0xC09, 3, 0)
    return s.data()


@vector
def good_end_alone():
    """An END whose totals are all that is known (the reader came late)."""
    s = Stream(index=64)
    s.dropped = 2
    s.event(0x010)
    s.put("END", 0xC09, 5, 6)
    return s.data()


@vector
def good_events():
    """First and last id of the program's events, without definitions; stamps up to the largest."""
    s = Stream(time=0xFFFFE)
    s.event(0x010)
    s.event(0x7FF)
    s.event(0x810, 0)
    s.event(0xBFF, 0xFFF7A6E5)
    s.event(0xC10, 0x89ABCDEF, 0)
    s.event(0xFEF, 1, MASK, after=1)
    return s.data()


@vector
def good_reserved():
    """Reserved built-in ids are stepped over and are no events."""
    s = Stream()
    s.put("reserved", 0x008)
    s.put("reserved", 0x00F)
    s.put("reserved", 0x803, 1)
    s.put("reserved", 0x80F, 2)
    s.put("reserved", 0xC0B, 3, 4)
    s.put("reserved", 0xC0F, 5, 6)
    s.put("reserved", 0xFF0, 7, 8)
    s.put("reserved", 0xFFE, 9, 10)
    s.event(0x010)
    return s.data()


# ------------------------------------------------------------------ good: blocks and streams


@vector
def good_anchor():
    """The example of an anchor: 256 words, stream 1, nothing else."""
    s = Stream(block=256, time=9 << 32 | 0x812345)
    s.anchor()
    return s.data()


@vector
def good_anchor_largest():
    """The largest time, session and stream number that an anchor can state."""
    s = Stream(session=65535, number=65535, time=(1 << 56) - 1)
    s.event(0x010)
    return s.data()


@vector
def good_block_128():
    """Three blocks of 128 words."""
    return three_blocks(block=128).data()


@vector
def good_block_256():
    """Three blocks of 256 words, big-endian, stream 65535."""
    return three_blocks(block=256, order=">", number=65535).data()


@vector
def good_big_endian():
    """Big-endian words; the bytes of a text stand in the words' low bits first all the same."""
    s = Stream(order=">")
    s.define(6, 0, 0x811, b"note|length:u32:B")
    s.string(0x811, b"hello")
    s.event(0x010, after=1 << 20)
    return s.data()


@vector
def good_mid_block_start():
    """A raw stream that begins inside a block, and not at a word: read from its first anchor."""
    s = three_blocks()
    return part(s.data(), 131)


@vector
def good_mid_block_start_big_endian():
    """The same with big-endian words."""
    s = three_blocks(order=">")
    return part(s.data(), 130)


@vector
def good_late_attach():
    """The first block has index 128: a gap from 0. The dropped total in it counts."""
    s = Stream(index=128)
    s.dropped = 4
    s.event(0x010)
    return s.data()


@vector
def good_late_attach_index_wrap():
    """First index 2^32 - 64: any jump is a gap in the first block; the index runs over 2^32 behind it."""
    s = Stream(index=(1 << 32) - 64)
    s.fill(57)
    s.event(0x011)
    s.event(0x010)
    return s.data()


@vector
def good_missing_block():
    """One block lost on the path; the losses inside the gap are known from the next total and from END."""
    s = three_blocks()
    s.blocks.pop()
    s.index, s.room = s.index - 64 + s.room, 0
    s.dropped = 6
    s.event(0x010, after=1)
    s.loss(0xC05, 1, START, 0)
    s.put("END", 0xC09, 7, 0)
    return s.data(0, 2)


@vector
def good_words_lost_in_block():
    """Whole records lost inside a block: a valid anchor in the middle of a block at a record border."""
    s = Stream()
    s.fill(57)
    s.event(0x011)
    s.event(0x810, 1)
    s.event(0x810, 2)
    s.fill(51)
    s.event(0x011)
    s.event(0x810, 3)
    s.event(0x810, 4)
    block = s.blocks[1]
    return s.data(0) + block[:3] + block[-1:] + s.data(2)


@vector
def good_gap_voids_loss_time():
    """A gap between blocks makes a LOSS_TIME void."""
    s = Stream()
    s.fill(54)
    s.event(0x011)
    s.put("LOSS_TIME", 0xC04, 77, 0)
    s.fill(57)
    s.event(0x012)
    s.put("DROPPED", 0xC05, 2, 1)
    s.event(0x010)
    return s.data(0, 2)


@vector
def good_session_change():
    """The machine was restarted in the middle of a block: a new stream begins."""
    s, t = three_blocks(), Stream(session=SESSION + 1, time=5)
    t.event(0x020)
    return s.data(0) + s.blocks[1][:2] + t.data()


@vector
def good_two_streams():
    """Blocks of two streams in one input, with different block sizes: told apart by their anchors."""
    s, t = three_blocks(), three_blocks(number=2, block=128)
    return s.data(0) + t.data(0) + s.data(1) + t.data(1)


@vector
def good_end_of_block():
    """The data end with a full block."""
    s = Stream()
    s.fill(57)
    s.event(0x011)
    return s.data()


@vector
def good_anchor_behind_noise():
    """29 bytes that are no anchor, then one."""
    s = Stream()
    s.anchor()
    return [(bytes(range(1, 30)), "no anchor")] + s.data()


# ------------------------------------------------------------------ good: the file


@vector
def good_tare_all_chunks():
    """One chunk of each type; the ring as its reader left it, all read."""
    s = one_block()
    s.put("END", 0xC09, 0, 0)
    return file_header() + text_chunk(1, b'{"command":["./app"]}') + chunk(2, region()) + chunk(3, ring()) + \
        chunk(5, [(struct.pack("<4Q", START, 1000, 1700000000000000000, 50), "clock snapshot")]) + \
        names_chunk([(9, 0, 0x010, b"main")]) + stream_chunk(s.data()) + \
        chunk(3, ring(write=292, read=292, state=3)) + text_chunk(6, b'{"status":0}')


@vector
def good_tare_unknown_chunks():
    """Types of a later version are stepped over."""
    s = one_block()
    return file_header() + chunk(8, [(b"later", "unknown")]) + stream_chunk(s.data()) + \
        chunk(65535, []) + chunk(0, [(b"Tchk", "unknown")])


@vector
def good_tare_streams():
    """Two streams in turn; the second has larger blocks and appears first."""
    s, t = three_blocks(), three_blocks(number=2, block=128)
    return file_header() + stream_chunk(t.data(0), number=2, piece=512) + stream_chunk(s.data(0)) + \
        stream_chunk(t.data(1, 2), 128, number=2, piece=512) + stream_chunk(s.data(1, 2), 64)


@vector
def good_tare_definitions_apart():
    """The string events are in one stream, their definition in another that comes later in the file."""
    s, t = Stream(), Stream(number=2)
    s.string(0x811, b"hello")
    t.define(6, 0, 0x811, b"note")
    return file_header() + stream_chunk(s.data()) + stream_chunk(t.data(), number=2)


@vector
def good_tare_split():
    """Chunks end inside blocks, inside a record and inside an anchor."""
    s = three_blocks()
    words, result, start = s.data(), file_header(), 0
    for end in 3, 64, 66, 71, 99, 150:
        result += stream_chunk(part(words, 4 * start, 4 * end), start)
        start = end
    return result + stream_chunk([], start) + stream_chunk(part(words, 600), 150)


@vector
def good_tare_position_jump():
    """A reader that lost words between two chunks, in the middle of a block: a hole."""
    s = three_blocks()
    words = s.data()
    return file_header() + stream_chunk(part(words, 0, 4 * 72)) + stream_chunk(part(words, 4 * 80), 80)


@vector
def good_tare_late():
    """Late attach: positions start behind 0 and inside a block."""
    s = three_blocks()
    return file_header() + stream_chunk(part(s.data(), 4 * 50), 50)


@vector
def good_tare_pending():
    """The last ring says what the stream could not: pending losses and a torn event."""
    s = one_block()
    s.dropped = 2
    s.loss(0xC05, 2, START, 3)
    lost = ring(dropped=7, suppressed=4, pending_dropped=(5, START, 0, START + 9, 0),
                pending_suppressed=(4, 0, 1, 0, 3), torn=True)
    return file_header() + chunk(3, ring(dropped=1, torn=True)) + stream_chunk(s.data()) + chunk(3, lost)


@vector
def good_tare_killed_after_storing():
    """The offset has moved since `writing` was set: the event is stored, not torn."""
    s = one_block()
    size = len(joined(s.data()))
    return file_header() + stream_chunk(s.data()) + chunk(3, ring(size=1024, write=size, writing=size - 8 + 1))


@vector
def good_tare_killed_after_counting():
    """The total has grown since `writing` was set: the event is dropped, not torn."""
    lost = ring(write=256, writing=257, dropped=3, dropped_before=2, pending_dropped=(3, START, 0, START + 1, 0))
    return file_header() + stream_chunk(one_block().data()) + chunk(3, lost)


@vector
def good_tare_ring_not_last():
    """A ring that is followed by more of its stream: its pending losses and `writing` are old, its totals stand."""
    s = one_block()
    old = ring(dropped=7, pending_dropped=(5, START, 0, START, 0), torn=True)
    return file_header() + chunk(3, old) + stream_chunk(s.data())


@vector
def good_tare_ring_large_totals():
    """The totals of each ring are compared with the sums, also beyond 2^31: 0x80000001 is ahead of 0x7FFFFFFF."""
    s = Stream()
    s.loss(0xC06, 0x7FFFFFFF, START, 0)
    s.event(0x010)
    return file_header() + stream_chunk(s.data()) + chunk(3, ring(suppressed=0x80000001)) + \
        chunk(3, ring(suppressed=0x7FFFFFF0))


@vector
def good_tare_ring_alone():
    """A stream that is known from its ring alone."""
    return file_header() + chunk(3, ring(number=3, block=256, suppressed=2))


@vector
def good_tare_big_endian():
    """Stream and ring of a big-endian machine; the file's own headers are little-endian."""
    s = one_block(order=">")
    return file_header() + stream_chunk(s.data()) + chunk(3, ring(order=">", dropped=1, torn=True))


@vector
def good_tare_sessions():
    """Two sessions with the same stream number."""
    s, t = one_block(), one_block(session=7, time=1)
    return file_header() + stream_chunk(s.data()) + stream_chunk(t.data(), session=7)


@vector
def good_tare_no_stream():
    """A recording of a program that recorded nothing."""
    return file_header() + text_chunk(1, b"{}") + text_chunk(6, b"{}")


@vector
def good_tare_header_alone():
    """The file header and nothing else."""
    return file_header()


@vector
def good_tare_wrong_magic():
    """The first bytes are damaged; a right chunk header stands where one must."""
    return damaged(file_header() + stream_chunk(one_block().data()), 5, 0)


# ------------------------------------------------------------------ good: memory


@vector
def good_image():
    """A target's memory: the unread words wrap at the end of the buffer; a loss is pending."""
    return memory(dropped=3, pending_dropped=(3, START, 0, START + 1, 0), torn=True)


@vector
def good_image_big_endian():
    """The same on a big-endian machine, its ring at another address."""
    return memory(order=">", self_at=0x1040, buffer=0x1150)


@vector
def good_image_two_rings():
    """A closed ring of definitions that was never read, a free one and an empty one."""
    s = Stream(number=9)
    s.define(8, 0, 1, b"main")
    s.define(8, 0, 2, b"worker")
    words = joined(s.data())
    return ring(number=9, kind=1, state=3, id=b"TARE ring", write=len(words), self_at=0, buffer=720) + \
        ring(number=10, kind=0, state=0, write=len(words), self_at=240, buffer=720) + \
        ring(number=11, kind=0, state=2, write=8, read=8, self_at=480, buffer=720) + \
        [(words.ljust(512, b"\0"), "buffer")]
