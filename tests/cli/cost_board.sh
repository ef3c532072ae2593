#!/bin/sh
# ctest: timeout=240 labels=plain
# The experiment on the emulated board, with a recorder that is not ours: repeats to the byte, one
# jitter seed a block, sizes of the firmware, losses as the firmware counts them. And the experiment
# for a board on the desk is that for the emulated one.
set -eu

experiments=$SOURCE/cost/experiments

# From the metrics on, only the adapter and the seconds differ; before that, each says what it is.
sed -n '/^metrics:/,/^load_selection:/p' "$experiments/gateway-board.yaml" |
    sed '/^load_selection:/d; s/adapter lockstep,/adapter ADAPTER,/; s/seconds "5"/seconds "60"/' |
    sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >emulated
sed -n '/^metrics:/,$p' "$experiments/gateway-board-hardware.yaml" |
    sed 's/adapter adapter_mps2.cfg,/adapter ADAPTER,/' >hardware
diff emulated hardware

for tool in arm-none-eabi-gcc qemu-system-arm ninja "$BUILD/cost/rigs/lockstep"; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
status=0
"$SOURCE/tools/fetch_sources.sh" lwip || status=$?
if [ "$status" -eq 3 ]; then
    echo "skipped: the sources of lwIP cannot be had here"
    exit 77
fi
unset FREERTOS_KERNEL_PATH

for name in first second; do
    "$TARE" cost run "$experiments/other-recorder.yaml" -q --build "$BUILD" -o $name >$name.txt
done
"$BUILD/cost/rigs/lockstep" first/images/off.elf -q --seed 2 --warm-up 0 --seconds 1 >seed2.json
for image in off other; do
    arm-none-eabi-size first/images/$image.elf | tail -n 1 >$image.size
done

python3 - <<'END'
import csv, json

volatile = {"started_utc", "started_seconds", "sentinel_before_ns", "sentinel_after_ns",
            "load_average"}
first, second = (list(csv.DictReader(open(n + "/runs.csv"))) for n in ("first", "second"))
assert len(first) == 4, len(first)
for one, other in zip(first, second):
    differing = {k for k in one if one[k] != other[k]} - volatile
    assert not differing, f"run {one['run']} does not repeat: {differing}"
assert not any(k.startswith("lab.") for k in first[0]), "a figure of this machine"

def run(arm, block):
    return next(r for r in first if r["arm"] == arm and r["block"] == str(block))

seed2 = json.load(open("seed2.json"))
for key in ("cpu_busy_percent", "receive_to_summary_mean_us"):
    assert float(run("off", 2)[key]) == seed2[key], f"block 2 is not seed 2: {key}"
    assert run("off", 1)[key] != run("off", 2)[key], f"both blocks have one seed: {key}"
for block in (1, 2):
    other, off = run("other", block), run("off", block)
    assert other["trace_stored_events"] == "640" and other["recorder_bytes"] == "5120", other
    assert int(other["trace_lost_events"]) > 500, other
    assert off["recorder_bytes"] == "" and off["trace_checked"] == "0", off
    assert float(other["cpu_busy_percent"]) > float(off["cpu_busy_percent"])
    assert off["blocks_sent"] == "750" and off["replies_missing"] == "0", off

analysis = json.load(open("first/analysis.json"))
images = {a["name"]: a["images"][0] for a in analysis["arms"]}
loaded = {}
for name, image in images.items():
    text, data, bss = map(int, open(name + ".size").read().split()[:3])
    assert image["code_bytes"] + image["constant_bytes"] == text, (name, image)
    assert image["data_bytes"] + image["zeroed_bytes"] == data + bss, (name, image)
    loaded[name] = (text, data + bss)
other = images["other"]
assert other["readable_minus_baseline_bytes"] == loaded["other"][0] - loaded["off"][0] > 0
assert other["writable_minus_baseline_bytes"] == loaded["other"][1] - loaded["off"][1] >= 5120
manifest = json.load(open("first/manifest.json"))
assert manifest["differs_between_blocks"] == "jitter seed"
assert all(a["images"][0]["hash"].startswith("xxh3-128:") for a in manifest["arms"])
page = open("first/report.html").read()
assert "emulated Cortex-M3" in page and "no confidence intervals" in page
assert "lost " in page and "incomplete" in page, "the loss stands beside the cost"
END
