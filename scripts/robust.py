#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What robustness costs: our code with it against our code without, over tests/corpus.

Each kernel runs on the virtual AGX, told its bounds, in the modes off, clamp and zero, and
must match its reference. Modelled cycles (main code, grid repeated until it fills the chip) and
executed instructions come from there, static ones (main + preamble, of the code that ran) from the
compiler. With --checked the program with checks runs even where its unchecked variant may
(docs/robustness.md).

    robust.py [--out DIR] [--kernel NAME]... [--checked] [--strict] [--json]

The exit code is 1 when a kernel does not match; missed targets are shown, and fatal with --strict.
"""
import argparse
import json
import math
import os
import subprocess
import sys

from race import CORPUS, TOP, executed, kernels_of_corpus, ratio

MODES = ["clamp", "zero"]
# name, heading, targets of the geometric means
FIGURES = [("issue", "executed", {"clamp": 1.08, "zero": 1.15}),
           ("static", "static", {"clamp": 1.08, "zero": 1.15}),
           ("main", "cycles", {"clamp": 1.05, "zero": 1.10})]


def run(agx, kernel, mode, checked):
    """Figures of a run, or the words of what failed."""
    command = [agx, "run", "--device", "virtual:g13g", "--stats", "--json", "--robust", mode,
               "--bounds", f"{CORPUS}/{kernel}.spv", "--manifest", f"{CORPUS}/{kernel}.txt",
               "--check", f"{CORPUS}/ref"]
    environment = dict(os.environ, AGX_DEBUG="checked") if checked else os.environ
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return None, (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
    if done.returncode or not all(output.get("matches") for output in report["outputs"]):
        return None, "DIFFERS " + done.stderr.strip()
    return executed(report["statistics"], kernel), None


def static_counts(agx, kernels, mode):
    """Instructions by kernel name; an unchecked variant is NAME.unchecked."""
    files = [f"{CORPUS}/{kernel}.spv" for kernel in kernels]
    command = [agx, "compile", "--stats", "--json", "--robust", mode] + files
    done = subprocess.run(command, capture_output=True, text=True)
    return {row["kernel"]: row["instructions"] + row["preamble_instructions"]
            for row in json.loads(done.stdout)}


def ran_unchecked(got, others):
    """By what was executed: as good as nothing more than without robustness."""
    return "off" not in others or got["issue"] <= 1.02 * others["off"]["issue"]


def measure(agx, kernels, checked):
    """Per kernel and mode the figures; and the kernels that failed, with words."""
    figures, failed = {}, {}
    counts = {mode: static_counts(agx, kernels, mode) for mode in ["off"] + MODES}
    for kernel in kernels:
        figures[kernel] = {}
        for mode in ["off"] + MODES:
            got, error = run(agx, kernel, mode, checked)
            if error:
                failed[f"{kernel} ({mode})"] = error
                continue
            # A kernel without an unchecked variant has its checks. Nobody says which of the two ran: the
            # unchecked one is taken for it if what was executed is what it is without robustness.
            unchecked = counts[mode].get(kernel + ".unchecked")
            is_unchecked = not checked and unchecked is not None and ran_unchecked(got, figures[kernel])
            got["static"] = unchecked if is_unchecked or mode == "off" and unchecked else counts[mode][kernel]
            figures[kernel][mode] = got
    return figures, failed


def summarize(figures):
    summary = {}
    for mode in MODES:
        for name, heading, targets in FIGURES:
            ratios = {kernel: ratio(of[mode][name], of["off"][name])
                      for kernel, of in figures.items() if mode in of and "off" in of}
            mean = math.exp(sum(math.log(value) for value in ratios.values()) / len(ratios))
            worst = max(ratios, key=ratios.get)
            summary[f"{mode} {heading}"] = {
                "mean": mean, "target": targets[mode], "worst": worst,
                "worst_ratio": ratios[worst], "met": mean <= targets[mode]}
    return summary


def show(figures, summary, checked):
    print("# kernel, then executed, static, cycles of clamp and of zero against off"
          + (", all checks" if checked else ""))
    same = 0
    for kernel, of in figures.items():
        if len(of) == 3:
            ratios = [ratio(of[mode][name], of["off"][name])
                      for mode in MODES for name, _, _ in FIGURES]
            if all(abs(value - 1) < 0.005 for value in ratios):
                same += 1
            else:
                print(f"{kernel:24}" + "".join(f"{value:7.2f}" for value in ratios))
    print(f"{same} kernels cost what they cost without")
    for name, of in summary.items():
        print(f"{name:16} {of['mean']:.3f}  target {of['target']:.2f} "
              f"{'ok' if of['met'] else 'MISSED'}  worst {of['worst']} {of['worst_ratio']:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.path.join(TOP, "out"))
    parser.add_argument("--kernel", action="append")
    parser.add_argument("--checked", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    agx = os.path.join(options.out, "bin", "agx")
    figures, failed = measure(agx, options.kernel or kernels_of_corpus(), options.checked)
    summary = summarize(figures)
    if options.json:
        print(json.dumps({"kernels": figures, "summary": summary, "failed": failed}, indent=1))
    else:
        show(figures, summary, options.checked)
    for kernel, words in failed.items():
        print(f"robust: {kernel}: {words}", file=sys.stderr)
    missed = options.strict and not all(of["met"] for of in summary.values())
    return 1 if failed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
