# SPDX-License-Identifier: MIT
"""Honeykrisp's figures for each kernel, which don't change: measured once, kept in the folder.

peer/KERNEL.json holds the level of the launch (launch.py), static figures, modelled cycles and
hashes of the outputs; peer/KERNEL.ID.z what the launch changed in output ID. scripts/mesa.sh runs
batches of kernels; whatever a level does not settle goes on with the next one.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import launch
import reflect
import spirv

BATCH = 16
CHUNK = 256
SCRATCH = "/dev/shm" if os.path.isdir("/dev/shm") else None


def module_of(kernels, kernel):
    with open(os.path.join(kernels, kernel + ".spv"), "rb") as file:
        return reflect.Module(spirv.words_of(file.read()))


def text_at(path):
    if not os.path.exists(path):
        return ""
    with open(path, errors="replace") as file:
        return file.read()


def figures_of(records):
    """Modelled cycles of the dispatch: drivers add some of their own."""
    for record in records:
        workgroups = [-(-a // b) for a, b in zip(record["grid"], record["local"])]
        if tuple(workgroups) == launch.GRID:
            race = record["race"]
            return {"main": race["main"], "total": record["own"]["total"],
                    "issue": record["counts"]["issue"], "met": record["waits"]["met"],
                    "threads": race["occupancy"] * 32, "bound": race["bound"]}
    return None


def changes(before, after):
    """Chunks that differ, as bytes: count, then offset and content of each."""
    parts = []
    for at in range(0, len(after), CHUNK):
        if before[at:at + CHUNK] != after[at:at + CHUNK]:
            parts.append(at.to_bytes(4, "little") + after[at:at + CHUNK].ljust(CHUNK, b"\0"))
    return zlib.compress(b"".join(parts), 1)


def apply_changes(packed, data):
    """The buffer as Honeykrisp left it, given one that is the same elsewhere."""
    parts, result = zlib.decompress(packed), bytearray(data)
    for at in range(0, len(parts), CHUNK + 4):
        offset = int.from_bytes(parts[at:at + 4], "little")
        end = min(offset + CHUNK, len(result))
        result[offset:end] = parts[at + 4:at + 4 + end - offset]
    return bytes(result)


def changed_offsets(packed):
    parts = zlib.decompress(packed)
    return [int.from_bytes(parts[at:at + 4], "little") for at in range(0, len(parts), CHUNK + 4)]


class Peer:
    def __init__(self, cache, mesa, out):
        self.cache, self.mesa, self.out = cache, mesa, out
        self.kernels = os.path.join(cache, "kernels")
        self.folder = os.path.join(cache, "peer")
        os.makedirs(self.folder, exist_ok=True)
        self.done, self.runner = 0, None

    def path(self, kernel):
        return os.path.join(self.folder, kernel + ".json")

    def load(self, kernel):
        text = text_at(self.path(kernel))
        return json.loads(text) if text else None

    def _write(self, kernel, result):
        with open(self.path(kernel) + ".new", "w") as file:
            json.dump(result, file)
        os.rename(self.path(kernel) + ".new", self.path(kernel))

    def measure(self, kernels, jobs):
        """Completes the folder for these kernels."""
        left = [kernel for kernel in kernels if not self._is_measured(kernel)]
        if not left:
            return
        print(f"wide: Honeykrisp: {len(left)} kernels to measure", file=sys.stderr, flush=True)
        batches = [left[at:at + BATCH] for at in range(0, len(left), BATCH)]
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder, ThreadPoolExecutor(jobs) as pool:
            self.runner = os.path.join(folder, "vkcorpus")  # built by the first batch
            for count in pool.map(self._settle, batches):
                self.done += count
                print(f"wide: Honeykrisp: {self.done} of {len(left)}", file=sys.stderr, flush=True)

    def _is_measured(self, kernel):
        """Unless an earlier rule had no launch for it, and today's has one."""
        result = self.load(kernel)
        if not result or "unlaunched" not in result:
            return bool(result)
        try:
            launch.manifest(module_of(self.kernels, kernel), 1)
        except reflect.Unsupported:
            return True
        return False

    def _settle(self, batch):
        """All levels for a batch."""
        waiting, layouts = [], {}
        for kernel in batch:
            try:
                launch.manifest(module_of(self.kernels, kernel), 1)
                waiting.append(kernel)
            except reflect.Unsupported as reason:
                layouts[kernel] = str(reason)
            except (KeyError, IndexError, spirv.NotSpirv) as error:
                self._write(kernel, {"verdict": "unread", "words": f"reflection: {error!r}"})
        times = {}
        for level in launch.LEVELS:
            if waiting:
                waiting = self._run(waiting, level, times, {})
        if layouts:
            self._run(list(layouts), None, times, layouts)
        return len(batch)

    def _run(self, kernels, level, times, reasons):
        """Runs the batch at a level and writes what came of it; those for which another level must
        be tried. times: compile times, which the first level has."""
        again = []
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            for kernel in kernels:
                self._prepare(folder, kernel, level)
            with open(os.path.join(folder, "list"), "w") as file:
                file.write("".join(kernel + "\n" for kernel in kernels))
            if os.path.exists(self.runner):
                shutil.copy(self.runner, os.path.join(folder, "vkcorpus"))
            environment = dict(os.environ, OUT=self.out, RACE_BEST="3" if set(kernels) - set(times) else "1")
            done = subprocess.run(["nice", "-n", "19", self.mesa, "wide", folder],
                                  env=environment, capture_output=True, text=True)
            if done.returncode not in (0, 1) or "mesa.sh:" in done.stderr:
                raise SystemExit(f"wide: {self.mesa} wide: {done.stderr.strip()[-400:]}")
            if not os.path.exists(self.runner):
                new = os.path.join(folder, "runner")
                shutil.copy(os.path.join(folder, "vkcorpus"), new)
                os.rename(new, self.runner)
            for kernel in kernels:
                result = self._result(folder, kernel, level)
                if "ms" in result:
                    result["ms"] = times.setdefault(kernel, result["ms"])
                if kernel in reasons:
                    result["unlaunched"] = reasons[kernel]
                if self._goes_on(kernel, result):
                    again.append(kernel)
        return again

    def _goes_on(self, kernel, result):
        """Keeps the result, unless an earlier level's is better; True: try another level."""
        earlier = self.load(kernel)
        if not (earlier and earlier["verdict"] == "ran" and not result.get("changed")):
            self._keep_outputs(kernel, result)
            self._write(kernel, result)
        if result["verdict"] == "ran":
            return not result["changed"]
        return result["verdict"] == "unsettled" and bool(result["level"])

    def races(self, kernel):
        """Whether Honeykrisp's own outputs differ when everything that nothing orders happens in
        another order: the launch has threads that race, so its outputs mean nothing. Kept; needs
        root, and tells nothing without."""
        result = self.load(kernel)
        if "races" in result or os.geteuid() != 0:
            return result.get("races", False)
        result["races"] = any(self._outputs_in_chaos(kernel, result["level"], seed) !=
                              result["outputs"] for seed in (1, 2))
        self._write(kernel, result)
        return result["races"]

    def _outputs_in_chaos(self, kernel, level, seed):
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            self._prepare(folder, kernel, level)
            with open(os.path.join(folder, "list"), "w") as file:
                file.write(kernel + "\n")
            environment = dict(os.environ, OUT=self.out, RACE_BEST="1", WIDE_CHAOS=str(seed))
            subprocess.run([self.mesa, "wide", folder], env=environment, capture_output=True)
            return self._outputs(folder, kernel)[0]

    def _prepare(self, folder, kernel, level):
        module = module_of(self.kernels, kernel)
        text = launch.manifest(module, level) if level else launch.layout(module)
        with open(os.path.join(folder, kernel + ".txt"), "w") as file:
            file.write(text)
        shutil.copy(os.path.join(self.kernels, kernel + ".spv"), folder)

    def _result(self, folder, kernel, level):
        """verdict: ran; compiled (no launch was wanted); refused (no pipeline); unsettled (the
        launch doesn't end or faults)."""
        start = os.path.join(folder, kernel)
        cells = text_at(start + ".tsv").rstrip("\n").split("\t")
        complaint = " ".join(line for line in text_at(start + ".err").splitlines()
                             if line.startswith("agx virtual:"))
        if len(cells) < 6:
            return {"verdict": "refused", "words": text_at(start + ".err").strip()[-300:]}
        static = dict(pair.split("=") for pair in cells[5].split(";") if pair)
        result = {"words": cells[3] or complaint, "level": level, "ms": float(cells[4]),
                  "static": {name: int(value) for name, value in static.items()}}
        if not static:
            late = cells[3].startswith("not done after")
            result["verdict"] = "unsettled" if late else "refused"
        elif cells[1] == "compiled":
            result["verdict"] = "compiled"
        elif cells[1] == "ran" and not complaint:
            result["verdict"] = "ran"
            records = [json.loads(line) for line in text_at(start + ".stats").splitlines()]
            result["run"] = figures_of(records)
            result["outputs"], result["packed"] = self._outputs(folder, kernel)
            result["changed"] = any(map(changed_offsets, result["packed"].values()))
        else:
            result["verdict"] = "unsettled"
        return result

    @staticmethod
    def _outputs(folder, kernel):
        """Hashes of the outputs, and what the launch changed in each."""
        hashes, packed = {}, {}
        for name in sorted(os.listdir(folder)):
            if not (name.startswith(kernel + ".") and name.endswith(".before")):
                continue
            number = name.split(".")[-2]
            with open(os.path.join(folder, name), "rb") as file:
                before = file.read()
            with open(os.path.join(folder, f"{kernel}.{number}.bin"), "rb") as file:
                after = file.read()
            hashes[number] = hashlib.sha256(after).hexdigest()
            packed[number] = changes(before, after)
        return hashes, packed

    def _keep_outputs(self, kernel, result):
        for number, packed in result.pop("packed", {}).items():
            with open(os.path.join(self.folder, f"{kernel}.{number}.z"), "wb") as file:
                file.write(packed)
