# SPDX-License-Identifier: MIT
"""The models of tests/iree/models, as MLIR's linalg in the shape that front ends of IREE leave.

Weights are arguments, so that they are no part of a module, of its vmfb or of this repository:
made_up() makes them, and tests/iree/models_test.c makes the same ones.
"""
import numpy

BITS = {"f32": 32, "f16": 16, "bf16": 16, "i8": 8, "i32": 32}


def hashes(seed, count):
    """As in models_test.c."""
    i = numpy.arange(1, count + 1, dtype=numpy.uint64)
    h = (i * 2654435761 ^ seed * 2246822519) & 0xFFFFFFFF
    for shift, factor in ((15, 2246822519), (13, 3266489917)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return (h ^ h >> 16).astype(numpy.uint32)


def bfloat16_bits(values):
    bits = values.view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def made_up(seed, kind, count, scale, offset):
    """count numbers as their bytes. Floats lie in offset + scale * [-1, 1), where scale is a power of
    two, so that the product is exact; integers are offset + hash % scale."""
    h = hashes(seed, count)
    if kind in ("i8", "i32"):
        return (h.astype(numpy.int64) % int(scale) + int(offset)).astype(numpy.int8 if kind == "i8" else numpy.int32).tobytes()
    unit = (h >> 8).astype(numpy.float32) * numpy.float32(2.0 ** -23) - numpy.float32(1)
    values = unit * numpy.float32(scale) + numpy.float32(offset)
    if kind == "f16":
        return values.astype(numpy.float16).tobytes()
    return bfloat16_bits(values).tobytes() if kind == "bf16" else values.tobytes()


class Value:
    """A tensor. Sizes are numbers, or names of values of type index."""

    def __init__(self, name, shape, kind):
        self.name, self.shape, self.kind = name, tuple(shape), kind
        self.type = "tensor<" + "".join("?x" if isinstance(n, str) else f"{n}x" for n in shape) + kind + ">"


class Net:
    """A function of which the parts are appended. inputs: (shape, kind, scale, offset) of each argument."""

    def __init__(self):
        self.inputs, self.arguments, self.lines, self.count = [], [], [], 0

    def argument(self, shape, kind="f32", scale=1.0, offset=0.0, sizes=None):
        """sizes: what the dynamic sizes of the shape are in the recorded run."""
        value = Value(f"%arg{len(self.arguments)}", shape, kind)
        self.arguments.append(value)
        self.inputs.append((sizes or shape, kind, scale, offset))
        return value

    def new(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def size(self, value, axis):
        """Of an argument of dynamic shape."""
        at = self.new(f"arith.constant {axis} : index")
        return self.new(f"tensor.dim {value.name}, {at} : {value.type}")

    def constant(self, number, kind):
        text = str(int(number)) if kind.startswith("i") else number if isinstance(number, str) else f"{number:e}"
        return self.new(f"arith.constant {text} : {kind}")

    def filled(self, shape, kind, number=None):
        value = Value("", shape, kind)
        dynamic = ", ".join(n for n in shape if isinstance(n, str))
        value.name = self.new(f"tensor.empty({dynamic}) : {value.type}")
        if number is not None:
            zero = self.constant(number, kind)
            value.name = self.new(f"linalg.fill ins({zero} : {kind}) outs({value.name} : {value.type}) -> {value.type}")
        return value

    def named(self, name, ins, out, attributes=""):
        """An operation of linalg with a name of its own."""
        listed = f"{', '.join(v.name for v in ins)} : {', '.join(v.type for v in ins)}"
        return Value(self.new(f"{name} {attributes} ins({listed}) outs({out.name} : {out.type}) -> {out.type}"),
                     out.shape, out.kind)

    def generic(self, letters, ins, body, kind=None, init=None, shape=None):
        """As einsum counts: 'ik,kj->ij'. body: lines over %a0, %a1, ... and %o, which end with %r."""
        sources, target = letters.split("->")
        sources = sources.split(",")
        sizes = {letter: n for some, value in zip(sources, ins) for letter, n in zip(some, value.shape)}
        kind = kind or ins[0].kind
        out = self.filled(shape or [sizes[letter] for letter in target], kind, init)
        order = target + "".join(sorted(set("".join(sources)) - set(target)))
        maps = ", ".join(f"affine_map<({', '.join(order)}) -> ({', '.join(some)})>" for some in sources + [target])
        iterators = ", ".join('"parallel"' if letter in target else '"reduction"' for letter in order)
        arguments = "".join(f"%a{i}: {v.kind}, " for i, v in enumerate(ins))
        listed = f"ins({', '.join(v.name for v in ins)} : {', '.join(v.type for v in ins)}) " if ins else ""
        name = self.new(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
                        f"{listed}outs({out.name} : {out.type}) {{\n  ^bb0({arguments}%o: {kind}):\n    " +
                        "\n    ".join(body) + f"\n    linalg.yield %r : {kind}\n  }} -> {out.type}")
        return Value(name, out.shape, kind)

    def text(self, *results):
        """The module. The caller brings memory for the results, behind the other arguments: so a recording
        tells which memory holds them."""
        self.results = results
        arguments = [f"{v.name}: {v.type}" for v in self.arguments]
        arguments += [f"%out{i}: {v.type} {{iree.abi.output = {i} : index}}" for i, v in enumerate(results)]
        types = ", ".join(v.type for v in results)
        return (f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n  " + "\n  ".join(self.lines) +
                f"\n  return {', '.join(v.name for v in results)} : {types}\n}}\n")

    # ---- what nets are made of ------------------------------------------------

    def matmul(self, a, b, sum_kind="f32"):
        out = self.filled((a.shape[0], b.shape[1]), sum_kind, 0)
        return self.named("linalg.matmul", [a, b], out)

    def add_bias(self, x, bias, relu=False):
        letters = "abcd"[:len(x.shape)]
        body = ["%s = arith.addf %a0, %a1 : f32", "%z = arith.constant 0.0 : f32", "%r = arith.maximumf %s, %z : f32"]
        if not relu:
            body = ["%r = arith.addf %a0, %a1 : f32"]
        return self.generic(f"{letters},{letters[-1]}->{letters}", [x, bias], body)

    def cast(self, x, kind):
        letters = "abcd"[:len(x.shape)]
        way = "extf" if BITS[kind] > BITS[x.kind] else "truncf"
        return self.generic(f"{letters}->{letters}", [x], [f"%r = arith.{way} %a0 : {x.kind} to {kind}"], kind)

    def dense(self, x, columns, relu=False):
        """A layer of weights of kind x.kind, summed in floats."""
        fan_in = x.shape[1]
        weights = self.argument((fan_in, columns), x.kind, 2.0 ** round(numpy.log2(1.5 / fan_in ** 0.5)))
        return self.add_bias(self.matmul(x, weights), self.argument((columns,), "f32", 0.125), relu)

    def softmax(self, x):
        out = self.filled(x.shape, x.kind)
        return Value(self.new(f"linalg.softmax dimension({len(x.shape) - 1}) ins({x.name} : {x.type}) "
                              f"outs({out.name} : {out.type}) -> {out.type}"), x.shape, x.kind)

    def layer_norm(self, x):
        """Of the rows of a matrix of floats."""
        width = f"%w = arith.constant {x.shape[1]}.0 : f32"
        total = self.generic("ij->i", [x], ["%r = arith.addf %a0, %o : f32"], init=0)
        mean = self.generic("i->i", [total], [width, "%r = arith.divf %a0, %w : f32"])
        squares = self.generic("ij,i->i", [x, mean], ["%d = arith.subf %a0, %a1 : f32", "%p = arith.mulf %d, %d : f32",
                                                      "%r = arith.addf %p, %o : f32"], init=0)
        return self.generic("ij,i,i,j,j->ij", [x, mean, squares, self.argument((x.shape[1],), "f32", 0.25, 1.0),
                                               self.argument((x.shape[1],), "f32", 0.125)],
                            [width, "%e = arith.constant 1.0e-5 : f32", "%q = arith.divf %a2, %w : f32",
                             "%b = arith.addf %q, %e : f32", "%i = math.rsqrt %b : f32", "%d = arith.subf %a0, %a1 : f32",
                             "%n = arith.mulf %d, %i : f32", "%g = arith.mulf %n, %a3 : f32", "%r = arith.addf %g, %a4 : f32"])

    def gelu(self, x):
        return self.generic("ij->ij", [x], [
            "%h = arith.constant 0.5 : f32", "%c = arith.constant 0.70710678 : f32", "%one = arith.constant 1.0 : f32",
            "%s = arith.mulf %a0, %c : f32", "%e = math.erf %s : f32", "%p = arith.addf %e, %one : f32",
            "%q = arith.mulf %a0, %h : f32", "%r = arith.mulf %p, %q : f32"])

    def add(self, a, b):
        letters = "abcd"[:len(a.shape)]
        return self.generic(f"{letters},{letters}->{letters}", [a, b], ["%r = arith.addf %a0, %a1 : f32"])

    def pad(self, x, low, high, number):
        """Height and width of an image in NHWC."""
        if low == high == 0:
            return x
        n, h, w, c = x.shape
        out = Value("", (n, h + low + high, w + low + high, c), x.kind)
        edge = self.constant(number, x.kind)
        out.name = self.new(f"tensor.pad {x.name} low[0, {low}, {low}, 0] high[0, {high}, {high}, 0] {{\n"
                            f"  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n    tensor.yield {edge} : {x.kind}\n"
                            f"  }} : {x.type} to {out.type}")
        return out

    def slide(self, name, x, window, channels, size, stride, number):
        """An operation with a square window over an image, which is padded by half of the window."""
        side, low = x.shape[1], size // 2
        out_side = (side + 2 * low - size) // stride + 1
        high = max((out_side - 1) * stride + size - side - low, 0)
        x = self.pad(x, low, high, number)
        return self.named(name, [x, window], self.filled((1, out_side, out_side, channels), x.kind, number),
                          f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}")

    def conv(self, x, filters, size, stride=1, relu=True):
        """Batch normalization is folded into weights and bias."""
        fan_in = size * size * x.shape[3]
        weights = self.argument((size, size, x.shape[3], filters), x.kind, 2.0 ** round(numpy.log2(2.0 / fan_in ** 0.5)))
        out = self.slide("linalg.conv_2d_nhwc_hwcf", x, weights, filters, size, stride, 0)
        return self.add_bias(out, self.argument((filters,), "f32", 0.125), relu)

    def basic_block(self, x, filters, stride):
        y = self.conv(self.conv(x, filters, 3, stride), filters, 3, relu=False)
        if stride > 1:
            x = self.conv(x, filters, 1, stride, relu=False)
        return self.generic("nhwc,nhwc->nhwc", [x, y], [
            "%s = arith.addf %a0, %a1 : f32", "%z = arith.constant 0.0 : f32", "%r = arith.maximumf %s, %z : f32"])

    def heads(self, x, count, letters):
        """The heads in the rows of a matrix of [i, h d]."""
        rows, width = x.shape
        split = Value("", (rows, count, width // count), x.kind)
        split.name = self.new(f"tensor.expand_shape {x.name} [[0], [1, 2]] output_shape [{rows}, {count}, {width // count}]"
                              f" : {x.type} into {split.type}")
        return self.transposed(split, f"ihd->{letters}")

    def transposed(self, x, letters):
        source, target = letters.split("->")
        out = self.filled([x.shape[source.index(letter)] for letter in target], x.kind)
        order = [source.index(letter) for letter in target]
        return Value(self.new(f"linalg.transpose ins({x.name} : {x.type}) outs({out.name} : {out.type}) permutation = {order}"),
                     out.shape, x.kind)


# ---- the models ----------------------------------------------------------------


def resnet18(side=64):
    """The layers and widths of ResNet-18 (11.7 million weights) over a small image."""
    net = Net()
    x = net.conv(net.argument((1, side, side, 3)), 64, 7, 2)
    x = net.slide("linalg.pooling_nhwc_max", x, net.filled((3, 3), "f32"), 64, 3, 2, "0xFF800000")
    taps = []
    for filters in (64, 128, 256, 512):
        x = net.basic_block(x, filters, 1 if filters == 64 else 2)
        x = net.basic_block(x, filters, 1)
        taps.append(x)
    area = float(x.shape[1] * x.shape[2])
    total = net.generic("nhwc->nc", [x], ["%r = arith.addf %a0, %o : f32"], init=0)
    mean = net.generic("nc->nc", [total], [f"%w = arith.constant {area} : f32", "%r = arith.divf %a0, %w : f32"])
    return net, net.text(net.dense(mean, 1000), *taps[1:3])


def transformer(kind="f32", rows=64, width=128, heads=4):
    """A block as GPT-2 has it, behind an embedding: attention and a perceptron, each normalized before, added after.
    That of halves has no causal mask: IREE's compiler 3.13 makes of one an array of type index, which it then refuses."""
    net = Net()

    def narrow(x):
        return x if kind == "f32" else net.cast(x, kind)

    def wide(x):
        return x if kind == "f32" else net.cast(x, "f32")

    tokens, table = net.argument((rows,), "i32", 256), net.argument((256, width), kind)
    x = net.generic("i->ij", [tokens], ["%i = arith.index_cast %a0 : i32 to index", "%j = linalg.index 1 : index",
                                        f"%r = tensor.extract {table.name}[%i, %j] : {table.type}"], kind, shape=(rows, width))
    x = net.add(wide(x), net.argument((rows, width), "f32", 0.5))
    normal = narrow(net.layer_norm(x))
    q, k, v = (net.heads(narrow(net.dense(normal, width)), heads, letters) for letters in ("hid", "hdi", "hid"))
    scores = net.named("linalg.batch_matmul", [q, k], net.filled((heads, rows, rows), kind, 0))
    scores = wide(scores)
    scale = [f"%s = arith.constant {(width // heads) ** -0.5:e} : f32", "%m = arith.mulf %a0, %s : f32"]
    body = scale + ["%i = linalg.index 1 : index", "%j = linalg.index 2 : index", "%c = arith.cmpi ule, %j, %i : index",
                    "%n = arith.constant -1.0e9 : f32", "%r = arith.select %c, %m, %n : f32"]
    if kind != "f32":
        body = [line.replace("%m", "%r") for line in scale]
    weights = narrow(net.softmax(net.generic("hij->hij", [scores], body)))
    mixed = net.named("linalg.batch_matmul", [weights, v], net.filled((heads, rows, width // heads), kind, 0))
    rows_first = net.transposed(mixed, "hid->ihd")
    joined = Value("", (rows, width), kind)
    joined.name = net.new(f"tensor.collapse_shape {rows_first.name} [[0], [1, 2]] : {rows_first.type} into {joined.type}")
    x = net.add(x, net.dense(joined, width))
    hidden = net.gelu(net.dense(narrow(net.layer_norm(x)), 4 * width))
    return net, net.text(net.add(x, net.dense(narrow(hidden), width)))


def perceptron():
    net = Net()
    x = net.argument((16, 784), "f32", 1.0)
    x = net.dense(net.dense(net.dense(x, 512, True), 256, True), 10)
    return net, net.text(net.softmax(x))


def attention(kind="f16", heads=4, rows=64, width=64):
    """Scaled dot products, softmax and mix alone."""
    net = Net()
    q, k, v = net.argument((heads, rows, width), kind), net.argument((heads, width, rows), kind), net.argument((heads, rows, width), kind)
    scores = net.named("linalg.batch_matmul", [q, k], net.filled((heads, rows, rows), "f32", 0))
    scaled = net.generic("hij->hij", [scores], [f"%s = arith.constant {width ** -0.5:e} : f32", "%r = arith.mulf %a0, %s : f32"])
    weights = net.cast(net.softmax(scaled), kind)
    return net, net.text(net.named("linalg.batch_matmul", [weights, v], net.filled(v.shape, "f32", 0)))


def reductions(rows=37, columns=301):
    """Of shapes that the compiler doesn't know: sums, maxima, where they are, softmax, sums of columns and of all."""
    net = Net()
    x = net.argument(("%n", "%m"), "f32", 2.0, sizes=(rows, columns))
    x.shape = (net.size(x, 0), net.size(x, 1))
    add = ["%r = arith.addf %a0, %o : f32"]
    most = net.generic("ij->i", [x], ["%r = arith.maximumf %a0, %o : f32"], init="0xFF800000")
    squares = net.generic("ij->i", [x], ["%p = arith.mulf %a0, %a0 : f32", "%r = arith.addf %p, %o : f32"], init=0)
    columns_sum = net.generic("ij->j", [x], add, init=0)
    total = net.generic("ij->", [x], add, init=0, shape=())
    return net, net.text(most, squares, columns_sum, total, net.softmax(x))


def product(kind, sum_kind, rows=64, inner=256, columns=128):
    net = Net()
    scale, offset = (256, -128) if kind == "i8" else (0.5, 0)
    a, b = net.argument((rows, inner), kind, scale, offset), net.argument((inner, columns), kind, scale, offset)
    return net, net.text(net.matmul(a, b, sum_kind))


def product_of_any_size(kind="f16", rows=45, inner=130, columns=77):
    net = Net()
    a = net.argument(("%n", "%k"), kind, 0.5, sizes=(rows, inner))
    b = net.argument(("%k", "%m"), kind, 0.5, sizes=(inner, columns))
    a.shape, b.shape = (net.size(a, 0), net.size(a, 1)), (net.size(b, 0), net.size(b, 1))
    return net, net.text(net.matmul(a, b))


MODELS = {
    "resnet18": resnet18,
    "transformer": transformer,
    "transformer_f16": lambda: transformer("f16"),
    "perceptron": perceptron,
    "attention_f16": attention,
    "reductions": reductions,
    "product_f16": lambda: product("f16", "f32"),
    "product_i8": lambda: product("i8", "i32"),
    "product_any_f16": product_of_any_size,
    "product_any_bf16": lambda: product_of_any_size("bf16"),
}
