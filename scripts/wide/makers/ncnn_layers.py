# SPDX-License-Identifier: MIT
"""Loads networks of one layer each into ncnn, which compiles its own GLSL for the layer's pipelines.

usage: ncnn_layers.py FIRST LAST (numbers of networks; beyond the last one: exit code 3)

A network is run with several packings and with 16-bit floats on and off: ncnn has code for each.
"""
import sys
import tempfile

import ncnn
import numpy

# layer, parameters, sizes of the inputs (w, h, c or w, h or w), count of weights in floats
LAYERS = [
    ("AbsVal", "", [(16, 16, 16)]), ("BatchNorm", "0=16", [(16, 16, 16)]),
    ("BinaryOp", "0={op}", [(16, 16, 16), (16, 16, 16)]),
    ("BinaryOp", "0={op} 1=1 2=0.5", [(16, 16, 16)]),
    ("BinaryOp", "0=0", [(16, 16, 16), (16,)]), ("BinaryOp", "0=2", [(16, 16, 16), (1, 1, 16)]),
    ("Cast", "0=1 1=2", [(16, 16, 16)]), ("CELU", "0=1.0", [(16, 16, 16)]),
    ("Clip", "0=-1 1=1", [(16, 16, 16)]), ("Concat", "0=0", [(16, 16, 16), (16, 16, 16)]),
    ("Concat", "0=1", [(16, 16, 16), (16, 16, 16)]), ("Concat", "0=2", [(16, 16, 16), (16, 16, 16)]),
    ("Convolution", "0=16 1=3 4=1 5=1 6=2304", [(16, 16, 16)]),
    ("Convolution", "0=16 1=1 5=1 6=256", [(16, 16, 16)]),
    ("Convolution", "0=32 1=1 5=0 6=2048 9=1", [(16, 16, 64)]),
    ("Convolution", "0=64 1=3 4=1 5=1 6=36864", [(32, 32, 64)]),
    ("Convolution", "0=16 1=5 3=2 4=2 5=1 6=6400 9=2 -23310=1,0.1", [(17, 17, 16)]),
    ("Convolution", "0=16 1=3 2=2 5=1 6=432", [(20, 20, 3)]),
    ("Convolution", "0=7 1=3 3=2 5=1 6=189", [(20, 20, 3)]),
    ("Convolution1D", "0=16 1=3 5=1 6=768", [(32, 16)]),
    ("ConvolutionDepthWise", "0=16 1=3 4=1 5=1 6=144 7=16", [(16, 16, 16)]),
    ("ConvolutionDepthWise", "0=16 1=3 3=2 4=1 5=1 6=144 7=16", [(16, 16, 16)]),
    ("ConvolutionDepthWise", "0=16 1=3 4=1 5=1 6=576 7=4", [(16, 16, 16)]),
    ("ConvolutionDepthWise", "0=6 1=3 4=1 5=1 6=54 7=6", [(16, 16, 6)]),
    ("Crop", "0=2 1=2 2=0 3=8 4=8 5=16", [(16, 16, 16)]),
    ("Deconvolution", "0=16 1=4 3=2 4=1 5=1 6=4096", [(16, 16, 16)]),
    ("Deconvolution", "0=3 1=3 3=2 5=1 6=432", [(16, 16, 16)]),
    ("DeconvolutionDepthWise", "0=16 1=4 3=2 5=1 6=256 7=16", [(16, 16, 16)]),
    ("DeconvolutionDepthWise", "0=16 1=4 3=2 5=1 6=1024 7=4", [(16, 16, 16)]),
    ("DeepCopy", "", [(16, 16, 16)]), ("Dropout", "0=0.5", [(16, 16, 16)]),
    ("Eltwise", "0=0", [(16, 16, 16), (16, 16, 16)]),
    ("Eltwise", "0=1 -23301=2,0.5,0.25", [(16, 16, 16), (16, 16, 16)]),
    ("ELU", "0=0.1", [(16, 16, 16)]), ("Erf", "", [(16, 16, 16)]), ("Exp", "", [(16, 16, 16)]),
    ("Flatten", "", [(4, 4, 16)]), ("GELU", "0=1", [(16, 16, 16)]), ("GELU", "0=0", [(16, 16, 16)]),
    ("Gemm", "4=0 5=0 6=0 7=0 8=0 9=0", [(32, 16), (24, 32)]),
    ("Gemm", "2=0 3=1 4=0 5=0 6=0 7=0 8=0 9=0", [(32, 16), (32, 24)]),
    ("GroupNorm", "0=4 1=16", [(16, 16, 16)]), ("HardSigmoid", "0=0.2 1=0.5", [(16, 16, 16)]),
    ("HardSwish", "0=0.2 1=0.5", [(16, 16, 16)]), ("InnerProduct", "0=32 1=1 2=1024", [(32,)]),
    ("InnerProduct", "0=8 1=0 2=512 9=1", [(64,)]), ("InnerProduct", "0=32 1=1 2=1024", [(32, 8)]),
    ("InnerProduct", "0=7 1=1 2=77", [(11,)]), ("InstanceNorm", "0=16", [(16, 16, 16)]),
    ("Interp", "0={mode} 1=2.0 2=2.0", [(16, 16, 16)]),
    ("LayerNorm", "0=16 1=0.001 2=1", [(16, 16)]), ("LayerNorm", "0=256 1=0.001 2=0", [(16, 16, 16)]),
    ("Log", "", [(16, 16, 16)]), ("LRN", "0=0 1=5", [(16, 16, 16)]), ("LRN", "0=1 1=5", [(16, 16, 16)]),
    ("MatMul", "", [(32, 16), (24, 32)]), ("MatMul", "0=1", [(32, 16, 4), (32, 24, 4)]),
    ("MemoryData", "0=16 1=16 2=16", []), ("Mish", "", [(16, 16, 16)]), ("Noop", "", [(16, 16, 16)]),
    ("Normalize", "0=0 1=1 2=0.001 3=1", [(16, 16, 16)]), ("Packing", "0=4", [(16, 16, 16)]),
    ("Padding", "0=1 1=2 2=1 3=2 4={mode3}", [(16, 16, 16)]), ("Permute", "0={perm}", [(16, 16, 16)]),
    ("PixelShuffle", "0=2", [(8, 8, 16)]), ("Pooling", "0=0 1=3 2=2", [(16, 16, 16)]),
    ("Pooling", "0=1 1=3 2=2", [(16, 16, 16)]), ("Pooling", "0=0 4=1", [(16, 16, 16)]),
    ("Pooling", "0=1 4=1", [(16, 16, 16)]), ("Pooling", "0=1 7=1 8=4", [(16, 16, 16)]),
    ("Power", "0=2 1=0.5 2=0.1", [(16, 16, 16)]), ("PReLU", "0=16", [(16, 16, 16)]),
    ("PriorBox", "-23300=1,30 -23302=1,2.0 9=300 10=300", [(10, 10, 16), (300, 300, 3)]),
    ("ReLU", "0=0.1", [(16, 16, 16)]), ("Reorg", "0=2", [(16, 16, 16)]),
    ("Reshape", "0=64 1=64", [(16, 16, 16)]), ("RMSNorm", "0=16 1=0.001 2=1", [(16, 16)]),
    ("RotaryEmbed", "0=0", [(32, 8, 4), (16, 8), (16, 8)]), ("Scale", "0=16 1=1", [(16, 16, 16)]),
    ("SDPA", "", [(32, 8, 4), (32, 8, 4), (32, 8, 4)]), ("SELU", "", [(16, 16, 16)]),
    ("ShuffleChannel", "0=4", [(16, 16, 16)]), ("Sigmoid", "", [(16, 16, 16)]),
    ("Slice", "-23300=2,8,8", [(16, 16, 16)]), ("Softmax", "0={axis} 1=1", [(16, 16, 16)]),
    ("Softplus", "", [(16, 16, 16)]), ("Split", "", [(16, 16, 16)]), ("Swish", "", [(16, 16, 16)]),
    ("TanH", "", [(16, 16, 16)]), ("UnaryOp", "0={unary}", [(16, 16, 16)]),
    ("Dequantize", "0=1 1=1", [(16, 16, 16)]), ("Quantize", "0=1", [(16, 16, 16)]),
    ("Bias", "0=16", [(16, 16, 16)]), ("Threshold", "0=0.5", [(16, 16, 16)]),
    ("MultiHeadAttention", "0=32 1=4 2=1024", [(32, 8)]),
]
CHOICES = {"{op}": range(12), "{mode}": (1, 2, 3), "{mode3}": (0, 1, 2), "{perm}": range(6),
           "{axis}": (0, 1, 2), "{unary}": range(20)}


def networks():
    """(layer, parameters, sizes, options) with every choice, and every mode of the library."""
    for layer, parameters, sizes in LAYERS:
        texts = [parameters]
        for word, values in CHOICES.items():
            if word in parameters:
                texts = [parameters.replace(word, str(value)) for value in values]
        for number, text in enumerate(texts):
            modes = [(True, False), (True, True), (False, False)] if number == 0 else [(True, True)]
            for packing, half in modes:
                yield layer, text, sizes, packing, half


def run(layer, parameters, sizes, packing, half):
    net = ncnn.Net()
    net.opt.use_vulkan_compute = True
    net.opt.use_packing_layout = packing
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = half
    inputs = [f"x{i}" for i in range(len(sizes))]
    lines = [f"Input {name} 0 1 {name}" for name in inputs]
    lines.append(f"{layer} layer {len(inputs)} 1 {' '.join(inputs)} y {parameters}")
    text = f"7767517\n{len(lines)} {len(lines)}\n" + "\n".join(lines) + "\n"
    if net.load_param_mem(text):
        raise ValueError("parameters")
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(bytes(1 << 20))
        file.flush()
        net.load_model(file.name)
    with net.create_extractor() as extractor:
        for name, size in zip(inputs, sizes):
            extractor.input(name, ncnn.Mat(numpy.ones(size[::-1], numpy.float32)))
        extractor.extract("y")


def main():
    first, last = int(sys.argv[1]), int(sys.argv[2])
    everything = list(networks())
    for network in everything[first:last]:
        try:
            run(*network)
        except Exception as error:  # ncnn's refusals have no class of their own
            print(f"ncnn: {network[0]}: {error}", file=sys.stderr)
    return 3 if last >= len(everything) else 0


if __name__ == "__main__":
    sys.exit(main())
