# SPDX-License-Identifier: MIT
"""Our compiler's figures for a kernel, with the launch that Honeykrisp had, and the comparison of
what both left in the output buffers.
"""
import hashlib
import json
import math
import os
import struct
import subprocess
import tempfile

import launch
import peer

INSTRUCTIONS = 4000000  # of a SIMD-group: twenty times Honeykrisp's limit
RUN_SECONDS = 120
# Of floats; what is further apart is a difference. Both may be far off where a kernel's sums cancel,
# so what is small beside the largest value of its chunk counts as equal.
TOLERANCE = {"f16": (3e-2, 1e-2), "f32": (2e-3, 1e-3), "f64": (1e-9, 1e-9)}
SMALLEST = {"f16": 2.0 ** -14, "f32": 2.0 ** -126, "f64": 2.0 ** -1022}  # what is below may be 0
# How causes begin that say nothing about the compiler.
OUTSIDE, RACES = "out of bounds: ", "threads race: "
THEIRS_RACE = RACES + "Honeykrisp's outputs differ with their order"
OURS_RACE = RACES + "our outputs differ with their order"
SEEDS = (1, 2, 3)  # orders
NO_STEP = "no end: a loop's step is the workgroup's size divided to 0"
INNOCENT = (OUTSIDE, RACES, NO_STEP)
LOCAL_ARRAY, ENDLESS = "stack offset", "more instructions than"
FORMATS = {"f16": ("e", 2), "f32": ("f", 4), "f64": ("d", 8)}


class Ours:
    def __init__(self, cache, out, best, peer_figures):
        self.peer = peer_figures
        self.kernels = os.path.join(cache, "kernels")
        self.peer_folder = os.path.join(cache, "peer")
        self.agx = os.path.join(out, "bin", "agx")
        self.best = best

    def measure(self, kernel, theirs):
        """All figures of one kernel; never raises for what the kernel does."""
        module = peer.module_of(self.kernels, kernel)
        result = self._compile(kernel, module)
        if "error" in result or not theirs or theirs["verdict"] != "ran":
            return result
        with tempfile.TemporaryDirectory(dir=peer.SCRATCH) as folder:
            result.update(self._run(kernel, module, theirs, folder))
        return result

    def _compile(self, kernel, module):
        command = [self.agx, "compile", "--json", "--best", str(self.best), "--entry", module.entry]
        for spec, value in sorted(launch.specialization(module).items()):
            command += ["--spec", f"{spec}={value}"]
        done = subprocess.run(command + [os.path.join(self.kernels, kernel + ".spv")],
                              capture_output=True, text=True)
        try:
            row = json.loads(done.stdout)[0]
        except (ValueError, IndexError):
            return {"error": f"CRASH: exit code {done.returncode}: {done.stderr.strip()[-200:]}"}
        if "error" in row:
            return {"error": row["error"]}
        return {"static": row["instructions"] + row["preamble_instructions"],
                "main_static": row["instructions"], "bytes": row["bytes"],
                "spills": row["spills"], "fills": row["fills"], "threads": row["threads"],
                "workgroup_threads": row["workgroup_threads"],
                "threadgroup_bytes": row["threadgroup_bytes"],
                "ms": row["compile_ms"]}

    def _launch(self, kernel, folder, debug, bounds, chaos=0):
        command = [self.agx, "run", "--device", "virtual:g13g", "--json", "--manifest",
                   os.path.join(folder, kernel + ".txt"), "--dump", folder]
        command += ["--bounds"] if bounds else ["--stats"]
        environment = dict(os.environ, AGX_DEBUG=debug, AGX_VIRTUAL_TIMEOUT=str(INSTRUCTIONS))
        if chaos:
            environment["AGX_VIRTUAL_CHAOS"] = str(chaos)
        try:
            return subprocess.run(command + [os.path.join(self.kernels, kernel + ".spv")],
                                  env=environment, capture_output=True, text=True,
                                  timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def _run(self, kernel, module, theirs, folder):
        with open(os.path.join(folder, kernel + ".txt"), "w") as file:
            file.write(launch.manifest(module, theirs["level"]))
        run, words = self._figures(self._launch(kernel, folder, "nocache", False))
        if not run:
            return {"failed": words, "cause": self._cause(kernel, module, theirs, folder, words)}
        words = self._compare(kernel, module, theirs, folder)
        if not words:
            return {"run": run}
        return {"run": run, "differs": words,
                "cause": self._cause(kernel, module, theirs, folder, words)}

    @staticmethod
    def _figures(done):
        """Modelled cycles, or None and what failed."""
        if done is None:
            return None, f"not done after {RUN_SECONDS} s"
        try:
            run = peer.figures_of(json.loads(done.stdout)["statistics"])
        except (ValueError, KeyError):
            return None, (done.stderr.strip() or f"exit code {done.returncode}")[-300:]
        if done.returncode or not run:
            return None, (done.stderr.strip() or "no dispatch was counted")[-300:]
        return run, ""

    def _cause(self, kernel, module, theirs, folder, words):
        """Why outputs may differ without a mistake of the compiler."""
        if LOCAL_ARRAY in words:
            return OUTSIDE + "an index beyond an array in a thread's own memory"
        if ENDLESS in words and launch.divides_to_nothing(module):
            return NO_STEP
        if self.peer.races(kernel):
            return THEIRS_RACE
        done = self._launch(kernel, folder, "nocache", True)
        if done is not None and done.returncode and "over the time" not in done.stderr and \
                ENDLESS not in done.stderr:
            return OUTSIDE + done.stderr.strip()[-160:]
        if self._races(kernel, folder):
            return OURS_RACE
        done = self._launch(kernel, folder, "noopt,nocache", False)
        if done is None or done.returncode:
            words = "" if done is None else done.stderr.strip()
            if LOCAL_ARRAY in words:
                return OUTSIDE + "an index beyond an array in a thread's own memory"
            return "unknown (unoptimised code fails)"
        if not self._compare(kernel, module, theirs, folder):
            return "OPTIMISER: unoptimised code agrees with Honeykrisp"
        return "unknown (unoptimised code differs from Honeykrisp, too)"

    def _races(self, kernel, folder):
        """Whether what our code leaves depends on the order of what nothing orders. Honeykrisp's may
        be the same in every order tried: its threads then need the same time in all of them."""
        left = set()
        for chaos in (0,) + SEEDS:
            done = self._launch(kernel, folder, "nocache", False, chaos)
            if done is not None and done.returncode == 0:
                left.add(digest(folder))
        return len(left) > 1

    def _compare(self, kernel, module, theirs, folder):
        """Empty when all outputs agree within the tolerance; else what differs."""
        kinds = launch.element_kinds(module)
        for number, wanted in theirs["outputs"].items():
            with open(os.path.join(folder, f"{kernel}.{number}.bin"), "rb") as file:
                got = file.read()
            if hashlib.sha256(got).hexdigest() == wanted:
                continue
            with open(os.path.join(self.peer_folder, f"{kernel}.{number}.z"), "rb") as file:
                packed = file.read()
            reference = peer.apply_changes(packed, got)
            if hashlib.sha256(reference).hexdigest() != wanted:
                return f"output {number}: places that Honeykrisp left alone were changed"
            words = difference(got, reference, kinds.get(int(number), "mixed"),
                               peer.changed_offsets(packed))
            if words:
                return f"output {number}: {words}"
        return ""


def close(kind, got, reference, is_certain):
    """Whether all values of a chunk agree, taken as that kind of float. Where that isn't certain,
    values that floats seldom have, such as small integers, must be equal."""
    letter, size = FORMATS[kind]
    count = len(got) // size
    relative, of_largest = TOLERANCE[kind]
    ours = struct.unpack(f"<{count}{letter}", got[:count * size])
    theirs = struct.unpack(f"<{count}{letter}", reference[:count * size])
    least = of_largest * max((abs(value) for value in theirs if math.isfinite(value) and
                              (is_certain or abs(value) < 2.0 ** 20)), default=0)
    least += SMALLEST[kind] if is_certain else 0
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if got[i * size:(i + 1) * size] == reference[i * size:(i + 1) * size]:
            continue
        if is_certain and (a == b or (math.isnan(a) and math.isnan(b))):
            continue
        if not math.isfinite(a) or not math.isfinite(b) or abs(a - b) > relative * abs(b) + least:
            return False
        if not is_certain and not 2.0 ** -12 < abs(b) < 2.0 ** 20:
            return False
    return True


def digest(folder):
    """Of all that a launch left in a folder."""
    result = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        if name.endswith(".bin"):
            with open(os.path.join(folder, name), "rb") as file:
                result.update(name.encode() + file.read())
    return result.hexdigest()


def difference(got, reference, kind, offsets):
    """Of integers each bit counts, but for words and structures that agree read as floats: programs
    keep floats in words, too."""
    is_certain = kind in FORMATS
    readings = [kind] if is_certain else ["f32", "f16"] if kind in ("mixed", "u32") else []
    bad = []
    for at in offsets:
        a, b = got[at:at + peer.CHUNK], reference[at:at + peer.CHUNK]
        if a != b and not any(close(reading, a, b, is_certain) for reading in readings):
            bad.append(at)
    if not bad:
        return ""
    at = next(at for at in range(bad[0], bad[0] + peer.CHUNK, 4)
              if got[at:at + 4] != reference[at:at + 4])
    ours, theirs = got[at:at + 4], reference[at:at + 4]
    return (f"{len(bad)} of {len(offsets)} changed chunks differ ({kind}), first at byte {at}: "
            f"{ours[::-1].hex()} ({struct.unpack('<f', ours)[0]:.6g}), Honeykrisp "
            f"{theirs[::-1].hex()} ({struct.unpack('<f', theirs)[0]:.6g})")
