#!/usr/bin/env python3
"""Checks the borders of the tree: check_layers.py [TOP]

- A stage of host/ includes only itself and stages before it in host/LAYERS.
- host/ takes from recorder/ only tare_layout.h and tare_events.def, and host/base not even those.
- recorder/ includes nothing from outside itself; system headers beyond the freestanding ones only in
  port/, hook/, transport/ and in the files that exist for a hosted system.
- File names are unique in the whole tree and carry the prefix of their folder.
- Source files have at most 800 lines.

Prints one line a fault, FILE:LINE: text, and ends with status 1 if there was one.
"""
import os
import re
import subprocess
import sys

FROM_RECORDER = {"tare_layout.h", "tare_events.def"}
FREESTANDING = {"stddef.h", "stdint.h", "string.h"}
HOSTED = re.compile(r"^recorder/(port|hook|transport)/|_(linux|thread)\.inl$")
# The last one: a kernel asks for a file of this name.
NAMED_ALIKE = {"CMakeLists.txt", "README.md", ".clang-tidy", ".gitignore", "FreeRTOSConfig.h"}
SOURCE = re.compile(r"\.(c|h|inl|def)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LINE_LIMIT = 800


def tree_files(top):
    """All files that are, or are about to be, part of the project; relative, sorted."""
    listing = subprocess.run(
        ["git", "-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listing.returncode == 0:
        found = os.fsdecode(listing.stdout).split("\0")
        return sorted({name for name in found if name and os.path.isfile(os.path.join(top, name))})
    found = []
    for folder, subfolders, names in os.walk(top):
        subfolders[:] = [name for name in subfolders if name not in ("build", ".git")]
        found += [os.path.relpath(os.path.join(folder, name), top) for name in names]
    return sorted(found)


def read_layers(top):
    """Stage to (place in the order, prefix)."""
    layers = {}
    with open(os.path.join(top, "host/LAYERS"), encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words:
                layers[words[0]] = (len(layers), words[1])
    return layers


class Checker:
    def __init__(self, top):
        self.top = top
        self.files = tree_files(top)
        self.layers = read_layers(top)
        self.by_name = {}
        self.faults = []

    def fault(self, path, line, text):
        self.faults.append(f"{path}:{line}: {text}")

    def check_names(self):
        for path in self.files:
            name = os.path.basename(path)
            if name in NAMED_ALIKE:
                continue
            # Case does not tell files apart everywhere.
            first = self.by_name.setdefault(name.lower(), path)
            if first != path:
                self.fault(path, 1, f"has the same name as {first}")
            stage = self.stage_of(path)
            if stage is None or not SOURCE.search(name):
                continue
            if stage in self.layers:
                prefix = self.layers[stage][1]
            elif stage == "recorder":
                prefix = "tare"
            elif path == "host/main.c":
                continue
            else:
                self.fault(path, 1, f"folder host/{stage} is not listed in host/LAYERS")
                continue
            if not name.startswith(prefix):
                self.fault(path, 1, f"name must begin with {prefix}")

    @staticmethod
    def stage_of(path):
        """The stage of host/, "recorder", or None for all else."""
        parts = path.split("/")
        if parts[0] == "recorder":
            return "recorder"
        if parts[0] == "host":
            return parts[1] if len(parts) > 2 else "main"
        return None

    def check_include(self, path, line, name):
        """An include in quotation marks."""
        stage = self.stage_of(path)
        target = self.by_name.get(os.path.basename(name).lower())
        if target is None:
            self.fault(path, line, f"includes {name}, which is not in the tree")
            return
        other = self.stage_of(target)
        if stage == "recorder":
            if other != "recorder":
                self.fault(path, line, f"includes {target}; recorder/ must do without the rest")
        elif other == "recorder":
            if os.path.basename(target) not in FROM_RECORDER:
                allowed = " and ".join(sorted(FROM_RECORDER))
                self.fault(path, line, f"includes {target}; host/ takes only {allowed}")
            elif stage == "base":
                self.fault(path, line, f"includes {target}; host/base must not know what a trace is")
        elif other not in self.layers:
            self.fault(path, line, f"includes {target}, which is no part of a stage of host/")
        elif stage != "main" and self.layers[other][0] > self.layers[stage][0]:
            self.fault(path, line, f"includes {target}; {stage} stands before {other} in host/LAYERS")

    def check_source(self, path):
        stage = self.stage_of(path)
        with open(os.path.join(self.top, path), encoding="utf-8") as file:
            lines = file.readlines()
        if len(lines) > LINE_LIMIT:
            self.fault(path, LINE_LIMIT + 1, f"has {len(lines)} lines; the limit is {LINE_LIMIT}")
        if stage is None or (stage not in self.layers and stage not in ("recorder", "main")):
            return
        for number, text in enumerate(lines, 1):
            found = INCLUDE.match(text)
            if found is None:
                continue
            if found.group(1):
                self.check_include(path, number, found.group(1))
            elif (stage == "recorder" and found.group(2) not in FREESTANDING
                  and not HOSTED.search(path)):
                self.fault(path, number, f"includes <{found.group(2)}>; a freestanding file may "
                           "include only " + ", ".join(sorted(FREESTANDING)))

    def run(self):
        self.check_names()
        for path in self.files:
            if SOURCE.search(path):
                self.check_source(path)
        for text in self.faults:
            print(text)
        return 1 if self.faults else 0


def main():
    own_top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.exit(Checker(sys.argv[1] if len(sys.argv) > 1 else own_top).run())


if __name__ == "__main__":
    main()
