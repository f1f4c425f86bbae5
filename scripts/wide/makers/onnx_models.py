# SPDX-License-Identifier: MIT
"""Runs models of one operator each, so that an ONNX runtime makes the GPU kernels that it has for them.

usage: onnx_models.py webgpu|wonnx FIRST LAST (numbers of models; beyond the last one: exit code 3)

webgpu: ONNX Runtime's WebGPU provider (WGSL by templates, SPIR-V by Tint); wonnx: WGSL by templates,
SPIR-V by naga. Models that a runtime refuses are passed over; scripts/wide keeps what the driver saw.
"""
import sys

import numpy
import onnx
from onnx import TensorProto, helper

FLOATS = {"f32": (TensorProto.FLOAT, numpy.float32), "f16": (TensorProto.FLOAT16, numpy.float16)}
UNARY = ["Abs", "Neg", "Floor", "Ceil", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos",
         "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Tanh", "Sigmoid", "Erf", "Relu",
         "LeakyRelu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "Reciprocal", "Softplus", "Sign",
         "Round", "Selu", "Celu", "Softsign", "ThresholdedRelu", "Not", "Mish"]
BINARY = ["Add", "Sub", "Mul", "Div", "Pow", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
          "Equal", "PRelu", "Max", "Min", "Mod"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
          "ReduceLogSum", "ReduceSumSquare", "ReduceLogSumExp", "ArgMax", "ArgMin"]


def constant(name, values, kind=TensorProto.INT64):
    return helper.make_tensor(name, kind, [len(values)], values)


def cases():
    """(operator, input shapes, attributes, constant inputs, options)."""
    for op in UNARY:
        yield op, [[2, 16, 33]], {}, [], {}
        yield op, [[64, 64]], {}, [], {}
    for op in BINARY:
        yield op, [[4, 64], [4, 64]], {}, [], {}
        yield op, [[4, 1, 33], [7, 33]], {}, [], {}
        yield op, [[8, 64], [1]], {}, [], {}
    for op in REDUCE:
        for axis in (-1, 1):
            if op.startswith("Arg"):
                yield op, [[4, 32, 64]], {"axis": axis, "keepdims": 0}, [], {"integer": True}
            else:
                yield op, [[4, 32, 64]], {"keepdims": 1}, [constant("axes", [axis])], {}
        if not op.startswith("Arg"):
            yield op, [[3, 1024]], {"keepdims": 0, "axes": [1]}, [], {"opset": 11}
    for m, k, n in ((64, 64, 64), (1, 256, 96), (33, 17, 9), (128, 512, 64), (4, 8, 1024)):
        yield "MatMul", [[m, k], [k, n]], {}, [], {}
        yield "MatMul", [[2, m, k], [2, k, n]], {}, [], {}
        yield "Gemm", [[m, k], [k, n], [n]], {}, [], {}
        yield "Gemm", [[k, m], [n, k], [m, n]], {"transA": 1, "transB": 1, "alpha": 0.5}, [], {}
    for channels, out, size, kernel, extra in (
            (8, 16, 20, 3, {"pads": [1, 1, 1, 1]}), (8, 16, 20, 1, {}), (16, 16, 20, 3, {"group": 16}),
            (16, 32, 21, 5, {"strides": [2, 2]}), (8, 8, 17, 3, {"dilations": [2, 2]}),
            (16, 16, 20, 3, {"group": 4}), (3, 64, 32, 7, {"strides": [2, 2], "pads": [3, 3, 3, 3]})):
        weights = [out, channels // extra.get("group", 1), kernel, kernel]
        yield "Conv", [[1, channels, size, size], weights, [out]], extra, [], {}
        yield "Conv", [[2, channels, size, size], weights], extra, [], {}
        yield "ConvTranspose", [[1, out, size, size], weights], extra, [], {}
    yield "Conv", [[1, 8, 40], [16, 8, 3]], {}, [], {}
    yield "Conv", [[1, 4, 9, 9, 9], [8, 4, 3, 3, 3]], {}, [], {}
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield op, [[1, 8, 20, 20]], {"kernel_shape": [3, 3], "strides": [2, 2]}, [], {}
        yield op, [[1, 8, 20]], {"kernel_shape": [4]}, [], {}
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        yield op, [[1, 8, 20, 20]], {}, [], {}
    for op in ("Softmax", "LogSoftmax"):
        for axis in (-1, 1):
            yield op, [[4, 16, 100]], {"axis": axis}, [], {}
        yield op, [[2, 4096]], {"axis": -1}, [], {}
    yield "LayerNormalization", [[4, 16, 64], [64], [64]], {"axis": -1}, [], {}
    yield "LayerNormalization", [[4, 768], [768]], {"axis": -1}, [], {}
    yield "InstanceNormalization", [[2, 8, 16, 16], [8], [8]], {}, [], {}
    yield "BatchNormalization", [[2, 8, 16, 16], [8], [8], [8], [8]], {}, [], {"opset": 15}
    for perm in ([1, 0, 2], [0, 2, 1], [2, 1, 0]):
        yield "Transpose", [[8, 24, 32]], {"perm": perm}, [], {}
    yield "Transpose", [[64, 96]], {"perm": [1, 0]}, [], {}
    yield "Transpose", [[2, 8, 12, 12]], {"perm": [0, 2, 3, 1]}, [], {}
    for axis in (0, 1, 2):
        yield "Concat", [[4, 8, 16], [4, 8, 16], [4, 8, 16]], {"axis": axis}, [], {}
    yield "Split", [[4, 12, 16]], {"axis": 1, "num_outputs": 3}, [], {"outputs": 3}
    yield "Slice", [[8, 20, 30]], {}, [constant("starts", [1, 2]), constant("ends", [7, 18]),
                                       constant("axes", [0, 1])], {}
    yield "Slice", [[8, 20, 30]], {}, [constant("starts", [0]), constant("ends", [20]),
                                       constant("axes", [1]), constant("steps", [3])], {}
    for mode in ("constant", "reflect", "edge"):
        yield "Pad", [[2, 8, 10, 10]], {"mode": mode}, [
            constant("pads", [0, 0, 1, 2, 0, 0, 2, 1])], {}
    for mode, transform in (("nearest", "asymmetric"), ("linear", "half_pixel"),
                            ("cubic", "half_pixel"), ("linear", "align_corners")):
        yield "Resize", [[1, 4, 10, 12]], {
            "mode": mode, "coordinate_transformation_mode": transform}, [
            None, constant("scales", [1.0, 1.0, 2.0, 1.5], TensorProto.FLOAT)], {}
    yield "Expand", [[4, 1, 16]], {}, [constant("shape", [4, 8, 16])], {}
    yield "Tile", [[4, 6, 8]], {}, [constant("repeats", [1, 3, 2])], {}
    yield "CumSum", [[4, 32, 8]], {}, [constant("axis", [1])], {}
    yield "Gather", [[20, 16]], {"axis": 0}, [constant("indices", [3, 1, 7, 2])], {}
    yield "Gather", [[8, 20, 16]], {"axis": 1}, [constant("indices", [3, 1, 7, 2])], {}
    yield "GatherElements", [[8]], {"axis": 0}, [constant("indices", [3, 1, 7, 2])], {}
    yield "DepthToSpace", [[1, 16, 8, 8]], {"blocksize": 2}, [], {}
    yield "SpaceToDepth", [[1, 4, 16, 16]], {"blocksize": 2}, [], {}
    yield "Clip", [[4, 64]], {}, [], {}
    yield "Einsum", [[8, 16, 12], [8, 12, 20]], {"equation": "bij,bjk->bik"}, [], {}
    yield "Trilu", [[2, 16, 16]], {"upper": 1}, [], {}
    yield "TopK", [[4, 64]], {"axis": -1}, [constant("k", [5])], {"outputs": 2, "integer2": True}
    yield "GridSample", [[1, 4, 8, 8], [1, 6, 6, 2]], {}, [], {"opset": 16}
    contrib = {"domain": "com.microsoft"}
    for op in ("Gelu", "FastGelu", "QuickGelu", "BiasGelu"):
        shapes = [[4, 64]] + ([[64]] if op == "BiasGelu" else [])
        yield op, shapes, {}, [], contrib
    yield "SkipLayerNormalization", [[2, 16, 64], [2, 16, 64], [64], [64]], {}, [], contrib
    yield "SimplifiedLayerNormalization", [[2, 16, 64], [64]], {"axis": -1}, [], {}
    yield "SkipSimplifiedLayerNormalization", [[2, 16, 64], [2, 16, 64], [64]], {}, [], contrib
    yield "BiasAdd", [[2, 16, 320], [320], [2, 16, 320]], {}, [], contrib
    yield "BiasSplitGelu", [[2, 16, 2560], [2560]], {}, [], contrib
    yield "FusedConv", [[1, 8, 20, 20], [16, 8, 3, 3], [16]], {"activation": "Relu"}, [], contrib
    yield "MultiHeadAttention", [[1, 16, 64], [1, 16, 64], [1, 16, 64]], {"num_heads": 4}, [], contrib
    yield "MultiHeadAttention", [[1, 1, 128], [1, 1, 128], [1, 1, 128]], {"num_heads": 2}, [], contrib
    yield "Attention", [[1, 16, 64], [64, 192], [192]], {"num_heads": 4}, [], contrib
    for bits, rows in ((4, 1), (4, 16), (8, 1), (8, 16)):
        blob = helper.make_tensor("weights", TensorProto.UINT8, [64, 8, 16 * bits // 4],
                                  bytes(64 * 8 * 16 * bits // 4), raw=True)
        yield "MatMulNBits", [[1, rows, 256]], {"K": 256, "N": 64, "bits": bits, "block_size": 32}, [
            blob, "scales"], contrib


def model_of(case, kind):
    op, shapes, attributes, constants, options = case
    tensor, _ = FLOATS[kind]
    names = [f"x{i}" for i in range(len(shapes))]
    inputs = [helper.make_tensor_value_info(n, tensor, s) for n, s in zip(names, shapes)]
    initializers, parts = [], list(names)
    for extra in constants:
        if extra is None:
            parts.append("")
        elif extra == "scales":
            _, number = FLOATS[kind]
            scales = numpy.full(64 * 8, 0.01, number)
            initializers.append(helper.make_tensor("scales", tensor, [64 * 8], scales.tobytes(),
                                                   raw=True))
            parts.append("scales")
        else:
            initializers.append(extra)
            parts.append(extra.name)
    outs = [f"y{i}" for i in range(options.get("outputs", 1))]
    boolean = op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "Not")
    kinds = [TensorProto.BOOL if boolean else TensorProto.INT64 if options.get("integer")
             else tensor] * len(outs)
    if options.get("integer2"):
        kinds[1] = TensorProto.INT64
    node = helper.make_node(op, parts, outs, domain=options.get("domain", ""), **attributes)
    outputs = [helper.make_tensor_value_info(name, out_kind, None)
               for name, out_kind in zip(outs, kinds)]
    graph = helper.make_graph([node], "g", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", options.get("opset", 20))]
    if "domain" in options:
        opsets.append(helper.make_opsetid(options["domain"], 1))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return onnx.shape_inference.infer_shapes(model)


def feeds_of(case, kind):
    random = numpy.random.default_rng(1)
    return {f"x{i}": random.random(shape).astype(FLOATS[kind][1])
            for i, shape in enumerate(case[1])}


def run_webgpu(model, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    onnxruntime.InferenceSession(model.SerializeToString(), options,
                                 providers=["WebGpuExecutionProvider"]).run(None, feeds)


def run_wonnx(model, feeds):
    import wonnx
    wonnx.Session.from_bytes(model.SerializeToString()).run(
        {name: value.flatten().tolist() for name, value in feeds.items()})


def main():
    runtime, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kinds = ["f32", "f16"] if runtime == "webgpu" else ["f32"]
    everything = [(case, kind) for case in cases() for kind in kinds]
    for case, kind in everything[first:last]:
        try:
            (run_webgpu if runtime == "webgpu" else run_wonnx)(model_of(case, kind),
                                                              feeds_of(case, kind))
        except BaseException as error:  # a panic of Rust is no Exception
            print(f"{runtime}: {case[0]} {kind}: {str(error)[:100]}", file=sys.stderr)
    return 3 if last >= len(everything) else 0


if __name__ == "__main__":
    sys.exit(main())
