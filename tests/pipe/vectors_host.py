"""vectors_host.py SOURCE TARE [SEED [COUNT]]: see vectors_host.sh. A seed of your own tries others."""
import concurrent.futures
import difflib
import pathlib
import re
import subprocess
import sys

SOURCE, TARE = pathlib.Path(sys.argv[1]), sys.argv[2]
SEED, COUNT = (int(a) for a in (sys.argv[3:] + ["1", "2000"][len(sys.argv) - 3:])[:2])
sys.path[:0] = [str(SOURCE / "spec"), str(SOURCE / "tools"), str(SOURCE / "tests" / "pipe")]
import reference_decoder
import vectors_variants

SHOWN = 5


def host(path, options):
    """Listing and exit code of the program."""
    done = subprocess.run([TARE, "dump", "--listing", *options, str(path)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    text = done.stdout.decode("ascii", "backslashreplace")
    if done.returncode not in (0, 4):
        text += done.stderr.decode("ascii", "backslashreplace")
    return text, done.returncode


def compare(item):
    """None, or how the two differ. (A variant of a stream may hold what looks like a ring: --raw.)"""
    name, data, image, options = item
    path = pathlib.Path(re.sub(r"\W+", "_", name) + ".bin")
    path.write_bytes(data)
    text, code = reference_decoder.listing(data, image)
    other, other_code = host(path, options)
    if (text, code) == (other, other_code):
        path.unlink()
        return None
    lines = list(difflib.unified_diff(text.splitlines(), other.splitlines(), "reference", "host",
                                      n=2, lineterm=""))
    return "%s: exit %d and %d, kept as %s\n%s" % (name, code, other_code, path, "\n".join(lines[:40]))


def main():
    items, plain, images = [], {}, {}
    for path in sorted((SOURCE / "spec" / "vectors").glob("*/*.hex")):
        text = path.read_text()
        image = " image" in text.split("\n")[0]
        name, data = path.parent.name + "/" + path.stem, bytes.fromhex(re.sub("#.*", "", text))
        items.append((name, data, image, []))
        (images if image else plain)[name] = data
    variants = ((name, data, False, ["--raw"])
                for name, data in vectors_variants.variants(plain, COUNT, SEED))
    memories = ((name, data, True, []) for name, data in vectors_variants.image_variants(images, COUNT // 4, SEED)
                if reference_decoder.listing(data, True)[1] == 0)  # what has no ring is no image to the program
    different = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for batch in (items, variants, memories):
            for found in pool.map(compare, batch):
                if found:
                    different += 1
                    if different <= SHOWN:
                        print(found)
    if different:
        print("%d of %d inputs are read differently" % (different, len(items) + COUNT + COUNT // 4))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
