"""Holds measured costs against cost/budgets.json and against the table in recorder/README.md."""
import json
import os
import sys

SOURCE = os.environ["SOURCE"]
COMPILER = "12.2"  # whose code the table is about
COLUMNS = {"cortexm3_": 2, "linux_": 3}

# Rows of the table, by their first words.
ROWS = [
    ("event without", lambda cost: cost("event_0_instructions")),
    ("event with a 32-bit", lambda cost: cost("event_u32_instructions")),
    ("event with two", lambda cost: cost("event_2_instructions")),
    ("the value's share", lambda cost: round(cost("event_u32_full_speed_instructions") -
                                             cost("event_u32_instructions"), 2)),
    ("category switched off", lambda cost: cost("event_off_instructions")),
    ("compiled out", lambda cost: cost("event_compiled_out_instructions")),
    ("of these with interrupts", lambda cost: cost("masked_instructions")),
    ("masked when", lambda cost: cost("masked_new_block_instructions")),
    ("code and constants", lambda cost: cost("code_bytes")),
    ("RAM beyond", lambda cost: cost("ram_beyond_ring_bytes")),
]


def over_budget(costs, prefix):
    path = os.path.join(SOURCE, "cost", "budgets.json")
    with open(path, encoding="utf-8") as file:
        for name, budget in json.load(file)["budgets"].items():
            if not name.startswith(prefix):
                continue
            if name not in costs:
                yield f"{name}: not measured, but it has a budget"
            elif costs[name] > budget["limit"]:
                yield f"{name}: {costs[name]} {budget['unit']}, the budget is {budget['limit']}"


def table_rows():
    """Cells of the table by the text of the first one."""
    with open(os.path.join(SOURCE, "recorder", "README.md"), encoding="utf-8") as file:
        table = file.read().split("<!-- costs:")[1].split("<!-- end of costs")[0]
    return [[cell.strip() for cell in line.split("|")] for line in table.splitlines()
            if line.startswith("|")][2:]


def not_in_table(costs, prefix):
    rows = table_rows()
    if len(rows) != len(ROWS):
        yield f"recorder/README.md: {len(rows)} rows of costs instead of {len(ROWS)}"
        return
    for row, (label, value) in zip(rows, ROWS):
        if not row[1].startswith(label):
            yield f"recorder/README.md: the row '{row[1]}' should begin with '{label}'"
            continue
        try:
            wanted = str(value(lambda name: costs[prefix + name]))
        except KeyError:
            continue  # nothing of this kind here
        if row[COLUMNS[prefix]] != wanted:
            yield f"recorder/README.md: '{row[1]}' says {row[COLUMNS[prefix]]}, measured is {wanted}"


def compare(costs, prefix, compiler):
    """0 when every budget whose name begins with `prefix` was measured and is kept, and the table
    says what was measured (by the compiler that it is about), else 1."""
    faults = list(over_budget(costs, prefix))
    if COMPILER in compiler:
        faults += not_in_table(costs, prefix)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0
