# SPDX-License-Identifier: MIT
"""What a compute module binds: its resources with their layouts, push constants, workgroup size.

launch.py turns this into inputs. It reads the types that SPIR-V declares; what no code accesses
counts, too, as it does for a pipeline layout.
"""
import struct

from spirv import GLCOMPUTE, OP, instructions, string_at

UNIFORM_CONSTANT, UNIFORM, PUSH_CONSTANT, STORAGE_BUFFER = 0, 2, 9, 12
PHYSICAL_POINTER = 5349
LOCAL_SIZE, LOCAL_SIZE_ID = 17, 38
BLOCK, BUFFER_BLOCK, ARRAY_STRIDE, MATRIX_STRIDE, BUILTIN, NON_WRITABLE = 2, 3, 6, 7, 11, 24
SPEC_ID, BINDING, SET, OFFSET = 1, 33, 34, 35
WORKGROUP_SIZE = 25
TYPES = {OP[name] for name in OP if name.startswith("Type")}
CONSTANTS = {OP["Constant"], OP["SpecConstant"]}


# What an address goes through on its way from the push constants to a pointer.
LOAD, ACCESS_CHAINS, COMPOSITE_EXTRACT = 61, (65, 66), 81
IMUL, UDIV = 132, 134
ADDRESS_STEPS, TO_POINTER = {83, 113, 114, 124, 128}, 120


class Unsupported(Exception):
    """A launch would need what the rule of launch.py doesn't have."""


class Module:
    """Types, constants, decorations and global variables of a module."""

    def __init__(self, words):
        self.types, self.constants, self.composites, self.variables = {}, {}, {}, []
        self.decorations, self.members = {}, {}
        self.entry = self.entry_id = None
        self.modes, self.specs, self.expressions = [], {}, {}
        # Integers of the push constants that become pointers: {offset: type of what it points to}
        self.addresses = {}
        self._places = {}  # id: offsets of the push constants that its value comes from
        self._chains = {}  # id of a pointer into the push constants: type and offset
        in_function = False
        for opcode, operands in instructions(words):
            if opcode == OP["Function"]:
                in_function = True
            if in_function:
                self._trace(opcode, operands)
            else:
                self._read(opcode, operands)

    def _trace(self, opcode, operands):
        """Follows 64-bit integers of the push constants to where they become pointers."""
        if opcode in ACCESS_CHAINS and operands[2] in self._chains:
            self._step(*self._chains[operands[2]], operands)
        elif opcode in (LOAD, COMPOSITE_EXTRACT):
            if operands[2] in self._places:
                self._places[operands[1]] = self._places[operands[2]]
        elif opcode == TO_POINTER or opcode in ADDRESS_STEPS:
            found = set().union(*(self._places.get(value, set()) for value in operands[2:]))
            if self.types.get(operands[0], [0])[0] == OP["TypePointer"]:
                for offset in found:
                    self.addresses.setdefault(offset, self.pointee(operands[0]))
            elif found:
                self._places[operands[1]] = found

    def _step(self, which, offset, operands):
        """A chain into the push constants, as far as its indices are known."""
        for index in operands[3:]:
            opcode, parts = self.types[which]
            at = self.constants.get(index)
            if at is None:
                return
            if opcode == OP["TypeStruct"]:
                offset += self.offset_of(which, at)
                which = parts[at]
            else:
                offset += at * (self.stride_of(which, parts[0]) if opcode == OP["TypeArray"]
                                else self.size_of(parts[0]))
                which = parts[0]
        self._chains[operands[1]] = which, offset
        self._places[operands[1]] = {offset}

    def _read(self, opcode, operands):
        if opcode == OP["EntryPoint"]:
            if operands[0] == GLCOMPUTE and self.entry is None:
                self.entry, self.entry_id = string_at(operands[2:])[0], operands[1]
        elif opcode in (OP["ExecutionMode"], OP["ExecutionModeId"]):
            self.modes.append((operands[0], operands[1], operands[2:]))
        elif opcode == OP["Decorate"]:
            self.decorations.setdefault(operands[0], {})[operands[1]] = operands[2:]
        elif opcode == OP["MemberDecorate"]:
            self.members.setdefault((operands[0], operands[1]), {})[operands[2]] = operands[3:]
        elif opcode in TYPES:
            self.types[operands[0]] = (opcode, tuple(operands[1:]))
        elif opcode in CONSTANTS:
            self.constants[operands[1]] = operands[2]
            if opcode == OP["SpecConstant"]:
                self._keep_spec(operands[1])
        elif opcode in (OP["ConstantComposite"], OP["SpecConstantComposite"]):
            self.composites[operands[1]] = operands[2:]
        elif opcode == OP["SpecConstantOp"]:
            self.expressions[operands[1]] = operands[2], operands[3:]
        elif opcode == OP["Variable"]:
            self.variables.append((operands[1], operands[0], operands[2]))
            if operands[2] == PUSH_CONSTANT:
                self._chains[operands[1]] = self.pointee(operands[0]), 0

    def _keep_spec(self, constant):
        words = self.decorations.get(constant, {}).get(SPEC_ID)
        if words:
            self.specs.setdefault(words[0], []).append(constant)

    def decoration(self, target, which):
        words = self.decorations.get(target, {}).get(which)
        return None if words is None else (words[0] if words else True)

    def length_of(self, constant):
        """Of an array; specialization's own expressions aren't computed."""
        if constant not in self.constants:
            raise Unsupported("an array whose length is computed")
        return self.constants[constant]

    def spec_of(self, constant):
        return self.decoration(constant, SPEC_ID)

    # ---- workgroups

    def workgroup_ids(self):
        """Ids of the three constants of the size, or None where it is given in numbers."""
        for target, found in self.decorations.items():
            if BUILTIN in found and found[BUILTIN][0] == WORKGROUP_SIZE and \
                    target in self.composites:
                return self.composites[target]
        for entry, mode, operands in self.modes:
            if mode == LOCAL_SIZE_ID and entry == self.entry_id:
                return operands
        return None

    def workgroup(self):
        ids = self.workgroup_ids()
        if ids:
            return [self.constants.get(constant, 1) for constant in ids]
        for entry, mode, operands in self.modes:
            if mode == LOCAL_SIZE and entry == self.entry_id:
                return list(operands)
        return [1, 1, 1]

    def value_of(self, constant, values):
        """Of a constant or an expression of products and quotients of them, with values by the
        numbers of specialization constants; None where it is none."""
        if constant in self.constants:
            return values.get(self.spec_of(constant), self.constants[constant])
        operation, operands = self.expressions.get(constant, (None, ()))
        if operation == COMPOSITE_EXTRACT and operands[0] in self.composites:
            return self.value_of(self.composites[operands[0]][operands[1]], values)
        if operation not in (IMUL, UDIV):
            return None
        left, right = (self.value_of(operand, values) for operand in operands)
        if left is None or right is None or (operation == UDIV and right == 0):
            return None
        return left * right if operation == IMUL else left // right

    # ---- layouts

    def stride_of(self, array, element):
        return self.decoration(array, ARRAY_STRIDE) or self.size_of(element)

    def size_of(self, which):
        """Bytes of a type with an explicit layout; a runtime array has none."""
        opcode, operands = self.types[which]
        if opcode in (OP["TypeInt"], OP["TypeFloat"]):
            return operands[0] // 8
        if opcode == OP["TypePointer"]:
            return 8
        if opcode == OP["TypeVector"]:
            return self.size_of(operands[0]) * operands[1]
        if opcode == OP["TypeMatrix"]:
            return self.size_of(operands[0]) * operands[1]
        if opcode == OP["TypeArray"]:
            return self.stride_of(which, operands[0]) * self.length_of(operands[1])
        if opcode == OP["TypeRuntimeArray"]:
            return 0
        if opcode == OP["TypeStruct"]:
            return max((self.offset_of(which, i) + self.member_size(which, i, member)
                        for i, member in enumerate(operands)), default=0)
        raise Unsupported(f"a type of opcode {opcode} in memory")

    def offset_of(self, struct_type, member):
        words = self.members.get((struct_type, member), {}).get(OFFSET)
        return words[0] if words else 0

    def member_size(self, struct_type, index, member):
        stride = self.members.get((struct_type, index), {}).get(MATRIX_STRIDE)
        if stride and self.types[member][0] == OP["TypeMatrix"]:
            return stride[0] * self.types[member][1][1]
        return self.size_of(member)

    def leaves(self, which, base=0, limit=4096):
        """(offset, kind, bytes) of each scalar; kind: int, float or pointer. Runtime arrays give
        none."""
        opcode, operands = self.types[which]
        if opcode == OP["TypeInt"]:
            yield base, "int", operands[0] // 8
        elif opcode == OP["TypeFloat"]:
            yield base, "float", operands[0] // 8
        elif opcode == OP["TypePointer"]:
            yield base, "pointer", 8
        elif opcode in (OP["TypeVector"], OP["TypeMatrix"]):
            size = self.size_of(operands[0])
            for i in range(operands[1]):
                yield from self.leaves(operands[0], base + i * size)
        elif opcode == OP["TypeArray"]:
            stride = self.stride_of(which, operands[0])
            for i in range(min(self.length_of(operands[1]), limit)):
                yield from self.leaves(operands[0], base + i * stride)
        elif opcode == OP["TypeStruct"]:
            for i, member in enumerate(operands):
                yield from self.leaves(member, base + self.offset_of(which, i))
        elif opcode != OP["TypeRuntimeArray"]:
            raise Unsupported(f"a type of opcode {opcode} in memory")

    def pointers(self, which, base=0):
        """(offset, type pointed to) of each pointer of a structure."""
        opcode, operands = self.types[which]
        if opcode == OP["TypePointer"]:
            yield base, operands[1]
        elif opcode == OP["TypeStruct"]:
            for i, member in enumerate(operands):
                yield from self.pointers(member, base + self.offset_of(which, i))

    def integer_arrays(self, which):
        """Lengths of a structure's arrays of integers."""
        opcode, operands = self.types[which]
        if opcode == OP["TypeStruct"]:
            for member in operands:
                yield from self.integer_arrays(member)
        elif opcode == OP["TypeArray"]:
            element, parts = self.types[operands[0]]
            if element == OP["TypeVector"]:
                element = self.types[parts[0]][0]
            if element == OP["TypeInt"]:
                yield self.length_of(operands[1])

    def runtime_array(self, which, base=0):
        """(offset, stride, element) of the array without a length that ends a block, or None."""
        opcode, operands = self.types[which]
        if opcode == OP["TypeRuntimeArray"]:
            return base, self.stride_of(which, operands[0]), operands[0]
        if opcode == OP["TypeStruct"] and operands:
            last = len(operands) - 1
            return self.runtime_array(operands[last], base + self.offset_of(which, last))
        return None

    # ---- resources

    def pointee(self, pointer):
        return self.types[pointer][1][1]

    def resources(self):
        """{(set, binding): [variable, ...]}: several where the module has several views of one."""
        found = {}
        for variable, pointer, storage in self.variables:
            if storage in (UNIFORM_CONSTANT, UNIFORM, STORAGE_BUFFER):
                place = (self.decoration(variable, SET) or 0, self.decoration(variable, BINDING) or 0)
                found.setdefault(place, []).append((variable, self.pointee(pointer), storage))
        return dict(sorted(found.items()))

    def kind_of(self, which, storage):
        """(descriptor, count, type): the descriptor's name in a manifest of tools/manifest."""
        count = 1
        opcode, operands = self.types[which]
        if opcode == OP["TypeArray"]:
            count = self.length_of(operands[1])
            which = operands[0]
        elif opcode == OP["TypeRuntimeArray"]:
            count, which = 0, operands[0]
        opcode, operands = self.types[which]
        if opcode == OP["TypeStruct"]:
            is_storage = storage == STORAGE_BUFFER or BUFFER_BLOCK in self.decorations.get(which, {})
            return ("ssbo" if is_storage else "ubo"), count, which
        if opcode == OP["TypeSampler"]:
            return "sampler", count, which
        if opcode == OP["TypeSampledImage"]:
            return "sampled", count, operands[0]
        if opcode == OP["TypeImage"]:
            return self._image_kind(operands), count, which
        if opcode == OP["TypeAccelerationStructure"]:
            return "acceleration", count, which
        return f"opcode {opcode}", count, which

    @staticmethod
    def _image_kind(operands):
        is_storage = operands[5] == 2
        if operands[1] == 5:  # Buffer
            return "storage_texels" if is_storage else "uniform_texels"
        return "storage" if is_storage else "texture"

    def push_constants(self):
        for _, pointer, storage in self.variables:
            if storage == PUSH_CONSTANT:
                return self.pointee(pointer)
        return None


def float_bits(value, size):
    return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
