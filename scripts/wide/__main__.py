# SPDX-License-Identifier: MIT
"""Races our compiler against Mesa's Honeykrisp over other people's compute modules.

    python3 scripts/wide [--out DIR] [--family NAME]... [--kernel NAME]... [--limit N] [--json]

Modules come out of packages (fetch.py names them) into ~/.cache/agxhal-wide, or
$XDG_CACHE_HOME/agxhal-wide; each is launched by one rule (launch.py) on the virtual AGX, both
compilers' code with the same inputs and without robustness. Honeykrisp's figures are measured once
and kept (root, scripts/mesa.sh); ours are measured anew for each build. An interrupted run goes on.

The exit code is 1 when outputs differ, our code fails or our compiler crashes; missed targets are
shown, not fatal.
"""
import argparse
import hashlib
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fetch  # noqa: E402
import ours as ours_module  # noqa: E402
import peer as peer_module  # noqa: E402
import report  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEPT_BUILDS = 4


def arguments():
    parser = argparse.ArgumentParser(prog="wide", description=__doc__.split("\n\n")[0])
    default = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                           "agxhal-wide")
    parser.add_argument("--cache", default=default, help="the folder; default %(default)s")
    parser.add_argument("--out", default=os.path.join(TOP, "out"), help="the installed tree")
    parser.add_argument("--family", action="append", help="only this one; may be repeated")
    parser.add_argument("--kernel", action="append", help="only names that contain this")
    parser.add_argument("--limit", type=int, help="at most so many kernels of each family")
    parser.add_argument("--best", type=int, default=3, help="compilations to choose from")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="kernels at a time")
    parser.add_argument("--json", action="store_true", help="figures of all kernels, and sums")
    parser.add_argument("--no-fetch", action="store_true", help="race what is in the folder")
    parser.add_argument("--no-peer", action="store_true",
                        help="leave out what Honeykrisp has no figures for")
    return parser.parse_args()


def chosen(options):
    """Rows of the index that were asked for."""
    counts, rows = {}, []
    for row in fetch.read_index(options.cache):
        if options.family and row["family"] not in options.family:
            continue
        if options.kernel and not any(part in row["kernel"] for part in options.kernel):
            continue
        counts[row["family"]] = counts.get(row["family"], 0) + 1
        if not options.limit or counts[row["family"]] <= options.limit:
            rows.append(row)
    return rows


def build_folder(options):
    """Where figures of this build, measured by these scripts, lie; those of old ones go."""
    digest = hashlib.sha256()
    here = os.path.dirname(os.path.abspath(__file__))
    for path in [os.path.join(options.out, "bin/agx"),
                 os.path.join(options.out, "lib/libagxhal.so.0")] + \
            [os.path.join(here, name) for name in ("ours.py", "launch.py", "reflect.py")]:
        if os.path.exists(path):
            with open(path, "rb") as file:
                digest.update(file.read())
    parent = os.path.join(options.cache, "ours")
    folder = os.path.join(parent, digest.hexdigest()[:16])
    os.makedirs(folder, exist_ok=True)
    os.utime(folder)
    others = sorted((os.path.join(parent, name) for name in os.listdir(parent)),
                    key=os.path.getmtime, reverse=True)
    for old in others[KEPT_BUILDS:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def measure_ours(options, rows, peer):
    """(kernel, family, ours, theirs) of each."""
    folder = build_folder(options)
    ours = ours_module.Ours(options.cache, options.out, options.best, peer)
    done = [0]

    def one(row):
        kernel = row["kernel"]
        theirs = peer.load(kernel)
        path = os.path.join(folder, kernel + ".json")
        result, against = None, [theirs["verdict"], theirs.get("level"), theirs.get("outputs")]
        if os.path.exists(path):
            with open(path) as file:
                result = json.load(file)
        if not result or result["against"] != against:
            result = dict(ours.measure(kernel, theirs), against=against)
            with open(path + ".new", "w") as file:
                json.dump(result, file)
            os.rename(path + ".new", path)
        done[0] += 1
        if done[0] % 100 == 0:
            print(f"wide: ours: {done[0]} of {len(rows)}", file=sys.stderr, flush=True)
        return kernel, row["family"], result, theirs
    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, rows))


def main():
    options = arguments()
    if not os.path.exists(os.path.join(options.out, "bin", "agx")):
        raise SystemExit(f"wide: {options.out}/bin/agx is missing: make build")
    mesa = os.path.join(TOP, "scripts", "mesa.sh")
    os.makedirs(options.cache, exist_ok=True)
    if not options.no_fetch:
        fetch.fetch(options.cache, mesa, options.out, options.family)
    rows = chosen(options)
    if not rows:
        raise SystemExit("wide: no kernel has such a name")
    peer = peer_module.Peer(options.cache, mesa, options.out)
    if not options.no_peer:
        peer.measure([row["kernel"] for row in rows], options.jobs)
    rows = [row for row in rows if os.path.exists(peer.path(row["kernel"]))]
    results = measure_ours(options, rows, peer)
    if options.json:
        print(json.dumps({
            "kernels": [{"kernel": kernel, "family": family, "ours": ours, "honeykrisp": theirs}
                        for kernel, family, ours, theirs in results],
            "families": {family: report.summarize(some)
                         for family, some in report.families(results)},
            "all": report.summarize(results)}))
    else:
        report.print_all(results)
    return 1 if any(report.is_suspect(cause) for _, _, cause in report.wrong(results)) else 0


if __name__ == "__main__":
    sys.exit(main())
