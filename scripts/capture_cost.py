#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `agxdump record` costs programs on the virtual AGX, execution on.

Loops of small submissions that are waited for one by one, and the corpus, a process for each kernel: processor
time and wall time under `agx virtual` and under `agxdump record`, of all processes from beginning to end. Rounds
take turns, and the median of the rounds counts, so that what else the machine does falls on both; where it does
much, wall time says little.
"""
import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOOPS = ["fill_u32", "saxpy", "softmax", "matmul_naive"]
TARGET = 1.3


def run_command(out, kernel, *more):
    corpus = os.path.join(TOP, "tests/corpus")
    return [os.path.join(out, "bin/agx"), "run", f"{corpus}/{kernel}.spv", "--manifest",
            f"{corpus}/{kernel}.txt", "--device", "virtual", *more]


def workloads(out, submits, only):
    found = {name: run_command(out, name, "--repeat", str(submits)) for name in LOOPS}
    kernels = sorted(name[:-4] for name in os.listdir(os.path.join(TOP, "tests/corpus")) if name.endswith(".spv"))
    every = " && ".join(shlex.join(run_command(out, kernel)) for kernel in kernels)
    found["corpus"] = ["sh", "-c", every]
    return {name: command for name, command in found.items() if not only or name in only}


def measure(command):
    """Seconds of the processors and of the clock."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - begin


def compare(out, command, rounds, capture):
    ways = {"without": [os.path.join(out, "bin/agx"), "virtual", "--"],
            "with": [os.path.join(out, "bin/agxdump"), "record", "-o", capture, "--"]}
    runs = {way: [] for way in ways}
    for number in range(rounds):
        for way in ways if number % 2 else reversed(ways):
            runs[way].append(measure(ways[way] + command))
    columns = {way: [statistics.median(column) for column in zip(*found)] for way, found in runs.items()}
    return {kind: {"without_s": columns["without"][i], "with_s": columns["with"][i],
                   "ratio": columns["with"][i] / columns["without"][i]}
            for i, kind in enumerate(("processor", "wall"))} | {"capture_bytes": os.path.getsize(capture)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(TOP, "out"), help="the installed tree")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--submits", type=int, default=1000, help="in a loop")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"{', '.join(LOOPS)} or corpus")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, command in workloads(options.out, options.submits, options.only).items():
            print(f"\r{name:20}", end="", file=sys.stderr, flush=True)
            found[name] = compare(options.out, command, options.rounds, os.path.join(folder, "capture"))
    print("\r" + " " * 20 + "\r", end="", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(found))
        return
    print(f"recording, execution on, median of {options.rounds} rounds; loops of {options.submits} submissions"
          f"\n  {'':20}{'processor, ms':>16}{'recorded':>10}{'ratio':>8}{'target':>8}"
          f"{'wall, ms':>12}{'recorded':>10}{'ratio':>8}{'capture, KB':>14}")
    for name, it in found.items():
        cpu, wall = it["processor"], it["wall"]
        print(f"  {name:20}{cpu['without_s'] * 1e3:16.1f}{cpu['with_s'] * 1e3:10.1f}{cpu['ratio']:8.2f}{TARGET:8}"
              f"{wall['without_s'] * 1e3:12.1f}{wall['with_s'] * 1e3:10.1f}{wall['ratio']:8.2f}"
              f"{it['capture_bytes'] / 1024:14.0f}")


if __name__ == "__main__":
    main()
