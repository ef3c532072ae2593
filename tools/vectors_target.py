"""The vectors of a target with a kernel: its objects, contexts of texts, names tables, memory."""
import struct

from vector_encoder import (MASK, START, Stream, chunk, damaged, file_header, joined, many_blocks, memory, names_chunk,
                            names_table, one_block, part, ring, stream_chunk, target, three_blocks, vector)

EVENT, STRING, TASK, QUEUE, TIMER, INTERRUPT = 1, 6, 9, 10, 17, 18

# ------------------------------------------------------------------ objects of a kernel


@vector
def good_kernel_events():
    """All events of a task and a queue, and those of objects without a number of their own: all are events."""
    s = Stream()
    s.define(TASK, 0, 0x010, b"main")
    s.define(QUEUE, 0, 0x012, b"blocks")
    for id in 0x010, 0x011, 0x012, 0x013, 0x014, 0x015:
        s.event(id, after=1)
    for id in range(0x002, 0x008):
        s.event(id, after=1)
    return s.data()


@vector
def good_kernel_kinds():
    """KERNEL records of every kind and of later ones; first the example."""
    s = Stream()
    s.created(TASK, 0, 0x010, 3)
    for kind in range(2, 24):
        s.kernel(kind, 0, 0x010, kind)
    s.kernel(255, 255, 0xFFFF, MASK)
    s.kernel(0, 0, 0, 0)
    return s.data()


@vector
def good_kernel_alloc():
    """ALLOCATED and FREED: the size stands where the generation and the id do; size 0x11009 is no id 0x1009."""
    s = Stream()
    s.put("KERNEL ALLOCATED, 69641 bytes", 0xC0A, 19 << 24 | 0x011009, 0x20001000)
    s.put("KERNEL FREED, 69641 bytes", 0xC0A, 20 << 24 | 0x011009, 0x20001000)
    return s.data()


@vector
def good_tick():
    """The example; then the largest count. A TICK is no event, and void is a LOSS_TIME before it."""
    s = Stream()
    s.put("TICK 1000", 0x802, 1000)
    s.time += 1 << 20
    s.put("TICK", 0x802, MASK)
    s.put("LOSS_TIME", 0xC04, 77, 0)
    s.put("TICK 0", 0x802, 0)
    s.put("SUPPRESSED", 0xC06, 1, 0)
    return s.data()


@vector
def good_generations():
    """An id is given to a second task; the definitions of both come late, the first one once more."""
    s = Stream()
    s.created(TASK, 255, 0x010, 1)
    s.event(0x010)
    s.kernel(2, 255, 0x010, 0)
    s.created(TASK, 0, 0x010, 2)
    s.event(0x010)
    s.define(TASK, 255, 0x010, b"first")
    s.define(TASK, 0, 0x010, b"second")
    s.define(TASK, 255, 0x010, b"first")
    return s.data()


# ------------------------------------------------------------------ contexts of texts


def tasks(s, *ids):
    for id in ids:
        s.define(TASK, 0, id, b"t%X" % id)


def with_classes(*ids):
    """A stream in which 0x811 is a string event, 0x020 and 0x022 are interrupts, and `ids` are tasks."""
    s = Stream()
    s.define(STRING, 0, 0x811, b"note")
    s.define(INTERRUPT, 0, 0x020, b"uart")
    s.define(INTERRUPT, 0, 0x022, b"tick")
    tasks(s, *ids)
    return s


@vector
def good_text_tasks():
    """Two tasks whose texts are interleaved; what may run (0x013) changes no context."""
    s = with_classes(0x010, 0x012)
    s.event(0x010)
    s.begin_string(12)
    s.text_records(b"task one")
    s.event(0x013, after=1)
    s.event(0x012)
    s.begin_string(9)
    s.text_records(b"task two")
    s.event(0x010, after=1)
    s.text_records(b" end")
    s.event(0x012, after=1)
    s.text_records(b"!")
    return s.data()


@vector
def good_text_task_switched_in_again():
    """The same task once more, another and back: its text goes on, inside it another one nests."""
    s = with_classes(0x010, 0x012)
    s.event(0x010)
    s.begin_string(10)
    s.event(0x010)
    s.text_records(b"12345678")
    s.event(0x012)
    s.event(0x010)
    s.string(0x811, b"inner")
    s.text_records(b"90")
    return s.data()


@vector
def good_text_before_first_task():
    """Where no task has been switched in is a context as well; the interrupt in it is another."""
    s = with_classes(0x010)
    s.begin_string(10)
    s.text_records(b"start-up")
    s.event(0x020)
    s.begin_string(9)
    s.event(0x021)
    s.text_records(b"!!")
    s.event(0x010)
    s.string(0x811, b"task")
    s.event(0x022)
    s.text_records(b"interrup")
    s.text_records(b"t")
    return s.data()


@vector
def good_text_interrupts():
    """An interrupt within a task's text, and one of higher priority within the interrupt's."""
    s = with_classes(0x010)
    s.event(0x010)
    s.begin_string(12)
    s.text_records(b"the task")
    s.event(0x020)
    s.begin_string(11)
    s.text_records(b"the inte")
    s.event(0x022)
    s.string(0x811, b"the tick")
    s.event(0x023)
    s.text_records(b"rpt")
    s.event(0x021)
    s.text_records(b" end")
    return s.data()


@vector
def good_text_interrupts_of_one_depth():
    """An interrupt leaves its text open; another one of the same depth, over another task, goes on with it."""
    s = with_classes(0x010, 0x012)
    s.event(0x010)
    s.begin_string(2)
    s.event(0x020)
    s.begin_string(9)
    s.text_records(b"both int")
    s.event(0x021)
    s.event(0x012)
    s.event(0x022)
    s.text_records(b"s")
    s.event(0x023)
    s.event(0x010)
    s.text_records(b"ok")
    return s.data()


@vector
def good_text_switch_in_interrupt():
    """Another task is switched in while an interrupt is entered: its context counts once that is left."""
    s = with_classes(0x010, 0x012)
    s.event(0x010)
    s.begin_string(3)
    s.event(0x020)
    s.begin_string(9)
    s.event(0x012)
    s.text_records(b"interrup")
    s.text_records(b"t")
    s.event(0x021)
    s.string(0x811, b"two")
    s.event(0x010)
    s.text_records(b"one")
    return s.data()


@vector
def good_text_left_only():
    """Interrupts that are left without having been entered (the reader came late) change nothing."""
    s = with_classes(0x010)
    s.event(0x010)
    s.begin_string(9)
    s.event(0x021)
    s.event(0x023)
    s.event(0x020)
    s.string(0x811, b"in")
    s.event(0x021)
    s.text_records(b"the task")
    s.text_records(b"!")
    return s.data()


@vector
def good_text_other_task():
    """Tasks without a number of their own are one task more."""
    s = with_classes(0x010)
    s.event(0x002)
    s.begin_string(5)
    s.event(0x003)
    s.event(0x010)
    s.string(0x811, b"main")
    s.event(0x002)
    s.text_records(b"other")
    return s.data()


@vector
def good_text_timer():
    """The function of a timer is no context: its text nests in that of the task."""
    s = with_classes(0x010)
    s.define(TIMER, 0, 0x024, b"blink")
    s.event(0x010)
    s.begin_string(5)
    s.event(0x024)
    s.string(0x811, b"timer")
    s.event(0x025)
    s.text_records(b"outer")
    return s.data()


@vector
def good_text_class_by_created():
    """No definition says that 0x010 and 0x012 are tasks and 0x020 an interrupt, but CREATED does, at the end."""
    s = Stream()
    s.define(STRING, 0, 0x811, b"note")
    s.event(0x010)
    s.begin_string(3)
    s.event(0x012)
    s.begin_string(3)
    s.event(0x020)
    s.begin_string(2)
    s.event(0x021)
    s.event(0x010)
    s.text_records(b"one")
    s.event(0x012)
    s.text_records(b"two")
    s.event(0x020)
    s.text_records(b"in")
    s.created(TASK, 0, 0x010)
    s.created(TASK, 0, 0x012)
    s.created(INTERRUPT, 0, 0x020)
    s.created(STRING, 0, 0x812)
    s.event(0x812, 5)
    return s.data()


@vector
def good_text_class_ranges():
    """Tasks and interrupts with ids that events of kernel objects cannot have: no context changes."""
    s = Stream()
    s.define(STRING, 0, 0x811, b"note")
    tasks(s, 0x008, 0x001, 0x810, 0xC10, 0xFFFF)
    s.define(INTERRUPT, 0, 0x00F, b"no")
    s.begin_string(2)
    s.put("reserved", 0x008)
    s.put("UNNAMED0", 0x001)
    s.event(0x810, 0)
    s.event(0xC10, 0, 0)
    s.put("reserved", 0x00F)
    s.text_records(b"ok")
    s.put("reserved", 0x00F)
    s.begin_string(3)
    s.event(0x010)
    s.text_records(b"yes")
    return s.data()


@vector
def good_text_two_classes():
    """An id that is task and interrupt by mistake is the task; one that enters and leaves by mistake enters."""
    s = Stream()
    s.define(STRING, 0, 0x811, b"note")
    tasks(s, 0x010, 0x012)
    for id in 0x010, 0x020, 0x021:
        s.define(INTERRUPT, 0, id, b"both")
    s.event(0x012)
    s.begin_string(3)
    s.event(0x010)
    s.begin_string(3)
    s.event(0x012)
    s.text_records(b"012")
    s.event(0x011)
    s.event(0x010)
    s.text_records(b"010")
    s.event(0x020)
    s.begin_string(5)
    s.event(0x021)
    s.string(0x811, b"depth")
    s.event(0x022)
    s.text_records(b"20-22")
    return s.data()


@vector
def good_text_of_streams():
    """Contexts belong to their stream: a task that runs on two cores has one in each."""
    s, t = with_classes(0x010), Stream(number=2)
    s.event(0x010)
    s.begin_string(3)
    s.fill(90)
    s.text_records(b"one")
    t.event(0x010)
    t.begin_string(3)
    t.text_records(b"two")
    return s.data(0) + s.data(1) + t.data() + s.data(*range(2, len(s.blocks)))


@vector
def good_text_loss_forgets_context():
    """Behind a loss no task counts as switched in and no interrupt as entered: 'left' changes nothing."""
    s = with_classes(0x010)
    for id in 0xC05, 0xC06:
        s.event(0x010)
        s.event(0x020)
        s.event(0x022)
        s.loss(id, 1, START, 0)
        s.begin_string(4)
        s.event(0x021)
        s.text_records(b"none")
    return s.data()


@vector
def good_text_gap_forgets_context():
    """A lost block, and with it the end of an interrupt."""
    s = with_classes(0x010)
    s.event(0x010)
    s.event(0x020)
    while len(s.blocks) < 3:
        s.event(0x017)
    s.begin_string(4)
    s.event(0x021)
    s.text_records(b"none")
    return s.data(0, 2)


@vector
def good_text_contexts():
    """64 contexts with an open text each, a second one in the last; each is completed."""
    s = Stream()
    s.define(STRING, 0, 0x811, b"note")
    s.define(INTERRUPT, 0, 0x020, b"uart")
    ids = range(0x100, 0x100 + 2 * 63, 2)
    tasks(s, *ids)
    for id in ids:
        s.event(id)
        s.begin_string(1)
    s.event(0x020)
    s.begin_string(4)
    s.begin_string(5)
    s.text_records(b"inner")
    s.text_records(b"last")
    s.event(0x021)
    for id in ids:
        s.event(id)
        s.text_records(b"x")
    return s.data()


@vector
def bad_text_ninth_in_context():
    """A ninth text of a task cuts its eight; those of other contexts stand."""
    s = with_classes(0x010, 0x012)
    s.event(0x010)
    s.begin_string(9)
    s.begin_string(1)
    s.event(0x012)
    for i in range(8):
        s.begin_string(9)
    s.begin_string(5)
    s.text_records(b"ninth")
    s.text_records(b"orphan")
    s.event(0x010)
    s.text_records(b"i")
    s.text_records(b"of 0x010")
    s.text_records(b"!")
    return s.data()


@vector
def bad_text_ninth_empty():
    """A ninth text without a byte cuts the eight as well; one that is too long cuts none."""
    s = with_classes(0x010)
    s.event(0x010)
    for i in range(8):
        s.begin_string(9)
    s.begin_string(1024)
    s.begin_string(0)
    s.text_records(b"orphan")
    return s.data()


@vector
def bad_text_contexts_cut():
    """A text in a sixty-fifth context cuts all, the one opened last first; one that is too long cuts none."""
    s = Stream()
    s.define(STRING, 0, 0x811, b"note")
    ids = range(0x100, 0x100 + 2 * 65, 2)
    tasks(s, *ids)
    for id in ids[:64]:
        s.event(id)
        s.begin_string(1)
    s.event(ids[0])
    s.begin_string(1)
    s.event(ids[64])
    s.begin_string(1024)
    s.begin_string(4)
    s.text_records(b"65th")
    s.event(ids[1])
    s.text_records(b"orphan")
    return s.data()


@vector
def bad_text_created():
    """The creation of a task cuts the texts of its id, not those of other contexts; that of a queue, none."""
    s = with_classes(0x010, 0x012)
    s.event(0x012)
    s.begin_string(3)
    s.event(0x010)
    s.begin_string(9)
    s.begin_string(9)
    s.event(0x012)
    s.created(QUEUE, 1, 0x010)
    s.created(TASK, 1, 0x010)
    s.text_records(b"two")
    s.event(0x010)
    s.text_records(b"orphan")
    s.event(0x002)
    s.begin_string(9)
    s.created(TASK, 0, 0x002)
    return s.data()


@vector
def bad_text_of_another_context():
    """TEXT records of a task that opened none, while others have open texts."""
    s = with_classes(0x010, 0x012)
    s.begin_string(1)
    s.event(0x010)
    s.begin_string(3)
    s.event(0x012)
    s.text_records(b"orphan")
    s.event(0x020)
    s.text_records(b"orphan")
    s.event(0x021)
    s.event(0x010)
    s.text_records(b"one")
    return s.data()


@vector
def bad_text_cut_order():
    """The data end with texts in three contexts: the one opened last is cut first."""
    s = with_classes(0x010, 0x012)
    s.event(0x010)
    s.begin_string(9)
    s.event(0x012)
    s.begin_string(9)
    s.event(0x020)
    s.begin_string(9)
    s.event(0x021)
    s.event(0x010)
    s.put("DEFINE, 9 bytes", 0xC03, EVENT << 24 | 0x030, 9)
    s.text_records(b"one byte")
    return s.data()


@vector
def bad_text_behind_loss():
    """Behind a loss a text is in no task's context until a task is switched in."""
    s = with_classes(0x010)
    s.event(0x010)
    s.loss(0xC05, 1, START, 0)
    s.begin_string(9)
    s.event(0x010)
    s.text_records(b"orphan")
    return s.data()


# ------------------------------------------------------------------ names in a file


NAMES = ((TASK, 0, 0x010, b"main"), None, (QUEUE, 255, 0x012, b"blocks to do"), (INTERRUPT, 1, 0x020, b""),
         (255, 2, 0xFFFF, b"\"\xC3\xA9\0behind"))


@vector
def good_tare_names():
    """A table between two chunks of its stream: a free entry, a name that fills its entry, none, bytes behind
    a zero. Later the table once more, changed."""
    s = three_blocks()
    return file_header() + stream_chunk(s.data(0)) + names_chunk(NAMES) + stream_chunk(s.data(1), 64) + \
        names_chunk([(TASK, 1, 0x010, b"second")], 32) + stream_chunk(s.data(2), 128)


@vector
def good_tare_names_big_endian():
    """The table of a big-endian machine: words in its order, names as they are."""
    return file_header() + stream_chunk(one_block(order=">").data()) + names_chunk(NAMES, order=">")


@vector
def good_tare_names_first():
    """Tables of streams that have not appeared yet belong to none; a stream of another session neither."""
    return file_header() + names_chunk(NAMES[:1], session=7) + names_chunk(NAMES[:1]) + \
        stream_chunk(one_block().data()) + names_chunk(NAMES[2:3]) + names_chunk(NAMES[2:3], number=2)


@vector
def good_tare_names_alone():
    """A table without its stream."""
    return file_header() + names_chunk(NAMES[:1])


@vector
def good_tare_names_sizes():
    """The smallest and the largest entry, and a table without entries."""
    return file_header() + stream_chunk(one_block().data()) + \
        names_chunk([(TASK, 0, 0x010, b"four"), (TASK, 0, 0x012, b"one")], 8) + \
        names_chunk([(TASK, 0, 0x010, b"n" * 1024)], 1028) + names_chunk([]) + names_chunk([None, None])


@vector
def good_tare_names_give_classes():
    """The classes that a table gives hold for what stands before it: a string event, tasks, an interrupt. It
    holds for its session only."""
    def stream(**form):
        s = Stream(**form)
        s.event(0x010)
        s.begin_string(3)
        s.event(0x020)
        s.event(0x012)
        s.string(0x811, b"in")
        s.event(0x021)
        s.string(0x811, b"two")
        s.event(0x010)
        s.text_records(b"one")
        return s
    entries = [(STRING, 0, 0x811, b"note"), (TASK, 0, 0x010, b"a"), (TASK, 0, 0x012, b"b"),
               (INTERRUPT, 0, 0x020, b"uart")]
    t = Stream(session=7)
    t.event(0x811, 5)
    return file_header() + stream_chunk(stream().data()) + stream_chunk(t.data(), session=7) + \
        names_chunk(entries, 12)


@vector
def bad_tare_names_unsound():
    """Entries of 0, 4, 10 and 1032 bytes, a part of an entry too many, no size, a damaged name."""
    result = file_header() + stream_chunk(one_block().data())
    for size in 0, 4, 10, 1032:
        entries = b"\1\0\0\7x\0\0\0" * (129 if size == 1032 else 5)
        result += chunk(7, [(struct.pack("<I", size), "bytes of an entry"), (entries, "entries")], number=1)
    table = [(struct.pack("<I", 16), "bytes of an entry")] + names_table(NAMES[:1], 16)
    return result + chunk(7, table + [(b"part", "part of an entry")], number=1) + \
        chunk(7, [(b"\x10\0\0", "part of the size")], number=1) + damaged(names_chunk(NAMES[:1]), 56, mask=1)


@vector
def bad_tare_names_cut():
    """Cut in a NAMES chunk, behind a whole entry: it gives nothing."""
    whole = file_header() + stream_chunk(one_block().data()) + names_chunk(NAMES[:3])
    return part(whole, 0, len(joined(whole)) - 16)


# ------------------------------------------------------------------ memory of a target


def overwritten(count, extra, blocks=4, **fields):
    """Policy 1: `count` whole blocks were written, and of the next one an anchor and `extra` events."""
    s = many_blocks(count)
    for n in range(extra):
        s.event(0x016, after=1)
    return target(s, blocks, id=b"TARE ring", policy=1, read=0xFFFFFFF3, **fields)


@vector
def good_image_overwrite():
    """The third lap, in its second block: read are the last two blocks of the lap before and what there is of
    this one; the rest of the second block is passed over. The read offset means nothing."""
    return overwritten(9, 3)


@vector
def good_image_overwrite_first_lap():
    """Nothing stands behind the write offset yet, though older words of the memory look like blocks."""
    s = many_blocks(2)
    s.event(0x016)
    old = many_blocks(4, number=2)
    words = joined(s.data()) + joined(old.data())[len(joined(s.data())):]
    return ring(id=b"TARE ring", policy=1, self_at=0, buffer=240, size=1024, write=len(joined(s.data()))) + \
        [(words, "buffer")]


@vector
def good_image_overwrite_border():
    """The write offset is a border: the block behind it is not read, for its anchor may be half written."""
    return overwritten(6, 0)


@vector
def good_image_overwrite_begin():
    """The write offset is 0: the lap before, but for its first block."""
    return overwritten(8, 0)


@vector
def good_image_overwrite_last_block():
    """The write offset is in the last block: only the present lap."""
    return overwritten(7, 2)


@vector
def good_image_overwrite_losses():
    """Losses, names and a closed ring, big-endian: all as of any other ring."""
    s = many_blocks(9, order=">")
    s.event(0x016)
    return target(s, tail=names_table(NAMES, 20, ">"), order=">", id=b"TARE ring", policy=1, state=3, dropped=3,
                  pending_dropped=(3, START, 0, START + 1, 0), names=240 + 1024, name_count=5, name_bytes=20)


@vector
def good_image_names():
    """A names table; it stands before what the unread words give."""
    s = one_block()
    return target(s, 2, tail=names_table(NAMES, 16), names=240 + 512, name_count=5, name_bytes=16)


@vector
def good_image_names_none():
    """Address 0: no table, whatever its count and size say; and a table without entries."""
    s, t = one_block(), one_block(number=2)
    second = target(t, 2, number=2, self_at=752, buffer=992, names=4, name_count=0, name_bytes=8)
    return target(s, 2, names=0, name_count=MASK, name_bytes=3) + second


@vector
def bad_image_names_outside():
    """Tables that end outside of the image, begin before it, have entries of 6 bytes: the words are read."""
    result = []
    for number, fields in enumerate(({"names": 752, "name_count": 160}, {"names": 0x0FFFFFFC, "name_count": 1},
                                     {"names": 0x10000000, "name_count": 1, "name_bytes": 6},
                                     {"names": 0x10000000, "name_count": MASK, "name_bytes": 1028}), 1):
        address = 0x10000000 + 752 * (number - 1)
        fields = {"name_bytes": 16, **fields, "self_at": address, "buffer": address + 240}
        if number == 1:
            fields["names"] += 0x10000000
        result += target(one_block(number=number), 2, number=number, **fields)
    return result


@vector
def bad_image_order():
    """Two rings whose buffers lie the other way round, each with bytes before its first anchor; the names of
    the second are outside. What belongs to no stream comes in the order of the rings."""
    first, second = ([(bytes(n), "no anchor")] + one_block(number=number).data() for number, n in ((1, 8), (2, 4)))
    return ring(self_at=0, buffer=992, write=264) + \
        ring(number=2, self_at=240, buffer=480, write=260, names=4000, name_count=1, name_bytes=8) + \
        [(joined(second).ljust(512, b"\xA5"), "buffer of the second"),
         (joined(first).ljust(512, b"\xA5"), "of the first")]


@vector
def bad_image_twice():
    """Two rings of the same stream, each ends within a record: the words of the second do not follow on those of
    the first."""
    words = joined(many_blocks(3).data())
    return ring(self_at=0, buffer=480, write=284) + ring(self_at=240, buffer=992, write=252, lap=128) + \
        [(words[:284].ljust(512, b"\xA5"), "buffer of the first"),
         (words[512:].ljust(512, b"\xA5"), "buffer of the second")]


@vector
def good_image_parts():
    """Three rings of the same stream: the first begins in a block, which is read from its anchor on, and ends at the
    ring's; the second is empty; the words of the third follow on those of the first."""
    words = joined(many_blocks(4).data())
    return ring(self_at=0, buffer=720, write=0, read=300, lap=128) + \
        ring(self_at=240, buffer=720, write=4, read=4) + \
        ring(self_at=480, buffer=1232, size=1280, read=512, write=1024) + \
        [(words[512:540].ljust(256, b"\xA5"), "buffer of the first"), (words[256:512], "its older half"),
         (words.ljust(1280, b"\xA5"), "buffer of the third")]


@vector
def good_image_channel():
    """The up channel lies in another control block: its buffer, size and offsets count, and no event is torn."""
    s = three_blocks()
    words = joined(s.data())
    channel = struct.pack("<6I", 0, 264, 512, len(words) - 512, 256, 0)
    return ring(id=b"TARE ring", self_at=0, buffer=0xFFFFFFFF, size=3, write=7, read=9, writing=249, channel=240,
                lap=128) + \
        [(channel, "channel of another control block"), (words[512:].ljust(256, b"\0"), "buffer: the third block"),
         (words[256:512], "buffer: the second block")]


@vector
def good_image_channel_overwrite():
    """A channel of another control block with policy 1, big-endian."""
    s = many_blocks(2, order=">")
    s.event(0x016)
    words = joined(s.data())
    channel = struct.pack(">6I", 0, 264, 512, len(words) - 512, 1, 0)
    return ring(order=">", id=b"TARE ring", self_at=0, buffer=0, size=0, channel=240, lap=128, policy=1) + \
        [(channel, "channel of another control block"), (words[512:].ljust(256, b"\xA5"), "buffer: the third block"),
         (words[256:512], "buffer: the second block")]


@vector
def bad_image_channel_outside():
    """A channel that lies outside of the image by one byte. exit 4"""
    return target(one_block(), 2, channel=752 - 23)


@vector
def good_image_down_channel():
    """Commands that the target has not read yet are none of the stream's words."""
    commands = b"\xC5\x02\0\xC7\0\0\0\0"
    return target(one_block(), 2, tail=[(commands + b"\xC5\x04\0\xC1", "down channel: stop, half a command")],
                  down=(752, 12, 12, 0))


@vector
def bad_image_address():
    """A ring at the last address that says its buffer is at the first ones: addresses do not run over. exit 4"""
    return target(one_block(), 2, tail=[(bytes(16), "other memory")], self_at=MASK - 3)


@vector
def bad_image_version():
    """Rings of format version 0, the draft, and of a later one. exit 4"""
    return target(one_block(), 2, version=0) + target(one_block(), 2, self_at=752, buffer=992, version=2)


@vector
def bad_image_offsets():
    """Rings with a write offset behind the buffer, a read offset that is no word's, a buffer of two blocks and a
    half, a write offset that is no word's in a ring that is overwritten, a buffer of one block; one that is still
    being claimed. exit 4"""
    s = one_block()
    return target(s, 2, write=512) + target(s, 2, read=2, self_at=752, buffer=992) + \
        target(s, 3, self_at=1504, buffer=1744, size=640) + \
        target(s, 2, self_at=2512, buffer=2752, policy=1, write=254) + \
        target(s, 1, self_at=3264, buffer=3504, write=128) + target(s, 2, self_at=3760, buffer=4000, state=1)
