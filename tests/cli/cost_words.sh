#!/bin/sh
# ctest: timeout=120
# `tare cost run` on arms whose differences are known: words, figures, files, pages.
set -eu

# arm.sh OFFSET RUN: prints metrics that depend on nothing but the block and the offset.
cat >arm.sh <<'END'
block=${2#block}
block=${block%%-*}
block=${block#0}
set -- "$1" $(echo "3 -2 5 0 -4 1 -3 2" | cut -d' ' -f"$block") $((block % 3 - 1))
echo "a line before the result"
awk -v offset="$1" -v common="$2" -v own="$3" 'BEGIN {
    printf "{\"cost\": %.3f, \"inner\": {\"rate\": %.2f}, \"longest\": %d, \"missing\": 0, \"sent\": 1000}\n",
        10 + common / 10 + offset + own / 100, 100 - 10 * offset + own, 50 + common }'
END

# experiment OFF2 REC LOSS: offsets of the arms and the events that the recorder lost
experiment()
{
    cat <<END
title: Words & <tags>
question: Are the injected differences found?
blocks: 8
seed: 3
metrics:
  - {name: cost, label: cost of it, unit: ms, primary: true, margin: 0.5, reason: as the test says}
  - {name: inner.rate, label: rate, unit: per s, better: higher, primary: true, margin: 5, reason: as well}
  - {name: longest, unit: ms, kind: extreme}
  - {name: missing, unit: replies, kind: loss, of: sent}
  - {name: sent, unit: replies, better: higher}
arms:
  - {name: "off", role: baseline, command: [sh, arm.sh, "0", "\${run}"], images: ["\${tare}"]}
  - {name: off2, role: same, command: [sh, arm.sh, "$1", "\${run}"]}
  - name: rec
    label: Recorder
    role: recorder
    command: [sh, -c, 'echo bytes >"\$1"; exec sh arm.sh $2 "\$2"', x, "\${recording}", "\${run}"]
    recording:
      path: \${out}/recordings/\${run}.bin
      check: [echo, '{"kept": 500, "gone": {"all": $3}, "poll_ns": 1000000}']
      stored: kept
      lost: gone.all
      facts: [{name: poll interval, place: poll_ns}]
    images: ["\${tare}", arm.sh]
    settings: [{name: ring, value: large}]
  - {name: ghost, label: Ghost, role: change, requires: [no-such-program-here], command: [no-such-program-here]}
END
}

run()
{
    name=$1
    experiment "$2" "$3" "$4" >"$name.yaml"
    "$TARE" cost run "$name.yaml" -o "$name" >"$name.txt" 2>"$name.err" || {
        echo "$name ended with $?"
        cat "$name.txt" "$name.err"
        exit 1
    }
}

run found 0.01 2 0
grep -q '^With Recorder, cost of it was measured 2.00 ms higher than with off' found.txt
grep -q 'Not run here: Ghost' found.txt
grep -q 'Recorder: 8 recordings, 0 of 4000 events lost (at 95 % fewer than 1 in 1300)' found.txt
run lossy 0.01 -2 3
run unfit 2 2 0
"$TARE" cost run found.yaml -o json --json >json.txt
cmp json.txt json/analysis.json

python3 - <<'END'
import csv, html.parser, json, re, xml.dom.minidom, pathlib

def analysis(name):
    return json.load(open(name + "/analysis.json"))

def comparison(data, metric, arm):
    return next(c for c in data["comparisons"] if c["metric"] == metric and c["arm"] == arm)

def equal(got, wanted, what):
    assert got == wanted, f"{what}: got {got!r}, wanted {wanted!r}"

found = analysis("found")
cost = comparison(found, "cost", "rec")
equal(cost["word"], "behind", "the injected cost")
assert all(abs(d - 2) < 1e-9 for d in cost["differences_by_block"])
equal(cost["sign_flip"]["p"], 2 / 256, "sign flips of eight equal signs")
equal(cost["adjusted"]["sign_flip_p"], 2 * 2 / 256, "Holm over two questions")
equal(comparison(found, "inner.rate", "rec")["word"], "behind", "higher is better here")
equal(comparison(found, "cost", "off2")["word"], "equal within margin", "A/A")
assert found["questions"] == 2 and found["blocks_needed"] == 7
equal(found["words_withheld"], False, "A/A without a word")
assert comparison(found, "sent", "rec")["exploratory"] and "word" not in comparison(found, "sent", "rec")
assert not any(c["metric"] == "longest" for c in found["comparisons"]), "extremes are not compared"
ghost = next(a for a in found["arms"] if a["name"] == "ghost")
assert "no-such-program-here" in ghost["not_run_here"]
rec = next(a for a in found["arms"] if a["name"] == "rec")
missing = next(s for s in rec["summaries"] if s["metric"] == "missing")
equal(missing["loss"]["of"], 8000, "sum over the runs")
equal(missing["loss"]["upper_bound_share"], 3 / 8000, "rule of three")
assert rec["images"][0]["code_bytes"] > 10000 and rec["images"][0]["loaded_minus_baseline_bytes"] == 0
assert rec["images"][1]["hash"].startswith("xxh3-128:") and rec["images"][1]["code_bytes"] is None
traces = [r["trace"] for r in found["runs"] if r["arm"] == "rec"]
assert len(traces) == 8 and all(t["facts"] == {"poll interval": "1000000"} for t in traces)
assert all(t["recording_bytes"] == 6 and t["recording"].startswith("recordings/block0") for t in traces)

lossy = analysis("lossy")
cost = comparison(lossy, "cost", "rec")
equal(cost["word"], "no word", "a lossy recorder earns no praise")
equal(cost["word_by_t"], "better", "what it would have been")
assert "Recorder lost 24 of 4024 trace events" in cost["text"], cost["text"]

unfit = analysis("unfit")
equal(unfit["words_withheld"], True, "A/A with a word")
equal(comparison(unfit, "cost", "rec")["withheld_because"], ["same_arm_got_a_word"], "reason")
assert "not fit for verdicts" in open("unfit/report.html").read()
assert "not fit for verdicts" in open("unfit.txt").read()

rows = list(csv.DictReader(open("found/runs.csv")))
equal(len(rows), 24, "rows of runs.csv")
assert all(r["voided"] == "0" and float(r["sentinel_before_ns"]) > 0 for r in rows)
for r, j in zip(rows, found["runs"]):
    equal(float(r["cost"]), j["values"]["cost"], "runs.csv and analysis.json")
order = json.load(open("found/manifest.json"))["order"]
equal([r["arm"] for r in rows], [a for block in order for a in block], "order of the manifest")

# Every figure in the page's and the Markdown's tables is a rounded figure of analysis.json.
numbers = set()
def collect(value):
    if isinstance(value, dict):
        for v in value.values():
            collect(v)
    elif isinstance(value, list):
        for v in value:
            collect(v)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        numbers.add(abs(float(value)))
    elif isinstance(value, str):
        for t in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", value):
            numbers.add(abs(float(t.replace(",", ""))))
collect(found)
numbers |= {n / 1e6 for n in numbers} | {n / 1024 for n in numbers}  # ns as ms, bytes as KiB

class Page(html.parser.HTMLParser):
    void = {"meta", "br", "link", "img", "input", "hr"}
    def __init__(self):
        super().__init__()
        self.open, self.cells, self.cell = [], [], None
    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            assert not (name in ("src", "href") and "//" in (value or "")), f"outside request: {value}"
        assert tag not in ("script", "link", "img", "iframe"), tag
        if tag not in self.void:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cell = ""
    def handle_startendtag(self, tag, attrs):
        pass
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1:]}>"
        self.open.pop()
        if tag in ("td", "th"):
            self.cells.append(self.cell)
            self.cell = None
    def handle_data(self, text):
        if self.cell is not None:
            self.cell += text

def check_numbers(text, where):
    for token in re.findall(r"(?<![\w.-])[-+×]?\d[\d,]*(?:\.\d+)?", text):
        plain = token.lstrip("-+×").replace(",", "")
        decimals = len(plain.split(".")[1]) if "." in plain else 0
        value = float(plain)
        assert any(abs(n - value) <= 0.5000001 * 10 ** -decimals for n in numbers), (
            f"{where}: {token!r} in {text!r} is not in analysis.json")

page = Page()
page.feed(open("found/report.html").read())
assert not page.open, page.open
assert "<h1>Words &amp; &lt;tags&gt;</h1>" in open("found/report.html").read()
for cell in page.cells:
    check_numbers(cell, "report.html")
sections = re.findall(r"<h2 [^>]*>(\d+)\. ", open("found/report.html").read())
equal(sections, [str(n) for n in range(1, 15)], "sections")
for line in open("found/report.md"):
    if line.startswith("|"):
        check_numbers(line, "report.md")
plots = sorted(p.name for p in pathlib.Path("found/plots").iterdir())
equal(len(plots), 7, "pictures")
for plot in plots:
    picture = xml.dom.minidom.parse("found/plots/" + plot).documentElement
    assert picture.getElementsByTagName("title") and picture.getElementsByTagName("desc")
    assert plot in open("found/report.md").read()
END

# The same seed draws the same order, another seed another one; --blocks shortens.
"$TARE" cost run found.yaml -o short --blocks 2 --seed 4 >short.txt 2>short.err
grep -q 'described only: 2 blocks, a word needs 7' short.txt
[ "$(wc -l <short/runs.csv)" -eq 7 ]

# Results are never overwritten.
status=0
"$TARE" cost run found.yaml -o found >again.txt 2>again.err || status=$?
[ $status -eq 2 ] && grep -q 'not empty' again.err
