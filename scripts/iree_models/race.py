#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Races our code for the dispatches of tests/iree/models against Mesa's Honeykrisp, each with its own grid and sizes.

    python3 scripts/iree_models/race.py [--out DIR] [--model NAME]... [--worst N]

Both run on the virtual AGX, with zeros in all buffers. Executed instructions are those of the dispatch; modelled
cycles are of the main code, with the grid repeated until it fills the chip, as scripts/race.py counts them. What is
dispatched by addresses is left out: the same code is there with descriptors.
"""
import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.path.join(TOP, "tests", "iree", "models")
MAGIC = struct.pack("<I", 0x07230203)
NAMES, ENTRY_POINT = (3, 4, 5, 6, 7, 8, 317, 330), 15  # OpSource and what goes with it, OpName, OpLine


def spirv_in(container):
    """The one module of a container: its words stand behind their length."""
    at = container.index(MAGIC)
    return container[at:at + 4 * struct.unpack_from("<I", container, at - 4)[0]]


def without_names(spirv):
    """The words of a module that say what it does: kernels differ in names alone where models share them."""
    words, at, kept = struct.unpack(f"<{len(spirv) // 4}I", spirv), 5, []
    while at < len(words):
        count, op = words[at] >> 16, words[at] & 0xFFFF
        if op not in NAMES:
            kept.append(words[at:at + count] if op != ENTRY_POINT else words[at:at + 3])
        at += count
    return tuple(kept)


def dispatches(name):
    """(SPIR-V, counts, push constants, sizes of buffers) of each that differs, and how often it stands there."""
    codes, found = [], {}
    with open(os.path.join(MODELS, name + ".bin"), "rb") as file:
        data = file.read()
    with open(os.path.join(MODELS, name + ".txt")) as file:
        for words in (line.split() for line in file):
            if words[0] == "code":
                codes.append(data[int(words[1]):int(words[1]) + int(words[2])])
            elif words[0] == "dispatch":
                sizes = tuple(int(span.split(":")[2]) for span in words[7:])
                key = codes[int(words[1])], tuple(map(int, words[3:6])), words[6], sizes
                found[key] = found.get(key, 0) + 1
    return [(spirv_in(code), *rest) for code, *rest in found], list(found.values())


def manifest(counts, push, sizes):
    lines = [f"push u32 {struct.unpack('<I', bytes.fromhex(push[at:at + 8]))[0]}" for at in range(0, len(push), 8) if push != "-"]
    lines += [f"buf {i} 0 {i} ssbo {size} zero out" for i, size in enumerate(sizes)]
    return "\n".join(lines + [f"dispatch {' '.join(map(str, counts))}"]) + "\n"


def prepare(folder, names):
    """Kernels and manifests; [kernel, counts, how often] of each that no model before has."""
    rows = {}
    for name in names:
        for i, (one, times) in enumerate(zip(*dispatches(name))):
            spirv, counts, push, sizes = one
            row = rows.setdefault((without_names(spirv), counts, push, sizes), [f"{name}.{i}", counts, 0])
            row[2] += times
            if row[2] > times:
                continue
            with open(os.path.join(folder, row[0] + ".spv"), "wb") as file:
                file.write(spirv)
            with open(os.path.join(folder, row[0] + ".txt"), "w") as file:
                file.write(manifest(counts, push, sizes))
    with open(os.path.join(folder, "list"), "w") as file:
        file.write("".join(kernel + "\n" for kernel, _, _ in rows.values()))
    return list(rows.values())


def figures_of(records, counts):
    for record in records:
        if tuple(-(-a // b) for a, b in zip(record["grid"], record["local"])) == counts:
            return {"cycles": record["race"]["main"], "issue": record["counts"]["issue"]}
    return None


def text_at(path):
    if not os.path.exists(path):
        return ""
    with open(path, errors="replace") as file:
        return file.read()


def theirs(folder, kernel, counts):
    cells = text_at(os.path.join(folder, kernel + ".tsv")).rstrip("\n").split("\t")
    run = figures_of([json.loads(line) for line in text_at(os.path.join(folder, kernel + ".stats")).splitlines()], counts)
    if len(cells) < 6 or not run:
        return {"words": " ".join((text_at(os.path.join(folder, kernel + ".err")) + " ".join(cells[3:4])).split())[-160:]}
    static = dict(pair.split("=") for pair in cells[5].split(";") if pair)
    return dict(run, spills=int(static.get("Spills", 0)), fills=int(static.get("Fills", 0)))


def ours(out, folder, kernel, counts):
    agx, spirv = os.path.join(out, "bin", "agx"), os.path.join(folder, kernel + ".spv")
    compiled = json.loads(subprocess.run([agx, "compile", "--json", "-o", os.devnull, spirv], capture_output=True, text=True).stdout)[0]
    done = subprocess.run([agx, "run", "--device", "virtual:g13g", "--stats", "--json", spirv, "--manifest",
                           os.path.join(folder, kernel + ".txt")], capture_output=True, text=True,
                          env=dict(os.environ, AGX_DEBUG="nocache", AGX_VIRTUAL_TIMEOUT="4000000"))
    if done.returncode:
        raise SystemExit(f"{kernel}: {done.stderr.strip()}")
    return dict(figures_of(json.loads(done.stdout)["statistics"], counts), spills=compiled["spills"], fills=compiled["fills"])


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def report(rows, worst):
    raced = [row for row in rows if "issue" in row[3]]
    for _, kernel, ours_, theirs_ in sorted(raced, key=lambda row: -row[2]["cycles"] / row[3]["cycles"])[:worst]:
        print(f"{kernel:<28} executed {ours_['issue'] / theirs_['issue']:5.2f} ({ours_['issue']}/{theirs_['issue']})  cycles "
              f"{ours_['cycles'] / theirs_['cycles']:5.2f} ({ours_['cycles']:.0f}/{theirs_['cycles']:.0f})  spills "
              f"{ours_['spills']}/{theirs_['spills']} fills {ours_['fills']}/{theirs_['fills']}")
    for figure in "issue", "cycles":
        ratios = [row[2][figure] / row[3][figure] for row in raced]
        total = sum(row[0] * row[2][figure] for row in raced) / max(sum(row[0] * row[3][figure] for row in raced), 1)
        print(f"{figure}: geometric mean {mean(ratios):.3f} of {len(ratios)} kernels, worst {max(ratios, default=math.nan):.3f}, "
              f"above 1.05: {sum(ratio > 1.05 for ratio in ratios)}; of all dispatches together {total:.3f}")
    print("spills where Honeykrisp has none:", " ".join(row[1] for row in raced if row[2]["spills"] and not row[3]["spills"]) or "none")
    print("spills at all:", " ".join(row[1] for row in rows if row[2]["spills"]) or "none")
    for _, kernel, _, theirs_ in rows:
        if "issue" not in theirs_:
            print(f"{kernel}: Honeykrisp does not run it: {theirs_['words']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(TOP, "out"), help="the installed tree")
    parser.add_argument("--model", action="append", help="only recordings of which the name contains this")
    parser.add_argument("--worst", type=int, default=20, help="how many kernels to list")
    options = parser.parse_args()
    names = sorted(name[:-4] for name in os.listdir(MODELS) if name.endswith(".txt") and "bda" not in name)
    names = [name for name in names if any(part in name for part in options.model or [""])]
    with tempfile.TemporaryDirectory() as folder:
        kernels = prepare(folder, names)
        done = subprocess.run(["nice", os.path.join(TOP, "scripts", "mesa.sh"), "wide", folder], stdout=subprocess.DEVNULL,
                              env=dict(os.environ, OUT=options.out, RACE_BEST="1", WIDE_INSTRUCTIONS="4000000"))
        if done.returncode not in (0, 1):
            raise SystemExit("race: mesa.sh failed")
        report([(count, kernel, ours(options.out, folder, kernel, counts), theirs(folder, kernel, counts))
                for kernel, counts, count in kernels], options.worst)


if __name__ == "__main__":
    sys.exit(main())
