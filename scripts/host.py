#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording and submitting cost the host, beside Honeykrisp's costs in the same run.

Both run over the preloaded virtual AGX with execution switched off, in the folder that
`make test-mesa` makes; without it, ours alone. Rounds take turns, and the median of the rounds
counts, so that what else the machine does falls on both.

With --against OUT it compares two installed trees of ours instead, in at least 20 rounds that take turns: the
ratio of the medians of each figure, and their geometric mean. Exit status 1: the mean is above 1.03 or a
figure above 1.10, so one of the trees costs more. Where the machine is too noisy to tell, count instructions:
`valgrind --tool=callgrind OUT/bin/agx bench --only host`.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Figure, what it is, which of Honeykrisp's it is held against, the largest ratio.
TARGETS = [
    ("record", "record a dispatch (1000 in a buffer)", "record", 0.5),
    ("record_barrier", "with a barrier each", "record_barrier", 0.25),
    ("record_barrier_first", "with a barrier each, first time", "record_barrier_first", 0.02),
    ("record_robust", "record a robust dispatch, inside", None, None),
    ("record_checked", "record a robust dispatch, checked", None, None),
    ("record_image", "record a dispatch with an image", None, None),
    ("record_stores", "record with two storage images", None, None),
    ("create_first", "create the first command buffer", None, None),
    ("submit", "submit one dispatch, timeline signal", "submit", 1.0),
    ("submit_wait", "submit, signal and wait", "submit_wait", None),
    ("submit_5000", "submit 5000 dispatches", None, None),
    ("in_flight", "one buffer, 4 in flight, executed", None, None),
]

# Figure, which of our own it is held against, the largest ratio.
OWN_TARGETS = [
    ("record_robust", "record", 1.3),
    ("record_checked", "record", 1.3),
    ("record_image", "record", 2.0),
    ("record_stores", "record", 2.0),
    ("submit_5000", "submit", 1.5),
]


def run_both(out):
    text = subprocess.run([os.path.join(TOP, "scripts/mesa.sh"), "host"], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "OUT": out}).stdout
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return found[1]["host"], found[0]


def run_ours(out):
    text = subprocess.run([os.path.join(out, "bin/agx"), "bench", "--only", "host", "--json"],
                          check=True, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "AGX_DEBUG": "trust"}).stdout
    return json.loads(text)["host"], None


# How much dearer one of our trees may be than another: on the geometric mean, and in one figure.
MOST_ON_AVERAGE, MOST_IN_ONE = 1.03, 1.10


def compare(out, against, rounds):
    """Prints the figures of two installed trees beside each other; tells whether `out` costs more."""
    trees = {"now": out, "before": against}
    runs = {name: [] for name in trees}
    for number in range(max(rounds, 20)):
        print(f"\rround {number + 1} of {max(rounds, 20)}", end="", file=sys.stderr, flush=True)
        for name in trees if number % 2 else reversed(trees):
            runs[name].append(run_ours(trees[name]))
    print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    now, before = merged(runs["now"], 0), merged(runs["before"], 0)
    print(f"  {'':24}{'before, ns':>12}{'now, ns':>12}{'ratio':>8}{'requests':>20}")
    ratios = {}
    for name in (name for name in now if name in before):
        ratios[name] = now[name]["ns"] / before[name]["ns"]
        print(f"  {name:24}{before[name]['ns']:12.1f}{now[name]['ns']:12.1f}{ratios[name]:8.3f}"
              f"{before[name]['requests']:11.4f} {now[name]['requests']:8.4f}")
    mean, worst = statistics.geometric_mean(ratios.values()), max(ratios, key=ratios.get)
    print(f"  geometric mean {mean:.3f} (at most {MOST_ON_AVERAGE}), worst {worst} {ratios[worst]:.3f} (at most {MOST_IN_ONE})")
    return mean > MOST_ON_AVERAGE or ratios[worst] > MOST_IN_ONE


def merged(rounds, column):
    rounds = [r[column] for r in rounds]
    if rounds[0] is None:
        return None
    return {name: {key: statistics.median(r[name][key] for r in rounds) for key in rounds[0][name]}
            for name in rounds[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(TOP, "out"), help="the installed tree")
    parser.add_argument("--peer", action="store_true", help="measure Honeykrisp, too (root)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--against", metavar="OUT", help="another installed tree of ours to compare with")
    options = parser.parse_args()
    if options.against:
        sys.exit(compare(options.out, options.against, options.rounds))
    rounds = []
    for i in range(options.rounds):
        print(f"\rround {i + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
        rounds.append((run_both if options.peer else run_ours)(options.out))
    print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    ours, peer = merged(rounds, 0), merged(rounds, 1)
    if options.json:
        print(json.dumps({"ours": ours, "honeykrisp": peer}))
        return
    print(f"host costs, execution off, median of {options.rounds} rounds"
          f"\n  {'':40}{'ns':>10}{'requests':>10}{'heap':>8}{'Honeykrisp':>12}{'requests':>10}"
          f"{'ratio':>8}{'target':>8}")
    for name, sentence, other, target in TARGETS:
        figure = ours[name]
        line = f"  {sentence:40}{figure['ns']:10.1f}{figure['requests']:10.4f}{figure['allocations']:8.4f}"
        theirs = peer.get(name) if peer else None
        if theirs:
            line += f"{theirs['ns']:12.1f}{theirs['requests']:10.4f}"
            line += f"{figure['ns'] / theirs['ns']:8.3f}" if other else " " * 8
            line += f"{target:8}" if target else ""
        print(line)
    for name, other, target in OWN_TARGETS:
        ratio = ours[name]["ns"] / ours[other]["ns"]
        print(f"  {name + ' against ' + other:40}{ratio:10.2f}   (target {target})")


if __name__ == "__main__":
    main()
