# SPDX-License-Identifier: MIT
"""Tables of the wide race: per family, the worst kernels, what is refused, wrong or without a launch.

A row is (kernel, family, ours, theirs), with the figures of ours.py and peer.py.
"""
import collections
import math
import re

import ours as ours_module

WORST = 20
SLOWER = 1.10
LANES, CORE_BYTES = 32, 60 * 1024  # docs/hw/performance.md, "occ"
# Differences that were looked at one by one, and say nothing about the compiler.
EXPLAINED = {
    "ggml.283502ce": "sums that cancel: lavapipe's differ from both",
    "taichi.c962dfa1": "sums that cancel: lavapipe's differ from both",
    "ffmpeg.3c7876af": "stores beyond the end of a buffer, by an address of the push constants",
    "ffmpeg.cbb42479": "stores beyond the end of a buffer, by an address of the push constants",
    "torchvulkan.492234d4": "shifts by 1023 and 1024 of 32 bits",
    "torchvulkan.c54d7f68": "iterations until sums cancel: ours solves the matrix to 1e-6",
    "computeml.ea1463c0": "indices beyond arrays of 8 in the memory of threads and workgroups",
}
EXPLAINED_MARK = "explained: "
ROUNDED = "a float goes through a half, which Honeykrisp and lavapipe leave out: -inf, not -1.7e38"
EXPLAINED.update((f"ggml.{digits}", ROUNDED) for digits in ("f78b3c31", "65d23a2e", "1795a79a"))
BY_ZERO = "integers divided by 0"
EXPLAINED.update((f"iree.elementwise_3072_{name}", BY_ZERO) for name in (
    "i32.1a49449c", "i32.7d19a849", "i8.e9a1435f", "i8.0c19a27b", "i64.74ced22b"))
# Targets over all and in each family.
TARGETS = {"cycles": (0.65, 0.80), "static": (0.60, 0.85), "spills": (1.0, 1.0),
           "fills": (1.0, 1.0), "ms": (0.30, None)}


def ratio(ours, theirs):
    """Both zero is a draw; nothing against something is none at all."""
    if theirs == 0:
        return 1.0 if ours == 0 else math.inf
    return ours / theirs


def geometric_mean(values):
    values = [value for value in values if 0 < value < math.inf]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def both_compiled(rows):
    return [row for row in rows if "error" not in row[2] and row[3].get("static")]


def both_ran(rows):
    return [row for row in rows if "run" in row[2] and row[3].get("run")]


def their_static(theirs):
    return theirs["static"]["Instructions"] + theirs["static"]["Preamble instructions"]


def cycles_ratio(row):
    return ratio(row[2]["run"]["main"], row[3]["run"]["main"])


def static_ratio(row):
    return ratio(row[2]["static"], their_static(row[3]))


def in_whole_workgroups(ours, threads):
    """Of the threads that registers allow, those of workgroups for which a core has room."""
    groups = max(-(-ours["workgroup_threads"] // LANES), 1)
    workgroups = threads // LANES // groups
    if ours["threadgroup_bytes"]:
        workgroups = min(workgroups, CORE_BYTES // ours["threadgroup_bytes"])
    return max(workgroups, 1) * groups * LANES


def threads_of(row):
    """Resident threads, ours and Honeykrisp's, in whole workgroups, as the model and race.py count
    them: of the launch, or by registers and the declared workgroup where one of both didn't run."""
    _, _, ours, theirs = row
    if ours.get("run") and theirs.get("run"):
        return ours["run"]["threads"], theirs["run"]["threads"]
    return (in_whole_workgroups(ours, ours["threads"]),
            in_whole_workgroups(ours, theirs["static"]["Threads"]))


def fewer_threads(rows):
    """Kernels that keep fewer threads resident than Honeykrisp's, without being quicker."""
    fewer = [row for row in both_compiled(rows) if ratio(*threads_of(row)) < 1]
    return [row for row in fewer
            if not (row[2].get("run") and row[3].get("run") and cycles_ratio(row) < 1)]


def summarize(rows):
    """The figures of some rows."""
    compiled, ran = both_compiled(rows), both_ran(rows)
    slower = [row for row in ran if cycles_ratio(row) > SLOWER]
    return {
        "modules": len(rows), "compiled": len(compiled), "ran": len(ran),
        "cycles": geometric_mean([cycles_ratio(row) for row in ran]),
        "total": geometric_mean([ratio(row[2]["run"]["total"], row[3]["run"]["total"])
                                 for row in ran]),
        "issue": geometric_mean([ratio(row[2]["run"]["issue"], row[3]["run"]["issue"])
                                 for row in ran]),
        "static": geometric_mean([static_ratio(row) for row in compiled]),
        "grown": sum(static_ratio(row) > 1 and cycles_ratio(row) < 1 for row in ran),
        "spills": sum(row[2]["spills"] for row in compiled),
        "their_spills": sum(row[3]["static"]["Spills"] for row in compiled),
        "fills": sum(row[2]["fills"] for row in compiled),
        "their_fills": sum(row[3]["static"]["Fills"] for row in compiled),
        "ms": ratio(sum(row[2]["ms"] for row in compiled), sum(row[3]["ms"] for row in compiled)),
        "fewer_threads": len(fewer_threads(rows)),
        "slower": len(slower), "slower_share": len(slower) / len(ran) if ran else 0,
    }


def families(rows):
    grouped = collections.defaultdict(list)
    for row in rows:
        grouped[row[1]].append(row)
    return sorted(grouped.items(), key=lambda item: -len(item[1]))


def refused(rows):
    """(kernel, words, whether Honeykrisp takes it) of what we don't compile."""
    return [(kernel, ours["error"], bool(theirs.get("static")))
            for kernel, _, ours, theirs in rows if "error" in ours]


def wrong(rows):
    """Kernels whose outputs differ, or that fail where Honeykrisp's don't; (kernel, words, cause)."""
    found = []
    for kernel, _, ours, _ in rows:
        if "differs" in ours:
            found.append((kernel, ours["differs"], ours["cause"]))
        elif "failed" in ours:
            found.append((kernel, ours["failed"], "our launch fails; " + ours["cause"]))
        elif ours.get("error", "").startswith("CRASH"):
            found.append((kernel, ours["error"], "our compiler crashes"))
    return [(kernel, words, EXPLAINED_MARK + EXPLAINED[kernel] if kernel in EXPLAINED else cause)
            for kernel, words, cause in found]


def is_suspect(cause):
    """Where the launch leaves its buffers, or its threads race, results aren't comparable."""
    return not any(innocent in cause for innocent in ours_module.INNOCENT + (EXPLAINED_MARK,))


def print_families(rows, out):
    out(f"{'family':<13}{'modules':>8}{'compiled':>9}{'launched':>9}{'cycles':>8}{'total':>7}"
        f"{'executed':>9}{'static':>8}{'grown*':>7}{'spills (hk)':>15}{'fills (hk)':>15}"
        f"{'compile':>8}{'threads-':>9}{'>1.10':>7}")
    for name, some in families(rows) + [("all", rows)]:
        figures = summarize(some)
        out(f"{name:<13}{figures['modules']:>8}{figures['compiled']:>9}{figures['ran']:>9}"
            f"{figures['cycles']:>8.2f}{figures['total']:>7.2f}{figures['issue']:>9.2f}"
            f"{figures['static']:>8.2f}{figures['grown']:>7}"
            f"{figures['spills']:>7} {'(%d)' % figures['their_spills']:>7}"
            f"{figures['fills']:>7} {'(%d)' % figures['their_fills']:>7}{figures['ms']:>8.2f}"
            f"{figures['fewer_threads']:>9}{figures['slower_share']:>7.1%}")
    out("* static code longer than Honeykrisp's, modelled cycles lower. threads-: fewer resident "
        "than Honeykrisp's without lower cycles")


def print_worst(rows, out):
    def line(row):
        kernel, _, ours, theirs = row
        static, threads = theirs["static"], threads_of(row)
        run, their_run = ours.get("run"), theirs.get("run")
        cycles = f"{cycles_ratio(row):>8.2f}{run['main']:>11.0f}{their_run['main']:>11.0f}" \
            if run and their_run else f"{'-':>8}{'-':>11}{'-':>11}"
        bound = f"{run['bound']} ({their_run['bound']})" if run and their_run else "-"
        out(f"{kernel:<44.44}{cycles}{static_ratio(row):>8.2f}{ours['static']:>7}"
            f"{their_static(theirs):>7}{ours['spills']:>6}/{static['Spills']:<5}"
            f"{ours['fills']:>6}/{static['Fills']:<5}{threads[0]:>6}/{threads[1]:<5}"
            f" {bound}")
    heading = f"{'':<44}{'cycles':>8}{'ours':>11}{'hk':>11}{'static':>8}{'ours':>7}{'hk':>7}" \
              f"{'spills/hk':>12}{'fills/hk':>12}{'threads/hk':>12}  bound by (hk)"
    out(f"\nThe worst {WORST} by modelled cycles")
    out(heading)
    for row in sorted(both_ran(rows), key=cycles_ratio, reverse=True)[:WORST]:
        line(row)
    out(f"\nThe worst {WORST} by static instructions")
    out(heading)
    for row in sorted(both_compiled(rows), key=static_ratio, reverse=True)[:WORST]:
        line(row)
    fewer = sorted(fewer_threads(rows), key=lambda row: ratio(*threads_of(row)))
    out(f"\nThe {min(WORST, len(fewer))} worst of {len(fewer)} with fewer threads without a gain")
    out(heading)
    for row in fewer[:WORST]:
        line(row)


def print_refused(rows, out):
    """By family and words; a kernel of each as an example."""
    grouped = collections.defaultdict(list)
    for kernel, words, taken in refused(rows):
        words = re.sub(r"^.*?opcode \d+ \(\w+\): ", "", words)
        grouped[taken, kernel.split(".")[0], words].append(kernel)
    for wanted, heading in ((True, "refused by us, taken by Honeykrisp"), (False, "refused by both")):
        some = {key: kernels for key, kernels in grouped.items() if key[0] == wanted}
        out(f"\n{sum(map(len, some.values()))} {heading}")
        for (_, family, words), kernels in sorted(some.items(), key=lambda item: -len(item[1])):
            out(f"{len(kernels):>5} {family}: {words[:150]} ({kernels[0]})")
    only = [kernel for kernel, _, ours, theirs in rows if "error" not in ours and
            theirs["verdict"] == "refused"]
    out(f"\n{len(only)} refused or not survived by Honeykrisp alone: {' '.join(only[:8])}")


def print_unlaunched(rows, out):
    reasons = collections.Counter()
    for kernel, family, ours, theirs in rows:
        if theirs["verdict"] == "unsettled":
            words = re.sub(r"\d+", "N", theirs["words"])[:90]
            reasons[family, "no level ends without a fault: " + words] += 1
        elif theirs["verdict"] in ("compiled", "unread"):
            reasons[family, re.sub(r" at \d+\.\d+", "", theirs.get("unlaunched", theirs["words"]))] += 1
    out(f"\n{sum(reasons.values())} not launched, by static figures alone")
    for (family, words), count in reasons.most_common(30):
        out(f"{count:>5} {family}: {words}")


def print_wrong(rows, out):
    found = wrong(rows)
    suspects = [item for item in found if is_suspect(item[2])]
    out(f"\n{len(suspects)} with other outputs than Honeykrisp's, or failing")
    for kernel, words, cause in sorted(suspects, key=lambda item: item[2]):
        out(f"  {kernel}: {words}; {cause}")
    rest = [item for item in found if not is_suspect(item[2])]
    out(f"\n{len(rest)} with other outputs whose launch leaves its buffers, races, or is explained "
        "(not counted)")
    for kernel, words, cause in rest:
        out(f"  {kernel}: {words[:120]}; {cause[:80]}")


def print_verdict(rows, out):
    """Against the targets."""
    out("")
    everything = summarize(rows)
    for name, words in (("cycles", "modelled cycles"), ("static", "static instructions")):
        over_all, each = TARGETS[name]
        out(f"{'ok  ' if everything[name] <= over_all else 'MISS'} {words} {everything[name]:.2f} of "
            f"{over_all:.2f}")
        missed = [(family, summarize(some)[name]) for family, some in families(rows)]
        missed = [f"{family} {value:.2f}" for family, value in missed if value > each]
        out(f"{'MISS' if missed else 'ok  '} {words}, each family {each:.2f}: "
            f"{', '.join(missed) or 'all'}")
    for name in ("spills", "fills"):
        missed = [f"{family} {figures[name]} ({figures['their_' + name]})"
                  for family, figures in ((f, summarize(s)) for f, s in families(rows))
                  if figures[name] > figures["their_" + name]]
        out(f"{'MISS' if missed else 'ok  '} {name} at most Honeykrisp's: {', '.join(missed) or 'all'}")
    out(f"{'ok  ' if everything['ms'] <= 0.30 else 'MISS'} compile time {everything['ms']:.2f} of 0.30")
    out(f"{'MISS' if everything['fewer_threads'] else 'ok  '} fewer threads without a gain: "
        f"{everything['fewer_threads']}")
    out(f"{'ok  ' if everything['slower_share'] <= 0.01 else 'MISS'} kernels above {SLOWER:.2f}: "
        f"{everything['slower']} of {everything['ran']} ({everything['slower_share']:.1%} of 1 %)")


def print_all(rows, out=print):
    print_families(rows, out)
    print_worst(rows, out)
    print_refused(rows, out)
    print_unlaunched(rows, out)
    print_wrong(rows, out)
    print_verdict(rows, out)
