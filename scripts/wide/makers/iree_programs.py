# SPDX-License-Identifier: MIT
"""Compiles small programs, written here in MLIR's linalg, with IREE for Vulkan.

usage: iree_programs.py FIRST LAST (numbers of programs; beyond the last one: exit code 3)

The folder that AGX_MODULES names gets the SPIR-V of every dispatch.
"""
import os
import subprocess
import sys
import tempfile

import iree.compiler

TARGETS = ("valhall4", "rdna3", "ampere")
MATH = ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "floor", "ceil", "absf", "atan",
        "log1p", "expm1", "exp2")
ARITHMETIC = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf")
INTEGER = ("addi", "subi", "muli", "divsi", "remui", "andi", "xori", "shli", "maxsi", "minui")


def tensor(shape, kind):
    return "tensor<" + "x".join(map(str, shape)) + "x" + kind + ">"


def generic(name, shape, kind, body, inputs):
    """An elementwise function."""
    kind_of = tensor(shape, kind)
    letters = ", ".join(f"d{i}" for i in range(len(shape)))
    maps = ", ".join([f"affine_map<({letters}) -> ({letters})>"] * (inputs + 1))
    loops = ", ".join(['"parallel"'] * len(shape))
    arguments = ", ".join(f"%a{i}: {kind_of}" for i in range(inputs))
    values = ", ".join(f"%a{i}" for i in range(inputs))
    scalars = ", ".join(f"%s{i}: {kind}" for i in range(inputs))
    return f"""func.func @{name}({arguments}) -> {kind_of} {{
  %e = tensor.empty() : {kind_of}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}
      ins({values} : {", ".join([kind_of] * inputs)}) outs(%e : {kind_of}) {{
    ^bb0({scalars}, %o: {kind}):
{body}
      linalg.yield %y : {kind}
  }} -> {kind_of}
  return %r : {kind_of}
}}"""


def named(op, shapes, out, kinds, extra="", name="f", zero=True):
    """A function with one named operation of linalg."""
    *input_kinds, out_kind = kinds
    types = [tensor(shape, kind) for shape, kind in zip(shapes, input_kinds)]
    result = tensor(out, out_kind)
    value = "0.0" if out_kind[0] in "fb" else "0"
    arguments = ", ".join(f"%a{i}: {text}" for i, text in enumerate(types))
    start = f"""  %z = arith.constant {value} : {out_kind}
  %i = linalg.fill ins(%z : {out_kind}) outs(%e : {result}) -> {result}""" if zero else \
        "  %i = tensor.empty() : " + result
    return f"""func.func @{name}({arguments}) -> {result} {{
  %e = tensor.empty() : {result}
{start}
  %r = linalg.{op} {extra} ins({", ".join(f"%a{i}" for i in range(len(types)))} :
      {", ".join(types)}) outs(%i : {result}) -> {result}
  return %r : {result}
}}"""


def reduction(kind, combine, start, shape, axis):
    rest = [size for i, size in enumerate(shape) if i != axis]
    return f"""func.func @f(%a: {tensor(shape, kind)}) -> {tensor(rest, kind)} {{
  %z = arith.constant {start} : {kind}
  %e = tensor.empty() : {tensor(rest, kind)}
  %i = linalg.fill ins(%z : {kind}) outs(%e : {tensor(rest, kind)}) -> {tensor(rest, kind)}
  %r = linalg.reduce {{ arith.{combine} }} ins(%a : {tensor(shape, kind)})
      outs(%i : {tensor(rest, kind)}) dimensions = [{axis}]
  return %r : {tensor(rest, kind)}
}}"""


def programs():
    for op in MATH:
        for kind in ("f32", "f16"):
            yield generic("f", [64, 100], kind, f"      %y = math.{op} %s0 : {kind}", 1)
    for op in ARITHMETIC:
        for kind, shape in (("f32", [4096]), ("f16", [33, 65])):
            yield generic("f", shape, kind, f"      %y = arith.{op} %s0, %s1 : {kind}", 2)
    for op in INTEGER:
        for kind in ("i32", "i8", "i64"):
            yield generic("f", [48, 64], kind, f"      %y = arith.{op} %s0, %s1 : {kind}", 2)
    chain = "\n".join(["      %c = arith.constant 0.5 : f32", "      %t0 = math.exp %s0 : f32",
                       "      %t1 = arith.mulf %t0, %s1 : f32", "      %t2 = arith.addf %t1, %c : f32",
                       "      %t3 = arith.divf %t2, %s2 : f32", "      %y = math.tanh %t3 : f32"])
    yield generic("f", [8, 16, 32], "f32", chain, 3)
    for kinds in (("f32", "f32", "f32"), ("f16", "f16", "f16"), ("f16", "f16", "f32"),
                  ("i8", "i8", "i32")):
        for m, k, n in ((64, 64, 64), (128, 256, 512), (1, 512, 256), (33, 47, 65), (512, 512, 512)):
            yield named("matmul", [[m, k], [k, n]], [m, n], kinds)
        yield named("batch_matmul", [[4, 64, 32], [4, 32, 48]], [4, 64, 48], kinds)
        yield named("matvec", [[256, 512], [512]], [256], kinds)
        yield named("vecmat", [[512], [512, 256]], [256], kinds)
        for size, kernel, channels, out in ((18, 3, 16, 32), (16, 1, 64, 64), (35, 3, 3, 16)):
            stride = 2 if size == 35 else 1
            side = (size - kernel) // stride + 1
            yield named("conv_2d_nhwc_hwcf", [[1, size, size, channels],
                                              [kernel, kernel, channels, out]],
                        [1, side, side, out], kinds,
                        f"{{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : "
                        "vector<2xi64>}")
        yield named("depthwise_conv_2d_nhwc_hwc", [[1, 18, 18, 32], [3, 3, 32]], [1, 16, 16, 32], kinds,
                    "{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}")
        yield named("dot", [[1024], [1024]], [], kinds).replace("tensor<x", "tensor<")
    for kind in ("f32", "f16"):
        for op in ("pooling_nhwc_sum", "pooling_nhwc_max"):
            yield named(op, [[1, 18, 18, 32], [3, 3]], [1, 16, 16, 32], (kind, kind, kind),
                        "{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}")
        for shape in ([16, 100], [4, 1024]):
            yield named("softmax", [shape], shape, (kind, kind), "dimension(1)", zero=False)
        for shape, axis in (([64, 100], 1), ([64, 100], 0), ([4, 4096], 1), ([8, 16, 32], 1)):
            for combine, start in (("addf", "0.0"), ("maximumf", "-1.0e4"), ("mulf", "1.0")):
                yield reduction(kind, combine, start, shape, axis)
        for shape, order in (([64, 96], [1, 0]), ([4, 16, 24], [2, 0, 1]), ([4, 16, 24], [0, 2, 1])):
            out = [shape[i] for i in order]
            yield f"""func.func @f(%a: {tensor(shape, kind)}) -> {tensor(out, kind)} {{
  %e = tensor.empty() : {tensor(out, kind)}
  %r = linalg.transpose ins(%a : {tensor(shape, kind)}) outs(%e : {tensor(out, kind)})
      permutation = {order}
  return %r : {tensor(out, kind)}
}}"""
    for shape, axis in (([64, 100], 1), ([64, 100], 0)):
        for combine, start in (("addi", "0"), ("maxsi", "-1000"), ("xori", "0")):
            yield reduction("i32", combine, start, shape, axis)


def main():
    first, last = int(sys.argv[1]), int(sys.argv[2])
    everything = [(text, target) for text in programs() for target in TARGETS]
    compiler = os.path.join(os.path.dirname(iree.compiler.__file__), "_mlir_libs", "iree-compile")
    for number, (text, target) in list(enumerate(everything))[first:last]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.mlir")
            with open(path, "w") as file:
                file.write(text)
            done = subprocess.run(
                [compiler, path, "--iree-hal-target-device=vulkan", f"--iree-vulkan-target={target}",
                 f"--iree-hal-dump-executable-binaries-to={folder}/out", "-o", os.devnull],
                capture_output=True, text=True)
            if done.returncode:
                print(f"iree: {number}: {done.stderr.strip()[:300]}", file=sys.stderr)
            for name in sorted(os.listdir(folder + "/out")) if os.path.isdir(folder + "/out") else []:
                with open(os.path.join(folder, "out", name), "rb") as file:
                    data = file.read()
                with open(os.path.join(os.environ["AGX_MODULES"], f"{number}.{name}"), "wb") as file:
                    file.write(data)
    return 3 if last >= len(everything) else 0


if __name__ == "__main__":
    sys.exit(main())
