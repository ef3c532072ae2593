"""Compares measured costs with cost/budgets.json."""
import json
import os
import sys


def load():
    path = os.path.join(os.environ["SOURCE"], "cost", "budgets.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)["budgets"]


def compare(costs, prefix):
    """0 when every budget whose name begins with `prefix` was measured and is kept, else 1."""
    status = 0
    for name, budget in load().items():
        if not name.startswith(prefix):
            continue
        if name not in costs:
            print(f"{name}: not measured, but it has a budget", file=sys.stderr)
            status = 1
        elif costs[name] > budget["limit"]:
            print(f"{name}: {costs[name]} {budget['unit']}, the budget is {budget['limit']}",
                  file=sys.stderr)
            status = 1
    return status
