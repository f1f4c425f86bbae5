#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes tests/iree/models: IREE's code for whole models, what its host code asks a device for, and what its own
CPU code computes.

    pip install iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 numpy     # into an environment of its own
    AGX_DEVICE=virtual python3 scripts/iree_models --tools FOLDER [--model NAME]... [--keep FOLDER]

FOLDER has IREE's iree-run-module and iree-dump-replay with our driver (docs/iree.md). Each model is compiled for the
CPU and run by the runtime of PyPI; then for each of its targets compiled and run on the device, where the results
must agree; then once more, recorded.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy

import nets
import replay

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.path.join(TOP, "tests", "iree", "models")
FLAGS = os.path.join(TOP, "src", "iree", "compile")
DTYPES = {"f32": numpy.float32, "f16": numpy.float16, "i8": numpy.int8, "i32": numpy.int32}
CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"]

# Target, how kernels get their buffers, models.
PLAIN, MATRIX, BDA = ([f"@{FLAGS}/{name}.flags"] for name in ("agx", "agx_matrix", "agx_bda"))
RDNA3, AMPERE = (["--iree-hal-target-device=vulkan", f"--iree-vulkan-target={name}"] for name in ("rdna3", "ampere"))
VARIANTS = [
    ("plain", PLAIN, list(nets.MODELS)),
    ("matrix", MATRIX, list(nets.MODELS)),
    ("rdna3", RDNA3, ["product_i8"]),
    ("bda", BDA, ["transformer", "perceptron", "reductions", "product_any_bf16"]),
    ("ampere_bda", AMPERE + ["--iree-vulkan-dispatch-abi=bda"], ["product_f16"]),
]
# Of the root of the mean square of a result: halves have 11 bits, bfloat16 in the kernels 24 as floats do, since only
# what goes in has 8.
TOLERANCES = {"transformer_f16": 4e-3, "attention_f16": 4e-3, "product_i8": 0}
TOLERANCE = 1e-4


class Model:
    def __init__(self, name, work):
        self.name, self.work = name, work
        self.net, text = nets.MODELS[name]()
        self.source = self.path("mlir")
        with open(self.source, "w") as file:
            file.write(text)
        self.contents = [nets.made_up(i + 1, kind, int(numpy.prod(shape)), scale, offset)
                         for i, (shape, kind, scale, offset) in enumerate(self.net.inputs)]
        self.sizes = dict(size for value, (shape, *_) in zip(self.net.arguments, self.net.inputs)
                          for size in zip(value.shape, shape))
        self.shapes = [[self.sizes.get(n, n) for n in value.shape] for value in self.net.results]
        self.flags = ["--function=main"]
        for i, ((shape, kind, *_), data) in enumerate(zip(self.net.inputs, self.contents)):
            self.flags.append(self.flag(i, shape, kind, data))
        for i, (shape, value) in enumerate(zip(self.shapes, self.net.results)):
            # Nothing that the model computes is expected to be the same as what stood there before.
            data = nets.made_up(1000 + i, "i32", int(numpy.prod(shape)) * nets.BITS[value.kind] // 32, 1 << 20, 0)
            self.contents.append(data)
            self.flags.append(self.flag(len(self.contents) - 1, shape, value.kind, data))

    def path(self, ending):
        return os.path.join(self.work, f"{self.name}.{ending}")

    def flag(self, i, shape, kind, data):
        with open(self.path(f"{i}.bin"), "wb") as file:
            file.write(data)
        return f"--input={''.join(f'{n}x' for n in shape)}{kind}=@{self.path(f'{i}.bin')}"

    def compile(self, variant, flags):
        subprocess.run(["iree-compile", *flags, self.source, "-o", self.path(variant + ".vmfb")], check=True)

    def run(self, tool, device, variant, *more):
        outputs = [self.path(f"{variant}.{i}.bin") for i in range(len(self.shapes))]
        done = subprocess.run([tool, f"--device={device}", f"--module={self.path(variant + '.vmfb')}", *self.flags, *more] +
                              [f"--output=@{path}" for path in outputs], capture_output=True, text=True)
        return done, outputs

    def results(self, tool, device, variant):
        done, outputs = self.run(tool, device, variant)
        if done.returncode:
            raise SystemExit(f"{self.name} {variant}: {done.stderr.strip()[:600]}")
        return [numpy.fromfile(path, DTYPES[value.kind]) for path, value in zip(outputs, self.net.results)]

    def compare(self, variant, wants, gots):
        worst = 0.0
        for i, (want, got) in enumerate(zip(wants, gots)):
            want, got = want.astype(numpy.float64), got.astype(numpy.float64)
            size = max(numpy.sqrt(numpy.mean(want ** 2)), 1e-30)
            worst = max(worst, float(numpy.max(numpy.abs(got - want)) / size))
            if not worst <= TOLERANCES.get(self.name, TOLERANCE):
                raise SystemExit(f"{self.name} {variant}: result {i} differs by {worst} of its size {size}")
        return worst

    def record(self, tools, variant):
        """IREE's copy of results to the host does not know the recorder's buffers, and ends the program; what it
        copies is computed and recorded by then."""
        path = self.path(variant + ".ireereplay")
        self.run(os.path.join(tools, "iree-run-module"), "agx", variant, f"--device_replay_output={path}")
        converter = replay.Converter(replay.Recording(os.path.join(tools, "iree-dump-replay"), path), self.contents)
        converter.convert()
        return converter

    def write(self, variant, converter):
        start = os.path.join(MODELS, f"{self.name}.{variant}")
        lines, at = [], 0
        with open(start + ".bin", "wb") as file:
            for code in converter.codes:
                lines.append(f"code {at} {len(code)}")
                at += file.write(code + bytes(-len(code) % 8))
        lines += [f"buffer {buffer} {converter.sizes[buffer]}" for buffer in sorted(converter.used)]
        for i, (shape, kind, scale, offset) in enumerate(self.net.inputs):
            lines.append(f"input {converter.arguments[i]} {kind} {i + 1} {int(numpy.prod(shape))} {scale!r} {offset!r}")
        lines += converter.lines
        for i, (shape, value) in enumerate(zip(self.shapes, self.net.results)):
            lines.append(f"result {converter.arguments[len(self.net.inputs) + i]} {value.kind} {int(numpy.prod(shape))} "
                         f"{TOLERANCES.get(self.name, TOLERANCE)!r} {self.name}.{i}.out")
        with open(start + ".txt", "w") as file:
            file.write("\n".join(lines) + "\n")


def make(model, tools):
    wheel = subprocess.run(["which", "iree-run-module"], check=True, capture_output=True, text=True).stdout.strip()
    model.compile("cpu", CPU)
    wants = model.results(wheel, "local-task", "cpu")
    for i, want in enumerate(wants):
        want.tofile(os.path.join(MODELS, f"{model.name}.{i}.out"))
    for variant, flags, names in VARIANTS:
        if model.name not in names:
            continue
        model.compile(variant, flags)
        worst = model.compare(variant, wants, model.results(os.path.join(tools, "iree-run-module"), "agx", variant))
        converter = model.record(tools, variant)
        model.write(variant, converter)
        dispatches = sum(line.startswith("dispatch") for line in converter.lines)
        print(f"{model.name} {variant}: {dispatches} dispatches, differs by {worst:.1e} at most", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, help="IREE's tools with our driver")
    parser.add_argument("--model", action="append", help="only this one; may be repeated")
    parser.add_argument("--keep", help="a folder for what is made on the way")
    options = parser.parse_args()
    os.makedirs(MODELS, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = options.keep or work
        os.makedirs(work, exist_ok=True)
        for name in options.model or nets.MODELS:
            make(Model(name, work), options.tools)


if __name__ == "__main__":
    sys.exit(main())
