# SPDX-License-Identifier: MIT
"""Reads SPIR-V: finds modules inside other files and splits a module into its instructions.

Used by fetch.py, which collects modules, and by launch.py, which asks what a module binds.
"""
import re
import struct
import zlib

MAGIC = 0x07230203
MAGIC_BYTES = struct.pack("<I", MAGIC)
GLCOMPUTE = 5

OP = {"Name": 5, "MemberName": 6, "EntryPoint": 15, "ExecutionMode": 16, "Capability": 17,
      "TypeVoid": 19, "TypeBool": 20, "TypeInt": 21, "TypeFloat": 22, "TypeVector": 23,
      "TypeMatrix": 24, "TypeImage": 25, "TypeSampler": 26, "TypeSampledImage": 27,
      "TypeArray": 28, "TypeRuntimeArray": 29, "TypeStruct": 30, "TypePointer": 32,
      "ConstantTrue": 41, "ConstantFalse": 42, "Constant": 43, "ConstantComposite": 44,
      "SpecConstantTrue": 48, "SpecConstantFalse": 49, "SpecConstant": 50,
      "SpecConstantComposite": 51, "SpecConstantOp": 52, "Function": 54, "FunctionEnd": 56,
      "Variable": 59, "Decorate": 71, "MemberDecorate": 72, "ExecutionModeId": 331,
      "TypeAccelerationStructure": 5341}
# What may stand between two functions.
BETWEEN = {8, 54, 317}


class NotSpirv(Exception):
    pass


def words_of(data):
    return struct.unpack(f"<{len(data) // 4}I", data[:len(data) // 4 * 4])


def header_ok(words, at):
    version, _, bound, schema = words[at + 1:at + 5]
    return version & 0xff0000ff == 0 and 0x10000 <= version <= 0x10600 and \
        0 < bound < 1 << 22 and schema == 0


def length_at(data, start):
    """Bytes of the module that starts there; 0 when there is none."""
    if len(data) - start < 24:
        return 0
    header = struct.unpack_from("<5I", data, start)
    if not header_ok(header, 0):
        return 0
    at, end, in_function, complete = start + 20, 0, False, False
    if struct.unpack_from("<I", data, at)[0] & 0xffff != OP["Capability"]:
        return 0
    while at + 4 <= len(data):
        word, = struct.unpack_from("<I", data, at)
        opcode, count = word & 0xffff, word >> 16
        if count == 0 or at + 4 * count > len(data) or opcode > 7000:
            break
        if complete and not in_function and opcode not in BETWEEN:
            break
        at += 4 * count
        if opcode == OP["Function"]:
            in_function = True
        elif opcode == OP["FunctionEnd"]:
            in_function, complete, end = False, True, at
    return end - start if end else 0


def modules_in(data):
    """Each SPIR-V module in the bytes, also of those that gzip or zlib packed inside."""
    at = data.find(MAGIC_BYTES)
    while at >= 0:
        length = length_at(data, at)
        if length:
            yield data[at:at + length]
        at = data.find(MAGIC_BYTES, at + max(length, 4))
    for found in re.finditer(rb"\x1f\x8b\x08", data):
        try:
            inner = zlib.decompressobj(31).decompress(data[found.start():], 1 << 24)
        except zlib.error:
            continue
        if inner.startswith(MAGIC_BYTES):
            yield from modules_in(inner)


def instructions(words):
    """(opcode, operands) for each instruction."""
    if len(words) < 5 or words[0] != MAGIC:
        raise NotSpirv("no SPIR-V")
    at = 5
    while at < len(words):
        count = words[at] >> 16
        if count == 0 or at + count > len(words):
            raise NotSpirv(f"an instruction of {count} words at word {at}")
        yield words[at] & 0xffff, words[at + 1:at + count]
        at += count


def string_at(words):
    """The text that the words start with, and how many words it takes."""
    data = struct.pack(f"<{len(words)}I", *words)
    length = data.index(b"\0")
    return data[:length].decode("utf-8", "replace"), length // 4 + 1


def specialized(words, values):
    """The module with other defaults of its specialization constants: values by their ids. Those of
    more or less than 32 bits keep theirs."""
    result, ids, at = list(words), {}, 5
    while at < len(words):
        opcode, count = words[at] & 0xffff, words[at] >> 16
        if opcode == OP["Decorate"] and words[at + 2] == 1:  # SpecId
            ids[words[at + 1]] = words[at + 3]
        value = values.get(ids.get(words[at + 2])) if count > 2 else None
        if value is not None and opcode == OP["SpecConstant"] and count == 4:
            result[at + 3] = value & 0xffffffff
        elif value is not None and opcode in (OP["SpecConstantTrue"], OP["SpecConstantFalse"]):
            result[at] = count << 16 | OP["SpecConstantTrue" if value else "SpecConstantFalse"]
        at += count
    return struct.pack(f"<{len(result)}I", *result)


def compute_entries(words):
    """Names of the module's compute entry points."""
    names = []
    for opcode, operands in instructions(words):
        if opcode == OP["EntryPoint"] and operands[0] == GLCOMPUTE:
            names.append(string_at(operands[2:])[0])
        elif opcode == OP["Function"]:
            break
    return names


def capabilities(words):
    """Numbers of the capabilities that the module declares."""
    return {operands[0] for opcode, operands in instructions(words) if opcode == OP["Capability"]}
