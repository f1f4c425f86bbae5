#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Races our compiler against Mesa's Honeykrisp over the kernels of tests/corpus.

Both compilers' code runs on the virtual AGX with the same inputs. Modelled cycles, executed
instructions and met waits are counted there: `main` with the grid repeated until it fills the
chip, `total` with the preamble, on the kernel's own grid. Static figures of Honeykrisp come from
tests/corpus/honeykrisp.tsv, what it executed from tests/corpus/honeykrisp_run.tsv, or, with
--peer, both are measured now in the folder that scripts/mesa.sh sets up.

    race.py [--out DIR] [--peer | --peer-figures DIR] [--kernel NAME]... [--json] [--write-run FILE]

Code that is longer than Honeykrisp's, or takes longer to compile, counts in the means; where the
kernel's modelled cycles are lower, the worst kernel is another one, and a line of its own lists it.

The exit code is 1 when a kernel does not match its reference; missed targets are shown, not fatal
(--strict makes them so).
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(TOP, "tests", "corpus")

# name, heading, what it counts, target of the geometric mean (or of the sum), of the worst kernel
FIGURES = [
    ("main", "main", "modelled cycles, main, grid repeated", 0.75, 1.05),
    ("total", "total", "modelled cycles, preamble too, own grid", 0.45, None),
    ("issue", "executed", "instructions executed in main code", 0.80, None),
    ("static", "static", "static instructions, main + preamble", 0.60, 1.05),
    ("bytes", "bytes", "bytes of main code", 0.80, None),
    ("met", "waits", "waits that met an outstanding operation", 0.40, None),
    ("ms", "compile", "compile time, best of 25 (sums)", 0.50, 1.00),
]
GROWTH = ("static", "bytes", "ms")  # what a kernel may spend on cycles
RUN_COLUMNS = ["kernel", "main", "total", "issue", "met", "threads", "bound"]


def read_tsv(path, key="kernel"):
    with open(path, newline="") as file:
        return {row[key]: row for row in csv.DictReader(file, delimiter="\t")}


def kernels_of_corpus():
    with open(os.path.join(CORPUS, "tiers.tsv"), newline="") as file:
        return [row["kernel"] for row in csv.DictReader(file, delimiter="\t")]


def grid_of(kernel):
    with open(os.path.join(CORPUS, kernel + ".txt")) as file:
        for line in file:
            words = line.split()
            if words and words[0] == "dispatch":
                return [int(word) for word in words[1:4]]
    raise SystemExit(f"race: {kernel}.txt: no dispatch")


def executed(records, kernel):
    """The figures of the kernel's own dispatch: drivers add some, that copy images."""
    wanted = grid_of(kernel)
    for record in records:
        workgroups = [math.ceil(a / b) for a, b in zip(record["grid"], record["local"])]
        if workgroups == wanted:
            occupancy = record["race"]["occupancy"]
            return {"main": record["race"]["main"], "total": record["own"]["total"],
                    "issue": record["counts"]["issue"], "met": record["waits"]["met"],
                    "threads": occupancy * 32, "bound": record["race"]["bound"]}
    raise SystemExit(f"race: {kernel}: no dispatch of {wanted} workgroups was counted")


def run_ours(agx, kernel):
    """Figures of a run, or the words of what failed."""
    command = [agx, "run", "--device", "virtual:g13g", "--stats", "--json", f"{CORPUS}/{kernel}.spv",
               "--manifest", f"{CORPUS}/{kernel}.txt", "--check", f"{CORPUS}/ref"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return None, (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
    bad = [output for output in report["outputs"] if not output.get("matches")]
    if bad or done.returncode:
        words = bad[0].get("comparison", "") if bad else done.stderr.strip()
        return None, f"DIFFERS: {words}"
    return executed(report["statistics"], kernel), None


def compile_ours(agx, best):
    command = [agx, "bench", "--only", "compile", "--best", str(best), "--json", "--corpus", CORPUS]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return {row["kernel"]: row for row in json.loads(done.stdout)["kernels"]}
    except ValueError:
        raise SystemExit(f"race: {' '.join(command)}: {done.stderr.strip()}")


def measure_peer(folder, kernels):
    environment = dict(os.environ, MESA_KERNELS=" ".join(kernels))
    done = subprocess.run([os.path.join(TOP, "scripts", "mesa.sh"), "race", folder], env=environment)
    if done.returncode:
        raise SystemExit("race: Honeykrisp could not be measured (above)")


def peer_of_folder(folder, kernels):
    """What scripts/mesa.sh race left."""
    run, times = {}, {}
    with open(os.path.join(folder, "corpus.tsv")) as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            times[words[0]] = float(words[4])
    for kernel in kernels:
        path = os.path.join(folder, kernel + ".json")
        if os.path.exists(path):
            with open(path) as file:
                run[kernel] = executed([json.loads(line) for line in file], kernel)
    return run, times


def merge_ours(run, compiled):
    return {"main": run["main"], "total": run["total"], "issue": run["issue"], "met": run["met"],
            "threads": run["threads"], "bound": run["bound"],
            "static": compiled["instructions"] + compiled["preamble_instructions"],
            "bytes": compiled["bytes"], "ms": compiled["compile_ns"] / 1e6,
            "spills": compiled["spills"]}


def merge_peer(run, static, ms):
    return {"main": float(run["main"]), "total": float(run["total"]), "issue": float(run["issue"]),
            "met": float(run["met"]), "threads": float(run["threads"]), "bound": run["bound"],
            "static": float(static["instr_r0"]) + float(static["pre_instr_r0"]),
            "bytes": float(static["bytes_r0"]), "ms": ms, "spills": float(static["spills_r0"])}


def ratio(ours, theirs):
    """Both zero is a draw; nothing against something is none at all."""
    if theirs == 0:
        return 1.0 if ours == 0 else math.inf
    return ours / theirs


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def both_wait(rows):
    return [kernel for kernel, ours, theirs in rows if ours["met"] and theirs["met"]]


def bought_cycles(name, rows):
    """Kernels that have more of something than Honeykrisp's, and take fewer cycles."""
    return [kernel for kernel, ours, theirs in rows if name in GROWTH and
            ratio(ours[name], theirs[name]) > 1 and ratio(ours["main"], theirs["main"]) < 1]


def summarize(rows):
    """For each figure: value, target, worst kernel, whether both are met."""
    summary = {}
    for name, _, words, target, limit in FIGURES:
        ratios = {kernel: ratio(ours[name], theirs[name]) for kernel, ours, theirs in rows}
        if name == "ms":
            value = sum(row[1]["ms"] for row in rows) / sum(row[2]["ms"] for row in rows)
        elif name == "met":  # one kernel that never waits would make the whole mean 0
            value = geometric_mean([ratios[kernel] for kernel in both_wait(rows)] or [1.0])
        else:
            value = geometric_mean(list(ratios.values()))
        apart = bought_cycles(name, rows)
        worst = max([kernel for kernel in ratios if kernel not in apart] or ratios, key=ratios.get)
        met = value <= target and (limit is None or ratios[worst] <= limit)
        summary[name] = {"what": words, "value": value, "target": target, "worst": ratios[worst],
                         "worst_kernel": worst, "limit": limit, "met": met, "apart": apart}
    return summary


def fewer_threads(rows):
    return [kernel for kernel, ours, theirs in rows
            if ours["threads"] < theirs["threads"] and ours["main"] >= theirs["main"]]


def needless_spills(rows):
    return [kernel for kernel, ours, theirs in rows if ours["spills"] and not theirs["spills"]]


def print_table(rows, failures):
    print(f"{'kernel':<21}" + "".join(f"{heading:>9}" for _, heading, *_ in FIGURES) +
          f"{'cycles':>10}{'hk':>9}  bound by (hk)")
    for kernel, ours, theirs in rows:
        cells = "".join(f"{ratio(ours[name], theirs[name]):>9.2f}" for name, *_ in FIGURES)
        print(f"{kernel:<21}{cells}{ours['main']:>10.0f}{theirs['main']:>9.0f}  "
              f"{ours['bound']} ({theirs['bound']})")
    for kernel, words in failures:
        print(f"{kernel:<21} {words}")


def print_growth(rows):
    for name, heading, *_ in FIGURES:
        apart = bought_cycles(name, rows)
        words = [f"{kernel} {ratio(ours[name], theirs[name]):.2f} for cycles "
                 f"{ratio(ours['main'], theirs['main']):.2f}"
                 for kernel, ours, theirs in rows if kernel in apart]
        if words:
            print(f"       {heading}, growth that buys cycles: {', '.join(words)}")


def print_summary(rows, summary, failures):
    print(f"\nours / Honeykrisp over {len(rows)} kernels, geometric means; the worst kernel beside it")
    for entry in summary.values():
        limit = f" (at most {entry['limit']:.2f})" if entry["limit"] else ""
        print(f"  {'ok  ' if entry['met'] else 'MISS'} {entry['what']:<42} {entry['value']:5.2f}"
              f" of {entry['target']:.2f}   {entry['worst']:5.2f} {entry['worst_kernel']}{limit}")
    never = [kernel for kernel, ours, theirs in rows if theirs["met"] and not ours["met"]]
    print(f"       waits: the mean is over the {len(both_wait(rows))} kernels in which both wait; "
          f"only Honeykrisp's wait: {', '.join(never) or 'none'}")
    print_growth(rows)
    for words, kernels in (("fewer resident threads without a gain", fewer_threads(rows)),
                           ("spills where Honeykrisp has none", needless_spills(rows)),
                           ("not compiled or wrong", [kernel for kernel, _ in failures])):
        print(f"  {'MISS' if kernels else 'ok  '} {words}: {', '.join(kernels) or 'none'}")


def write_run(path, run):
    with open(path, "w") as file:
        file.write("\t".join(RUN_COLUMNS) + "\n")
        for kernel in sorted(run):
            cells = [f"{run[kernel][name]:.10g}" if isinstance(run[kernel][name], float)
                     else str(run[kernel][name]) for name in RUN_COLUMNS[1:]]
            file.write("\t".join([kernel] + cells) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", default=os.path.join(TOP, "out"), help="the installed tree")
    parser.add_argument("--peer", action="store_true", help="measure Honeykrisp now, too")
    parser.add_argument("--peer-figures", metavar="DIR", help="what `mesa.sh race DIR` left")
    parser.add_argument("--kernel", action="append", help="only this one; may be repeated")
    parser.add_argument("--best", type=int, default=25, help="compilations to choose from")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--strict", action="store_true", help="missed targets are failures")
    parser.add_argument("--write-run", metavar="FILE", help="keep Honeykrisp's executed figures")
    return parser.parse_args()


def peer_figures(options, kernels, static):
    if options.peer:
        with tempfile.TemporaryDirectory() as folder:
            measure_peer(folder, kernels)
            return peer_of_folder(folder, kernels)
    if options.peer_figures:
        return peer_of_folder(options.peer_figures, kernels)
    times = {kernel: float(row["best_ms_r0"]) for kernel, row in static.items()}
    return read_tsv(os.path.join(CORPUS, "honeykrisp_run.tsv")), times


def main():
    options = arguments()
    agx = os.path.join(options.out, "bin", "agx")
    if not os.path.exists(agx):
        raise SystemExit(f"race: {agx} is missing: make build")
    kernels = options.kernel or kernels_of_corpus()
    static = read_tsv(os.path.join(CORPUS, "honeykrisp.tsv"))
    run, times = peer_figures(options, kernels, static)
    if options.write_run:
        write_run(options.write_run, run)
    compiled = compile_ours(agx, options.best)
    rows, failures = [], []
    for kernel in kernels:
        figures, words = run_ours(agx, kernel)
        if figures and kernel in run and kernel in static:
            rows.append((kernel, merge_ours(figures, compiled[kernel]),
                         merge_peer(run[kernel], static[kernel], times[kernel])))
        else:
            failures.append((kernel, words or "Honeykrisp has no figures"))
    if not rows:
        raise SystemExit(f"race: no kernel could be compared: {failures[0]}")
    summary = summarize(rows)
    if options.json:
        print(json.dumps({"kernels": [{"kernel": k, "ours": o, "honeykrisp": t} for k, o, t in rows],
                          "failures": dict(failures), "summary": summary}))
    else:
        print_table(rows, failures)
        print_summary(rows, summary, failures)
    missed = not all(entry["met"] for entry in summary.values())
    return 1 if failures or (options.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
