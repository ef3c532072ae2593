"""vectors_reference.py SOURCE: see vectors_reference.sh."""
import pathlib
import re
import struct
import sys

SOURCE = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(SOURCE / "spec"), str(SOURCE / "tools")]
import gen_tables
import reference_decoder

FAULTS = []


def expect(good, text):
    if not good:
        FAULTS.append(text)


def check_hash():
    """Answers of the hash's own documentation and of libxxhash."""
    for data, answer in ((b"", 0xEF46DB3751D8E999), (b"a", 0xD24EC4F1A98C6E5B),
                         (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1)):
        expect(reference_decoder.xxh64(data) == answer, "xxh64 of %r" % data)


def check_vectors():
    """Returns the bytes of all vectors by name."""
    vectors = {}
    for path in sorted((SOURCE / "spec" / "vectors").glob("*/*.hex")):
        name, first = path.parent.name + "/" + path.stem, path.read_text().split("\n")[0]
        data = vectors[name] = bytes.fromhex(re.sub("#.*", "", path.read_text()))
        text, code = reference_decoder.listing(data, " image" in first)
        listing = path.with_suffix(".txt")
        expect(listing.is_file() and listing.read_text() == text, name + ": another listing:\n" + text)
        said = re.search(r" exit (\d)", first)
        expect(code == (int(said.group(1)) if said else 0), name + ": exit code %d" % code)
        # What stands in good/ shows no fault.
        expect(name.startswith("bad/") or "fault " not in text, name + ": a fault in good/")
    for path in (SOURCE / "spec" / "vectors").glob("*/*.txt"):
        expect(path.with_suffix(".hex").is_file(), "%s: no vector" % path)
    return vectors


def check_document(vectors):
    """Each example of FORMAT.md, little-endian, occurs in a vector; each kind of line and each fault of
    section 8 occurs in a listing."""
    document = (SOURCE / "spec" / "FORMAT.md").read_text()
    examples = re.findall(r"^    ((?:[0-9A-F]{8} ?)+)(?: |$)", document, re.M)
    expect(len(examples) >= 16, "only %d examples found in FORMAT.md" % len(examples))
    for example in examples:
        words = [int(word, 16) for word in example.split()]
        data = struct.pack("<%dI" % len(words), *words)
        expect(any(data in vector for vector in vectors.values()), "no vector has " + example)
    section = re.search(r"## 8\. Listing.*?(?=\n## |\Z)", document, re.S).group()
    listings = "".join(p.read_text() for p in (SOURCE / "spec" / "vectors").glob("*/*.txt"))
    words = set(re.findall(r"^    (\w+) ", section, re.M))
    faults = set(re.findall(r"`(?:fault \S+ \S+ )?([a-z]+-[a-z]+|crossing|truncated)`", section))
    expect(len(words) == 17 and len(faults) == 13, "lines %s, faults %s" % (sorted(words), sorted(faults)))
    for word in words:
        expect(re.search("^%s " % word, listings, re.M), "no listing has a line " + word)
    for name in faults:
        expect(re.search("^fault .* %s$" % name, listings, re.M), "no listing has a fault " + name)
    shown = {m[:-1] for m in re.findall(r"^\w+ ", listings, re.M)}
    expect(shown == words, "a line that section 8 does not have: %s" % (shown - words))


def check_prefix():
    """Cut at any byte, a stream's listing begins like that of the whole; only the last lines, which say
    that the data end, are its own. (No string events: their class may be known from what is cut off.)"""
    for name in "dropped", "epoch_at_border", "missing_block", "loss_over_border", "words_lost_in_block":
        data = bytes.fromhex(re.sub("#.*", "", (SOURCE / "spec/vectors/good" / (name + ".hex")).read_text()))
        whole = reference_decoder.listing(data, False)[0].splitlines()
        for size in range(24, len(data)):
            part = reference_decoder.listing(data[:size], False)[0].splitlines()
            kept = [line for line in part if not re.match(r"fault 1 \d+ (cut-text|truncated)$|total ", line)]
            expect(kept == whole[:len(kept)] and len(part) - len(kept) < 4, "%s cut at %d" % (name, size))


def check_generator():
    """The rules that gen_tables.py enforces can fail."""
    def record(id="0x810", name="X", count="1", argument=("a", "", "", "")):
        return [id, name, count, "0", "text", *argument]
    good = record("0x802")
    for rows in ([record()], [record("0x802", count="2", argument=("a", "", "b", ""))],
                 [record("0x802", argument=("", "", "", ""))], [good, record("0x802", "Y")],
                 [record("0x803"), record("0x802", "Y")], [good, record("0x803")],
                 [record("0xFFF", count="2")], [good[:8]]):
        expect(gen_tables.check_records(rows), "gen_tables accepts %s" % rows)
    expect(not gen_tables.check_records([good, record("0x803", "Y")]), "gen_tables refuses good rows")
    for rows in ([["1", "A", ""], ["1", "B", ""]], [["1", "A", ""], ["2", "A", ""]], [["256", "A", ""]]):
        expect(gen_tables.check_classes(rows), "gen_tables accepts classes %s" % rows)


check_hash()
check_document(check_vectors())
check_prefix()
check_generator()
for fault in FAULTS[:20]:
    print(fault)
sys.exit(1 if FAULTS else 0)
