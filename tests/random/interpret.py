#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A third opinion on a random kernel: reads spirv-dis's text and does, thread for thread, what
each instruction says, without any compiler. Slow (a second or so for a kernel) and of few
instructions: those that the C files of tests/random make. lanes.py has the operations between lanes;
exit code 2 says that the specification leaves open what one of them gives.

   interpret.py KERNEL.spv              prints a SHA-256 of the output
   interpret.py KERNEL.spv RESULT.bin   compares with a result (KEPT/ref/k1.1.bin): exit code 1
   interpret.py --trace THREAD ...      also prints each result of that thread

Input and output are as random_test.c binds them."""
import copy
import hashlib
import math
import re
import struct
import subprocess
import sys

import lanes

IN_SEED, IN_WORDS, OUT_WORDS, THREADS, GROUPS = 12345, 1024, 16, 64, 2
UNIFORM_SEED, UNIFORM_WORDS = 54321, 256
PUSH = (1, 2, 3, 5, 8, 13, 21, 34, 0x80000000, 0xFFFFFFFF, 0xDEADBEEF, 12345)
TAIL_AT, TAIL_WORDS = GROUPS * THREADS * OUT_WORDS * 4, 8
FORMATS = {16: "<e", 32: "<f", 64: "<d"}


def mix(seed, index):
    mask = (1 << 64) - 1
    x = (seed * 0x100000001B3 + index + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
    return x ^ x >> 31


def bits_of(value, width):
    try:
        data = struct.pack(FORMATS[width], value)
    except OverflowError:
        data = struct.pack(FORMATS[width], math.copysign(math.inf, value))
    return int.from_bytes(data, "little")


def rounded(value, width):
    """To nearest, ties to even. Doubles hold sums and products of floats closely enough that
    rounding twice is rounding once."""
    return value_of(bits_of(value, width), width)


def value_of(bits, width):
    return struct.unpack(FORMATS[width], bits.to_bytes(width // 8, "little"))[0]


def without_reconvergence(data):
    """The module without MaximallyReconvergesKHR, which older versions of spirv-dis don't read."""
    words, at = struct.unpack("<%dI" % (len(data) // 4), data), 5
    kept = data[:20]
    while at < len(words):
        count = words[at] >> 16
        if not (words[at] & 0xFFFF == 16 and words[at + 2] == 6023):
            kept += data[at * 4:(at + count) * 4]
        at += count
    return kept


class Module:
    def __init__(self, path):
        with open(path, "rb") as file:
            words = without_reconvergence(file.read())
        text = subprocess.run(["spirv-dis", "--raw-id", "--no-color", "--no-indent", "--no-header", "-"], input=words,
                              check=True, capture_output=True).stdout.decode()
        self.types, self.values, self.decorations, self.functions = {}, {}, {}, {}
        self.variables, self.type_of = {}, {}
        function = None
        for line in text.splitlines():
            match = re.match(r"(?:(%\d+) = )?(Op\w+)(.*)", line)
            result, op, args = match[1], match[2], match[3].split()
            if result and op != "OpLabel" and args:
                self.type_of[result] = args[0]
            if op == "OpEntryPoint":
                self.main = args[1]
            elif op == "OpDecorate":
                self.decorations.setdefault(args[0], {})[args[1]] = args[2:]
            elif op == "OpMemberDecorate":
                self.decorations.setdefault(args[0], {})[args[1], args[2]] = args[3:]
            elif op.startswith("OpType"):
                self.types[result] = (op[6:], args)
            elif op.startswith(("OpConstant", "OpSpecConstant")):
                self.constant(op, result, args)
            elif op == "OpFunction":
                function = {"params": [], "code": [], "labels": {}}
                self.functions[result] = function
            elif op == "OpFunctionParameter":
                function["params"].append(result)
            elif op == "OpVariable" and not function:
                self.variables[result] = args
            elif function is not None and op != "OpFunctionEnd":
                if op == "OpLabel":
                    function["labels"][result] = len(function["code"])
                function["code"].append((result, op, args))
        for function in self.functions.values():
            lanes.find_constructs(function)

    def constant(self, op, result, args):
        if op in ("OpConstantTrue", "OpConstantFalse"):
            self.values[result] = op == "OpConstantTrue"
        elif op == "OpConstantComposite":
            self.values[result] = [self.values[a] for a in args[1:]]
        elif op == "OpConstantNull":
            self.values[result] = self.null(args[0])
        elif op == "OpSpecConstantOp":
            self.values[result] = INTEGER["Op" + args[1]](*(self.values[a] for a in args[2:]), 32) & 0xFFFFFFFF
        elif op in ("OpConstant", "OpSpecConstant"):
            kind, operands = self.types[args[0]]
            if kind == "Int":
                self.values[result] = int(args[1]) & (1 << int(operands[0])) - 1
            else:
                text = args[1]
                value = float.fromhex(text) if "0x" in text else float(text)
                self.values[result] = rounded(value, int(operands[0]))
        else:
            raise NotImplementedError(op)

    def width(self, type_id):
        kind, args = self.types[type_id]
        return 0 if kind == "Bool" else int(args[0])

    def width_of(self, operand):
        kind, args = self.types[self.type_of[operand]]
        return self.width(args[0] if kind == "Vector" else self.type_of[operand])

    def element(self, type_id, index):
        """The type of a part, and its offset in bytes where there is a layout."""
        kind, args = self.types[type_id]
        if kind == "Struct":
            offset = self.decorations.get(type_id, {}).get((str(index), "Offset"), ["0"])
            return args[index], int(offset[0])
        if kind in ("Array", "RuntimeArray"):
            stride = self.decorations.get(type_id, {}).get("ArrayStride")
            return args[0], index * int(stride[0]) if stride else 0
        if kind in ("Vector", "Matrix"):
            return args[0], index * self.size(args[0])
        raise NotImplementedError(kind)

    def size(self, type_id):
        kind, args = self.types[type_id]
        return int(args[1]) * self.size(args[0]) if kind == "Vector" else self.width(type_id) // 8

    def bytes(self, type_id):
        kind, args = self.types[type_id]
        return int(args[1]) * self.bytes(args[0]) if kind == "Matrix" else self.size(type_id)

    def null(self, type_id):
        kind, args = self.types[type_id]
        if kind == "Vector":
            return [self.null(args[0]) for _ in range(int(args[1]))]
        if kind == "Array":
            return [self.null(args[0]) for _ in range(self.values[args[1]])]
        return {"Bool": False, "Int": 0, "Float": 0.0}[kind]

    def undefined(self, type_id):
        kind, args = self.types[type_id]
        if kind == "Array":
            return [self.undefined(args[0]) for _ in range(self.values[args[1]])]
        if kind in ("Vector", "Matrix"):
            return [self.undefined(args[0]) for _ in range(int(args[1]))]
        if kind == "Struct":
            return [self.undefined(member) for member in args]
        return None


class Buffer:
    """Memory with a layout. What the threads write belongs to one of them each."""

    def __init__(self, data, is_owned):
        self.data = data
        self.owners = {} if is_owned else None

    def own(self, at, size, thread):
        for byte in range(at, min(at + size, TAIL_AT)) if self.owners is not None else ():
            assert self.owners.setdefault(byte, thread) == thread, "two threads race for byte %d" % byte

    def load(self, module, type_id, at):
        kind, args = module.types[type_id]
        if kind in ("Vector", "Matrix"):
            size = module.size(args[0])
            return [self.load(module, args[0], at + i * size) for i in range(int(args[1]))]
        size = module.size(type_id)
        assert 0 <= at <= len(self.data) - size, "load beyond the buffer"
        bits = int.from_bytes(self.data[at:at + size], "little")
        return bits if kind == "Int" else value_of(bits, size * 8)

    def store(self, module, type_id, at, value):
        kind, args = module.types[type_id]
        if kind in ("Vector", "Matrix"):
            size = module.size(args[0])
            for i, part in enumerate(value):
                self.store(module, args[0], at + i * size, part)
            return
        size = module.size(type_id)
        assert 0 <= at <= len(self.data) - size, "store beyond the buffer"
        bits = value if kind == "Int" else bits_of(value, size * 8)
        self.data[at:at + size] = bits.to_bytes(size, "little")


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) & 1 else value


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def arithmetic_shift(a, b, width):
    return signed(a, width) >> b


def find_smsb(a, width):
    a = signed(a, width)
    return (~a if a < 0 else a).bit_length() - 1


def in_range(amount, width):
    assert amount < width, "undefined shift"
    return amount


def inserted(base, insert, offset, count, width):
    assert offset + count <= width
    mask = (1 << count) - 1 << offset
    return base & ~mask | insert << offset & mask


def extracted(base, offset, count, width):
    assert offset + count <= width
    return base >> offset & (1 << count) - 1


# Integers: operands without sign and the width of the result's (comparisons: the operands').
INTEGER = {
    "OpIAdd": lambda a, b, w: a + b,
    "OpISub": lambda a, b, w: a - b,
    "OpIMul": lambda a, b, w: a * b,
    "OpBitwiseAnd": lambda a, b, w: a & b,
    "OpBitwiseOr": lambda a, b, w: a | b,
    "OpBitwiseXor": lambda a, b, w: a ^ b,
    "OpNot": lambda a, w: ~a,
    "OpSNegate": lambda a, w: -a,
    "OpShiftLeftLogical": lambda a, b, w: a << in_range(b, w),
    "OpShiftRightLogical": lambda a, b, w: a >> in_range(b, w),
    "OpShiftRightArithmetic": lambda a, b, w: arithmetic_shift(a, in_range(b, w), w),
    "OpUDiv": lambda a, b, w: a // b,
    "OpUMod": lambda a, b, w: a % b,
    "OpSDiv": lambda a, b, w: quotient(signed(a, w), signed(b, w)),
    "OpSRem": lambda a, b, w: signed(a, w) - quotient(signed(a, w), signed(b, w)) * signed(b, w),
    "OpSMod": lambda a, b, w: signed(a, w) % signed(b, w),
    "OpBitReverse": lambda a, w: int(format(a, "0%db" % w)[::-1], 2),
    "OpBitCount": lambda a, w: bin(a).count("1"),
    "OpBitFieldInsert": inserted,
    "OpBitFieldUExtract": extracted,
    "OpBitFieldSExtract": lambda a, o, c, w: signed(extracted(a, o, c, w), c) if c else 0,
    "UMin": lambda a, b, w: min(a, b),
    "UMax": lambda a, b, w: max(a, b),
    "SMin": lambda a, b, w: min(signed(a, w), signed(b, w)),
    "SMax": lambda a, b, w: max(signed(a, w), signed(b, w)),
    "UClamp": lambda a, low, high, w: min(max(a, low), high),
    "SClamp": lambda a, low, high, w: min(max(signed(a, w), signed(low, w)), signed(high, w)),
    "SAbs": lambda a, w: abs(signed(a, w)),
    "SSign": lambda a, w: (signed(a, w) > 0) - (signed(a, w) < 0),
    "OpCopyObject": lambda a, w: a,
    "FindUMsb": lambda a, w: a.bit_length() - 1,
    "FindILsb": lambda a, w: (a & -a).bit_length() - 1,
    "FindSMsb": find_smsb,
    "OpIEqual": lambda a, b, w: a == b,
    "OpINotEqual": lambda a, b, w: a != b,
    "OpULessThan": lambda a, b, w: a < b,
    "OpULessThanEqual": lambda a, b, w: a <= b,
    "OpUGreaterThan": lambda a, b, w: a > b,
    "OpUGreaterThanEqual": lambda a, b, w: a >= b,
    "OpSLessThan": lambda a, b, w: signed(a, w) < signed(b, w),
    "OpSLessThanEqual": lambda a, b, w: signed(a, w) <= signed(b, w),
    "OpSGreaterThan": lambda a, b, w: signed(a, w) > signed(b, w),
    "OpSGreaterThanEqual": lambda a, b, w: signed(a, w) >= signed(b, w),
}


def choice(pick):
    return lambda a, b: b if math.isnan(a) else a if math.isnan(b) else pick(a, b)


def whole(function):
    return lambda a: a if not math.isfinite(a) else math.copysign(float(function(a)), a)


def either_nan(a, b):
    return math.isnan(a) or math.isnan(b)


FLOAT = {
    "OpFAdd": lambda a, b: a + b,
    "OpFSub": lambda a, b: a - b,
    "OpFMul": lambda a, b: a * b,
    "OpFDiv": lambda a, b: a / b,  # of 64 bits; divisors are no zeros
    "OpFNegate": lambda a: -a,
    "Sqrt": math.sqrt,
    "FAbs": abs,
    "Floor": whole(math.floor),
    "Ceil": whole(math.ceil),
    "Trunc": whole(math.trunc),
    "RoundEven": whole(round),
    "FSign": lambda a: 0.0 if math.isnan(a) else a if a == 0 else math.copysign(1.0, a),
    "NMin": choice(min),
    "NMax": choice(max),
    "OpFOrdEqual": lambda a, b: a == b,
    "OpFUnordNotEqual": lambda a, b: a != b,
    "OpFOrdLessThan": lambda a, b: a < b,
    "OpFOrdGreaterThanEqual": lambda a, b: a >= b,
    "OpFUnordLessThan": lambda a, b: either_nan(a, b) or a < b,
    "OpIsNan": math.isnan,
}

LOGIC = {
    "OpLogicalNot": lambda a: not a,
    "OpLogicalAnd": lambda a, b: a and b,
    "OpLogicalOr": lambda a, b: a or b,
    "OpLogicalEqual": lambda a, b: a == b,
    "OpLogicalNotEqual": lambda a, b: a != b,
}


ATOMIC = {
    "IAdd": lambda a, b: a + b,
    "ISub": lambda a, b: a - b,
    "UMin": min,
    "UMax": max,
    "SMin": lambda a, b: min(signed(a, 32), signed(b, 32)),
    "SMax": lambda a, b: max(signed(a, 32), signed(b, 32)),
    "And": lambda a, b: a & b,
    "Or": lambda a, b: a | b,
    "Xor": lambda a, b: a ^ b,
    "Exchange": lambda a, b: b,
    "IIncrement": lambda a: a + 1,
    "IDecrement": lambda a: a - 1,
}


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), 0.0)


def transpose(m):
    return [list(row) for row in zip(*m)]


def times_vector(m, v):
    return [dot(row, v) for row in zip(*m)]


def wide_product(a, b):
    return [a * b & 0xFFFFFFFF, a * b >> 32 & 0xFFFFFFFF]


def inserted_at(vector, value, index):
    return vector[:index] + [value] + vector[index + 1:]


def halves_of(word):
    return [value_of(word & 0xFFFF, 16), value_of(word >> 16, 16)]


def frexp(a):
    mantissa, exponent = math.frexp(a)
    return [mantissa, exponent & 0xFFFFFFFF]


# Of 32 bits. Floats are small enough here that everything is exact.
WHOLE = {
    "OpIAddCarry": lambda a, b: [a + b & 0xFFFFFFFF, a + b >> 32],
    "OpISubBorrow": lambda a, b: [a - b & 0xFFFFFFFF, int(a < b)],
    "OpUMulExtended": wide_product,
    "OpSMulExtended": lambda a, b: wide_product(signed(a, 32), signed(b, 32)),
    "OpVectorInsertDynamic": inserted_at,
    "OpAny": any,
    "OpAll": all,
    "OpDot": dot,
    "OpTranspose": transpose,
    "OpMatrixTimesVector": times_vector,
    "OpVectorTimesMatrix": lambda v, m: [dot(v, column) for column in m],
    "OpMatrixTimesMatrix": lambda a, b: [times_vector(a, column) for column in b],
    "OpMatrixTimesScalar": lambda m, a: [[x * a for x in column] for column in m],
    "OpOuterProduct": lambda a, b: [[x * y for x in a] for y in b],
    "Determinant": lambda m: m[0][0] * m[1][1] - m[1][0] * m[0][1],
    "Cross": lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
    "Fma": lambda a, b, c: a * b + c,
    "Ldexp": lambda a, b: math.ldexp(a, signed(b, 32)),
    "ModfStruct": lambda a: list(math.modf(a)),
    "FrexpStruct": frexp,
    "PackHalf2x16": lambda v: bits_of(v[0], 16) | bits_of(v[1], 16) << 16,
    "UnpackHalf2x16": halves_of,
    "Step": lambda edge, x: 0.0 if x < edge else 1.0,
}


def defined(value):
    assert value is not None, "a value that nobody stored is used"
    return value


class Thread:
    def __init__(self, module, memory, touched, group, local, trace):
        self.module, self.trace = module, trace
        self.number, self.phase, self.touched = group * THREADS + local, 0, touched
        self.memory = dict(memory)
        self.shared = {id(at) for at in memory.values() if isinstance(at, list)}
        for name in module.variables:
            kind = module.decorations.get(name, {}).get("BuiltIn")
            if kind:
                first = {"GlobalInvocationId": group * THREADS + local, "LocalInvocationId": local,
                         "WorkgroupId": group}[kind[0]]
                self.memory[name] = [first, 0, 0]

    # Pointers: ("buffer", object, offset) or ("plain", list, index); variables hold [value].
    def chain(self, values, pointee, base, indices):
        module = self.module
        if isinstance(base[1], Buffer):
            offset = base[2]
            for index in indices:
                pointee, away = module.element(pointee, index)
                offset += away
            return (pointee, base[1], offset)
        holder, at = base[1], base[2]
        for index in indices:
            pointee, _ = module.element(pointee, index)
            holder, at = holder[at], index
            assert index < len(holder), "index beyond the array"
        return (pointee, holder, at)

    def touch(self, pointer, stores):
        """Between two barriers nobody else may store what this thread touches."""
        type_id, holder, at = pointer
        if isinstance(holder, Buffer):
            holder.own(at, self.module.bytes(type_id), self.number)
            return
        if id(holder) not in self.shared:
            return
        before = self.touched.get((id(holder), at))
        if before and before[0] == self.phase and before[1] != self.number:
            assert not (stores or before[2]) or stores == before[2] == "atomic", "two threads race for workgroup memory"
        self.touched[id(holder), at] = (self.phase, self.number, stores)

    def load(self, pointer, stores=False):
        type_id, holder, at = pointer
        self.touch(pointer, stores)
        if isinstance(holder, Buffer):
            return holder.load(self.module, type_id, at)
        value = holder[at]
        return copy.deepcopy(value) if isinstance(value, list) else defined(value)

    def store(self, pointer, value, stores=True):
        type_id, holder, at = pointer
        self.touch(pointer, stores)
        if isinstance(holder, Buffer):
            holder.store(self.module, type_id, at, value)
        else:
            holder[at] = copy.deepcopy(value)

    def run(self, name, arguments, callers=()):
        """A generator: yields at barriers and operations between lanes, returns the function's value."""
        module, function = self.module, self.module.functions[name]
        values = dict(module.values)
        values.update(zip(function["params"], arguments))
        for variable, args in module.variables.items():
            pointee = module.types[args[0]][1][1]
            at = self.memory[variable]
            values[variable] = (pointee, at, 0) if isinstance(at, Buffer) else (pointee, [at], 0)
        at, block, before, places = 0, None, None, lanes.Places(function, callers)
        while True:
            result, op, args = function["code"][at]
            at += 1
            target = None
            if op == "OpLabel":
                before, block = block, result
                places.enter(block)
                phis = []
                while function["code"][at][1] == "OpPhi":
                    phi, _, sources = function["code"][at]
                    phis.append((phi, values[dict(zip(sources[2::2], sources[1::2]))[before]]))
                    at += 1
                values.update(phis)
            elif op in ("OpSelectionMerge", "OpLoopMerge"):
                pass
            elif op == "OpBranch":
                target = args[0]
            elif op == "OpBranchConditional":
                target = args[1] if values[args[0]] else args[2]
            elif op == "OpSwitch":
                cases = dict(zip(map(int, args[2::2]), args[3::2]))
                target = cases.get(values[args[0]], args[1])
            elif op == "OpReturn":
                return None
            elif op == "OpReturnValue":
                return values[args[0]]
            elif op == "OpControlBarrier":
                self.phase += 1
                yield
            elif op == "OpMemoryBarrier":
                pass
            elif op == "OpVariable":
                pointee = module.types[args[0]][1][1]
                values[result] = (pointee, [module.undefined(pointee)], 0)
                if len(args) > 2:
                    self.store(values[result], values[args[2]])
            elif op == "OpAccessChain":
                base = values[args[1]]
                values[result] = self.chain(values, base[0], base, [values[i] for i in args[2:]])
            elif op == "OpStore":
                self.store(values[args[0]], values[args[1]])
                if self.trace:
                    print(op, *args, values[args[1]])
            elif op == "OpFunctionCall":
                values[result] = yield from self.run(args[1], [values[a] for a in args[2:]], places.here(at))
            elif op.startswith("OpGroupNonUniform"):
                if lanes.in_switch(function, at):
                    raise lanes.Unspecified("an operation between lanes inside of a switch")
                values[result] = yield self.between_lanes(op[17:], args, values, places.here(at))
            elif op.startswith("OpAtomic"):
                values[result] = self.atomic(op[8:], *(values[a] for a in args[1:]))
            else:
                values[result] = self.compute(op, args, values)
            if self.trace and result and op not in ("OpLabel", "OpVariable", "OpAccessChain"):
                print(result, "=", op, *args, "->", values[result])
            if target:
                at = function["labels"][target]

    def between_lanes(self, name, args, values, place):
        type_id, how = args[0], [arg for arg in args[2:] if arg[0] != "%"]
        width = self.module.width(type_id) if self.module.types[type_id][0] != "Vector" else 32
        inputs = [values[arg] for arg in args[2:] if arg[0] == "%"]
        return place, name, how, width, lambda op, *of: self.scalar(op, type_id, list(of)), inputs

    def atomic(self, op, pointer, scope, semantics, *operands):
        old = self.load(pointer, "atomic")
        if op == "CompareExchange":
            new = operands[1] if old == operands[2] else old
        else:
            new = ATOMIC[op](old, *operands) & 0xFFFFFFFF
        self.store(pointer, new, "atomic")
        return old

    def compute(self, op, args, values):
        module, type_id = self.module, args[0]
        kind, operands = module.types[type_id]
        if op == "OpExtInst":
            op, args = args[2], args[:1] + args[3:]
        if op == "OpLoad":
            return self.load(values[args[1]])
        if op == "OpCompositeConstruct":
            return [values[a] for a in args[1:]]
        if op == "OpCompositeExtract":
            value = values[args[1]]
            for index in args[2:]:
                value = value[int(index)]
            return value
        if op == "OpVectorShuffle":
            both = values[args[1]] + values[args[2]]
            return [both[int(i)] for i in args[3:]]
        if op == "OpVectorExtractDynamic":
            return values[args[1]][values[args[2]]]
        if op == "OpCompositeInsert":
            value = copy.deepcopy(values[args[2]])
            inner = value
            for index in args[3:-1]:
                inner = inner[int(index)]
            inner[int(args[-1])] = values[args[1]]
            return value
        if op == "OpArrayLength":
            return IN_WORDS
        inputs = [values[a] for a in args[1:]]
        if op in WHOLE:
            return WHOLE[op](*inputs)
        if op == "OpBitcast" and "Vector" in (kind, module.types[module.type_of[args[1]]][0]):
            return self.cast(type_id, inputs[0], module.width_of(args[1]))
        if op == "OpSelect" and not isinstance(inputs[0], list):
            return inputs[1] if inputs[0] else inputs[2]
        if kind == "Vector":
            return [self.scalar(op, operands[0], list(parts), args) for parts in zip(*inputs)]
        return self.scalar(op, type_id, inputs, args)

    def cast(self, type_id, value, width):
        """Of two vectors the first elements are the low bits."""
        kind, operands = self.module.types[type_id]
        parts = value if isinstance(value, list) else [value]
        parts = [bits_of(part, width) if isinstance(part, float) else part for part in parts]
        bits = sum(part << width * i for i, part in enumerate(parts))
        if kind != "Vector":
            return bits
        width = self.module.width(operands[0])
        return [bits >> width * i & (1 << width) - 1 for i in range(int(operands[1]))]

    def scalar(self, op, type_id, inputs, args=None):
        module = self.module
        kind = module.types[type_id][0]
        width = module.width(type_id)
        if op == "OpSelect":
            return inputs[1] if inputs[0] else inputs[2]
        if op in LOGIC:
            return LOGIC[op](*inputs)
        if op in INTEGER:
            if kind == "Bool":
                return INTEGER[op](*inputs, module.width_of(args[1]))
            return INTEGER[op](*inputs, width) & (1 << width) - 1
        if op in FLOAT:
            value = FLOAT[op](*inputs)
            return value if kind == "Bool" else rounded(value, width)
        mask = (1 << width) - 1
        if op == "OpUConvert":
            return inputs[0] & mask
        if op == "OpSConvert":
            return signed(inputs[0], module.width_of(args[1])) & mask
        if op in ("OpConvertFToU", "OpConvertFToS"):
            return int(inputs[0]) & mask
        if op == "OpConvertSToF":
            return rounded(float(signed(inputs[0], module.width_of(args[1]))), width)
        if op == "OpConvertUToF":
            return rounded(float(inputs[0]), width)
        if op == "OpFConvert":
            return rounded(inputs[0], width)
        if op == "OpBitcast":
            return bits_of(inputs[0], width) if kind == "Int" and isinstance(inputs[0], float) else (
                value_of(inputs[0], width) if kind == "Float" else inputs[0])
        raise NotImplementedError(op)


def main():
    arguments = sys.argv[1:]
    traced = -1
    if arguments[:1] == ["--trace"]:
        traced = int(arguments[1])
        arguments = arguments[2:]
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    module = Module(arguments[0])
    words = [mix(IN_SEED, i) >> 32 for i in range(IN_WORDS)]
    buffers = {"0": Buffer(bytearray(struct.pack("<%dI" % IN_WORDS, *words)), False),
               "1": Buffer(bytearray(TAIL_AT + TAIL_WORDS * 4), True),
               "2": Buffer(bytearray(struct.pack("<%dI" % UNIFORM_WORDS, *(
                   mix(UNIFORM_SEED, i) >> 32 for i in range(UNIFORM_WORDS)))), False)}
    push = Buffer(bytearray(struct.pack("<%dI" % len(PUSH), *PUSH)), False)
    for group in range(GROUPS):
        memory, touched = {}, {}
        for name, args in module.variables.items():
            decorations = module.decorations.get(name, {})
            if "Binding" in decorations:
                memory[name] = buffers[decorations["Binding"][0]]
            elif args[1] == "PushConstant":
                memory[name] = push
            elif args[1] == "Workgroup":
                memory[name] = module.undefined(module.types[args[0]][1][1])
        threads = [Thread(module, memory, touched, group, local, group * THREADS + local == traced).run(module.main, [])
                   for local in range(THREADS)]
        subgroups = [lanes.Subgroup(threads[i:i + lanes.LANES]) for i in range(0, THREADS, lanes.LANES)]
        while subgroups:
            subgroups = [subgroup for subgroup in subgroups if subgroup.run_to_barrier()]
    got = bytes(buffers["1"].data)
    print(hashlib.sha256(got).hexdigest())
    if len(arguments) == 2:
        with open(arguments[1], "rb") as file:
            want = file.read()
        wrong = [i for i in range(0, len(got), 4) if got[i:i + 4] != want[i:i + 4]]
        for i in wrong[:8]:
            print("byte %d (thread %d, word %d): interpreted 0x%08x, result 0x%08x" % (
                i, i // 4 // OUT_WORDS, i // 4 % OUT_WORDS,
                int.from_bytes(got[i:i + 4], "little"), int.from_bytes(want[i:i + 4], "little")))
        if wrong or len(want) != len(got):
            sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except lanes.Unspecified as error:
        print("unspecified:", error)
        sys.exit(2)
