# SPDX-License-Identifier: MIT
"""Changes other people's compute modules without changing what they mean, and compares results.

    python3 scripts/mutate [--mutants N] [--seed N] [--kernel NAME]... [--keep DIR] [--json FILE]

Modules and launches are those of scripts/wide (run that first). Each module is compiled optimised
and unoptimised, plain and robust, and runs on the virtual AGX, and so is each mutant; all must leave
the same bytes. What the file of --json holds already is not judged again, so a long run may be
stopped. Floats are never contracted here, since what is contracted depends on how code is written.
Needs spirv-dis, spirv-as and spirv-val. The exit code is 1 when something differs.
"""
import argparse
import collections
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "wide")]
import fetch  # noqa: E402
import launch  # noqa: E402
import mutations  # noqa: E402
import peer  # noqa: E402
from module import Unfit, disassembled, tool  # noqa: E402

MOST_BYTES = 400000
ZEROS = 59  # number of the buffer that mutations read
MODES = (("optimised", "nocache", ()), ("unoptimised", "noopt,nocache", ()),
         ("robust", "nocache", ("--robust", "clamp")),
         ("robust unoptimised", "noopt,nocache", ("--robust", "clamp")))
INSTRUCTIONS, RUN_SECONDS = 4000000, 120
SEEDS = (1, 2, 3)  # orders


def arguments():
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__.split("\n\n")[0])
    default = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                           "agxhal-wide")
    parser.add_argument("--cache", default=default, help="scripts/wide's folder; default %(default)s")
    parser.add_argument("--out", default=os.path.join(TOP, "out"), help="the installed tree")
    parser.add_argument("--mutants", type=int, default=5000, help="how many; default %(default)s")
    parser.add_argument("--per-kernel", type=int, default=2, help="mutants of each; default 2")
    parser.add_argument("--changes", type=int, default=16, help="of each mutant, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", action="append", help="only names that contain this")
    parser.add_argument("--only", action="append", help="only this mutation; may be repeated")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no kernel after so many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="kernels at a time")
    parser.add_argument("--keep", help="a folder for mutants that differ")
    parser.add_argument("--json", help="a file for what each kernel gave; goes on where it ends")
    return parser.parse_args()


def free_place(module):
    """Set and binding that nothing in the module has."""
    bindings = [binding for group, binding in module.resources() if group == 0]
    return 0, max(bindings, default=-1) + 1


def validate(module, data):
    tool(["spirv-val", "--target-env", "spv%d.%d" % module.version, "-"], data)


def mutant(data, place, options, seed):
    """The base module, changed; and names of the changes. Unfit where no try was valid."""
    for attempt in range(8):
        rng = random.Random(seed * 8 + attempt)
        module = disassembled(data)
        context = mutations.Context(module, rng, place)
        names = []
        wanted = [kind for kind in mutations.MUTATIONS
                  if not options.only or kind.__name__ in options.only]
        for _ in range(rng.randint(1, options.changes)):
            change = rng.choice(wanted)
            functions = [function for function in module.functions if function.blocks]
            if change(context, rng.choice(functions)):
                names.append(change.__name__)
        result = module.assembled(rng)
        try:
            validate(module, result)
            return result, names
        except Unfit as reason:
            words = str(reason)
            if options.only:
                print(f"mutate: {'+'.join(names)}: {words}", file=sys.stderr)
    raise Unfit(words)


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.agx = os.path.join(options.out, "bin", "agx")

    def run(self, name, data, manifest, mode, debug, flags, chaos=0):
        """A digest of what the kernel left, or words of what failed."""
        path = os.path.join(self.folder, f"{name}.{mode}")
        os.makedirs(path, exist_ok=True)
        for ending, content in ((".spv", data), (".txt", manifest.encode())):
            with open(os.path.join(path, name + ending), "wb") as file:
                file.write(content)
        start = os.path.join(path, name)
        environment = dict(os.environ, AGX_DEBUG=debug, AGX_VIRTUAL_TIMEOUT=str(INSTRUCTIONS))
        if chaos:
            environment["AGX_VIRTUAL_CHAOS"] = str(chaos)
        try:
            done = subprocess.run([self.agx, "run", "--device", "virtual:g13g", "--manifest",
                                   start + ".txt", "--dump", path, *flags, start + ".spv"],
                                  env=environment, capture_output=True, text=True,
                                  timeout=RUN_SECONDS)
            digest = hashlib.sha256()
            for file_name in sorted(os.listdir(path)):
                if done.returncode == 0 and file_name.endswith(".bin"):
                    with open(os.path.join(path, file_name), "rb") as file:
                        digest.update(file_name[len(name):].encode() + file.read())
            words = "" if done.returncode == 0 else \
                f"failed: {done.stderr.strip()[-200:] or done.returncode}"
        except subprocess.TimeoutExpired:
            words = f"failed: not done after {RUN_SECONDS} s"
        subprocess.run(["rm", "-rf", path])
        return words or digest.hexdigest()[:12]

    def races(self, name, data, manifest, wanted):
        """Whether another order of what nothing orders leaves other bytes: the launch means nothing."""
        return any(self.run(name, data, manifest, f"chaos{seed}", "nocache", (), seed) != wanted
                   for seed in SEEDS)

    def keep(self, name, data, manifest):
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            for ending, content in ((".spv", data), (".txt", manifest.encode())):
                with open(os.path.join(self.options.keep, name + ending), "wb") as file:
                    file.write(content)


def judge(runner, kernel, level, count):
    """What became of a kernel: {"verdict", "mutants": [...]}."""
    options = runner.options
    reflected = peer.module_of(os.path.join(options.cache, "kernels"), kernel)
    manifest = launch.manifest(reflected, level)
    with open(os.path.join(options.cache, "kernels", kernel + ".spv"), "rb") as file:
        data = file.read()
    if len(data) > MOST_BYTES:
        raise Unfit(f"{len(data)} bytes")
    base = disassembled(data)
    validate(base, base.assembled())
    base.forbid_contraction()
    base = base.assembled()
    bounds = runner.run(kernel, base, manifest, "bounds", "nocache", ("--bounds",))
    if bounds.startswith("failed"):
        return {"verdict": "undefined", "words": bounds}
    wanted = runner.run(kernel, base, manifest, *MODES[0])
    others = {mode[0]: runner.run(kernel, base, manifest, *mode) for mode in MODES[1:]}
    wrong = {mode: words for mode, words in others.items() if words != wanted}
    if wrong:
        if runner.races(kernel, base, manifest, wanted):
            return {"verdict": "races", "words": wrong}
        runner.keep(kernel, base, manifest)
        return {"verdict": "modes differ", "words": wrong}
    place = free_place(reflected)
    text = f"buf {ZEROS} {place[0]} {place[1]} ubo 256 zero\n" + manifest
    result = {"verdict": "judged", "mutants": []}
    for number in range(count):
        seed = options.seed * 1000003 + number + int(kernel.rsplit(".", 1)[1], 16)
        try:
            changed, names = mutant(base, place, options, seed)
        except Unfit as reason:
            result["mutants"].append({"verdict": "invalid", "words": str(reason)})
            continue
        wrong = {}
        for mode in MODES:
            words = runner.run(f"{kernel}.m{number}", changed, text, *mode)
            if words != wanted:
                wrong[mode[0]] = words
        if wrong and runner.races(kernel, base, manifest, wanted):
            return {"verdict": "races", "words": wrong}
        if wrong:
            runner.keep(f"{kernel}.m{number}", changed, text)
            runner.keep(kernel, base, manifest)
        result["mutants"].append({"verdict": "differs" if wrong else "agrees", "words": wrong,
                                  "changes": names})
    return result


def chosen(options):
    """(kernel, level) of what can be launched, families mixed."""
    rows = []
    for row in fetch.read_index(options.cache):
        path = os.path.join(options.cache, "peer", row["kernel"] + ".json")
        if options.kernel and not any(part in row["kernel"] for part in options.kernel):
            continue
        if os.path.exists(path):
            with open(path) as file:
                theirs = json.load(file)
            if theirs["verdict"] == "ran" and not theirs.get("races"):
                rows.append((row["kernel"], theirs["level"]))
    random.Random(options.seed).shuffle(rows)
    return rows


class Results:
    """What each kernel gave, counted, and kept in a file so that another run goes on."""

    def __init__(self, path):
        self.path, self.kernels, self.lock = path, {}, threading.Lock()
        self.counts, self.changes = collections.Counter(), collections.Counter()
        if path and os.path.exists(path):
            with open(path) as file:
                for kernel, result in json.load(file).items():
                    self.add(kernel, result)

    def add(self, kernel, result):
        with self.lock:
            self.kernels[kernel] = result
            self.counts[f"kernels {result['verdict']}"] += 1
            if result["verdict"] == "modes differ":
                print(f"{kernel}: {result['words']}", flush=True)
            for number, each in enumerate(result.get("mutants", ())):
                self.counts[each["verdict"]] += 1
                self.changes.update(each.get("changes", ()))
                if each["verdict"] == "differs":
                    print(f"{kernel}.m{number}: {each['words']} {each['changes']}", flush=True)

    def mutants(self):
        return self.counts["agrees"] + self.counts["differs"]

    def write(self):
        if self.path:
            with self.lock:
                with open(self.path + ".new", "w") as file:
                    json.dump(self.kernels, file, indent=1)
                os.rename(self.path + ".new", self.path)


def main():
    options, start = arguments(), time.monotonic()
    rows, results = chosen(options), Results(options.json)

    def one(row):
        if time.monotonic() - start > options.seconds or row[0] in results.kernels or \
                results.mutants() >= options.mutants:
            return
        try:
            result = judge(runner, *row, options.per_kernel)
        except (Unfit, UnicodeDecodeError) as reason:
            result = {"verdict": "unfit", "words": str(reason)}
        results.add(row[0], result)
        if len(results.kernels) % 20 == 0:
            results.write()
        if len(results.kernels) % 100 == 0:
            print(f"mutate: {len(results.kernels)} of {len(rows)}: {dict(results.counts)}",
                  file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=peer.SCRATCH) as folder:
        runner = Runner(options, folder)
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(one, rows))
    results.write()
    for name, count in sorted(results.counts.items()) + results.changes.most_common():
        print(f"{count:7d} {name}")
    return 1 if results.counts["differs"] or results.counts["kernels modes differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
