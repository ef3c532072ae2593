"""Reads a Perfetto trace with nothing but the rules of the wire format and the numbers of the public
.proto files, and finds what is wrong with it."""
import struct

SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        assert shift < 70, "a number of more than ten bytes"


def fields(data):
    """Number of the field to its values in order: integers or bytes."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field that reaches out of its message"
        else:
            raise AssertionError("wire type %d" % wire)
        found.setdefault(number, []).append(value)
    return found


def one(message, number, default=None):
    values = message.get(number, [default])
    assert len(values) == 1, "field %d stands %d times" % (number, len(values))
    return values[0]


def text(value):
    return None if value is None else value.decode("utf-8")


class Track:
    def __init__(self, uuid, descriptor):
        self.uuid, self.parent = uuid, one(descriptor, 5)
        self.name = text(one(descriptor, 2))
        self.process = self.thread = self.unit = None
        self.kind = "child"
        if 3 in descriptor:
            message = fields(one(descriptor, 3))
            self.kind, self.process = "process", one(message, 1)
            self.name = text(one(message, 6))
            self.command = [text(word) for word in message.get(2, [])]
        if 4 in descriptor:
            message = fields(one(descriptor, 4))
            self.kind, self.process, self.thread = "thread", one(message, 1), one(message, 2)
            self.name = text(one(message, 5))
        if 8 in descriptor:
            message = fields(one(descriptor, 8))
            self.kind, self.unit = "counter", (one(message, 3), text(one(message, 6)))
        self.open, self.last = [], None


class Trace:
    """tracks by uuid; slices, instants and counters in order of the file: dictionaries."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants, self.counters = {}, [], [], []
        self.snapshots, self.interned = [], {1: {}, 2: {}, 3: {}, 29: {}}
        for packet in fields(data).get(1, []):
            self.packet(fields(packet))
        for track in self.tracks.values():
            assert not track.open, "%s: slices without an end" % track.name
            assert track.parent is None or track.parent in self.tracks, "no parent"

    def packet(self, packet):
        assert one(packet, 10) == 1
        for number, entries in fields(one(packet, 12, b"")).items():
            for entry in map(fields, entries):
                assert one(entry, 1) not in self.interned[number]
                self.interned[number][one(entry, 1)] = text(one(entry, 2))
        if 6 in packet:
            snapshot = fields(one(packet, 6))
            assert one(snapshot, 2) == 3
            self.snapshots.append({one(clock, 1): one(clock, 2)
                                   for clock in map(fields, snapshot[1])})
        if 60 in packet:
            descriptor = fields(one(packet, 60))
            uuid = one(descriptor, 1)
            assert uuid != 0 and uuid not in self.tracks
            self.tracks[uuid] = Track(uuid, descriptor)
        if 11 in packet:
            assert one(packet, 13) == 2, "names are referred to by number"
            self.event(fields(one(packet, 11)), one(packet, 8))

    def event(self, event, time):
        track = self.tracks[one(event, 11)]
        assert track.last is None or time >= track.last, "%s: time falls" % track.name
        track.last = time
        found = {"track": track, "time": time, "notes": self.notes(event)}
        if 10 in event:
            found["name"] = self.interned[2][one(event, 10)]
        found["categories"] = [self.interned[1][number] for number in event.get(3, [])]
        kind = one(event, 9)
        assert (kind == COUNTER) == (track.kind == "counter")
        if kind == SLICE_BEGIN:
            found["depth"] = len(track.open)
            track.open.append(found)
            self.slices.append(found)
        elif kind == SLICE_END:
            begun = track.open.pop()  # nothing is open: an end too many
            begun["end"] = time
            begun["notes"].update(found["notes"])
        elif kind == INSTANT:
            self.instants.append(found)
        else:
            found["value"] = (struct.unpack("<d", one(event, 44))[0] if 44 in event else
                              one(event, 30) - (one(event, 30) >> 63 << 64))
            self.counters.append(found)

    def notes(self, event):
        """Annotations: name to value."""
        found = {}
        for note in map(fields, event.get(4, [])):
            name = self.interned[3][one(note, 1)]
            assert name not in found and len(note) == 2
            if 6 in note:
                value = text(one(note, 6))
            elif 17 in note:
                value = self.interned[29][one(note, 17)]
            elif 5 in note:
                value = struct.unpack("<d", one(note, 5))[0]
            elif 4 in note:
                value = one(note, 4) - (one(note, 4) >> 63 << 64)
            elif 2 in note:
                value = bool(one(note, 2))
            elif 7 in note:
                value = hex(one(note, 7))
            else:
                value = one(note, 3)
            found[name] = value
        return found
