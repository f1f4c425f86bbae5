#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns ir_op.def into the enum of generic operations, its table, and accessors and builders; and
the rows of isa.def into accessors of the same kind for machine instructions. Usage:

    gen_ir.py ir_op.def isa.def operand.def op_enum.h op_table.inc ops.h ops.c
        machine_enum.h machine_ops.h machine_table.inc words.inc
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../isa"))

from gen_isa import Bad, lines_of, read_operands, read_rows  # noqa: E402

FLAGS = {"C": "AGXC_COMMUTATIVE", "S": "AGXC_SIDE_EFFECT", "R": "AGXC_READS_MEMORY",
         "T": "AGXC_TERMINATOR", "X": "AGXC_CROSS_LANE"}
MADE = "/* SPDX-License-Identifier: MIT\n * Made by gen_ir.py from %s. */\n"


class Op:
    """A row of ir_op.def. dests is a list of (name, bits), or None for any number."""

    def __init__(self, words, types):
        self.name, self.result = words[0], words[1]
        parts, part = {"": [], ";": [], "|": []}, ""
        for word in words[2:]:
            if word in parts:
                part = word
            else:
                parts[part].append(word)
        self.srcs, self.imms, self.flags = parts[""], parts[";"], parts["|"]
        self.optional = sum(1 << at for at, src in enumerate(self.srcs) if src.endswith("?"))
        self.srcs = [src.rstrip("?") for src in self.srcs]
        if self.srcs == ["..."]:
            self.srcs = None
        for imm in self.imms:
            if imm not in types:
                raise Bad("no type for immediate " + imm)
        for flag in self.flags:
            if flag not in FLAGS:
                raise Bad("unknown flag " + flag)
        self.read_result()

    def read_result(self):
        text = self.result
        self.shape = None
        if text == "-":
            self.dests = []
        elif text == "...":
            self.dests = None
        elif ":" in text:
            self.dests = [(name, int(bits)) for name, bits in
                          (item.split(":") for item in text.split(","))]
        else:
            self.dests = [None]
            if text[0] == "=":
                if text[1:] not in (self.srcs or []):
                    raise Bad("no source " + text[1:])
                self.shape = (text[1:] + ".bits", text[1:] + ".count")
            else:
                match = re.fullmatch(r"(\d+|\?)(?:x(\d+|\?))?", text)
                if not match:
                    raise Bad("not a result: " + text)
                self.shape = (match[1].replace("?", "bits"),
                              (match[2] or "1").replace("?", "count"))


def read_ops(path):
    types, spellings, ops = {}, {}, []
    for number, words, _ in lines_of(path):
        try:
            if words[0] == "imm" and len(words) in (3, 4):
                types[words[1]] = words[2].replace("~", " ")
                spellings[words[1]] = words[3] if len(words) == 4 else None
            elif words[0] == "op":
                ops.append(Op(words[1:], types))
            else:
                raise Bad("expected imm or op")
        except (Bad, ValueError, IndexError) as error:
            raise Bad("%s:%d: %s" % (path, number, error))
    return types, spellings, ops


def places(items):
    """{name: {place: [owner]}} of (owner, [name]), in order of first use."""
    out = {}
    for owner, names in items:
        for place, name in enumerate(names):
            out.setdefault(name, {}).setdefault(place, []).append(owner)
    return out


def write(path, parts):
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(parts))


def enum(tag, prefix, names, last):
    return ["\nenum %s {\n" % tag] + ["   %s_%s,\n" % (prefix, name.upper()) for name in names] + \
        ["   %s,\n};\n" % last]


def table(kind, declaration, index, value, items):
    """A table of places by owner and name; 0 where the owner has no such operand."""
    out = ["\n%s %s = {\n" % (kind, declaration)]
    for owner, names in items:
        cells = ["[%s_%s] = %d" % (value, name.upper(), place + 1)
                 for place, name in enumerate(names)]
        if cells:
            out.append("   [%s_%s] = {%s},\n" % (index, owner.upper(), ", ".join(cells)))
    return out + ["};\n"]


# ---- generic operations -------------------------------------------------------

def write_enum(path, ops, names):
    out = [MADE % "ir_op.def", "#pragma once\n\nenum agxc_op {\n"]
    out += ["   AGXC_OP_%s,\n" % op.name for op in ops]
    out.append("   AGXC_OP_ISA, /* AGXC_OP_ISA + opcode: a machine instruction */\n};\n")
    out.append("\n/* Names of operands in ir_op.def. */")
    for role in ("dest", "src", "imm"):
        out += enum("agxc_%s_name" % role, "AGXC_%s" % role.upper(), names[role],
                    "AGXC_%s_NAMES" % role.upper())
    write(path, out)


def count(names):
    return -1 if names is None else len(names)


def write_table(path, ops, items):
    out = [MADE % "ir_op.def", "static const struct agxc_op_info infos[] = {\n"]
    for op in ops:
        flags = " | ".join(FLAGS[flag] for flag in op.flags) or "0"
        out.append('   {"%s", %d, %d, %d, %s, 0x%x},\n' % (
            op.name.lower(), count(op.dests), count(op.srcs), len(op.imms), flags, op.optional))
    out.append("};\n")
    for role in ("dest", "src", "imm"):
        out += table("const uint8_t", "agxc_%s_places[AGXC_OP_ISA][AGXC_%s_NAMES]" % (
            role, role.upper()), "AGXC_OP", "AGXC_%s" % role.upper(), items[role])
    write(path, out)


def accessor(role, name):
    upper = "AGXC_%s_%s" % (role.upper(), name.upper())
    return ("static inline struct agxc_ref *agxc_%s_%s(const struct agxc_instr *instr)\n{\n"
            "   return agxc_%s_by_name(instr, %s);\n}\n" % (role, name, role, upper))


def imm_accessor(name, ctype):
    upper = "AGXC_IMM_" + name.upper()
    return ("static inline %s agxc_imm_%s(const struct agxc_instr *instr)\n{\n"
            "   return (%s)agxc_imm_by_name(instr, %s)->imm;\n}\n"
            "static inline void agxc_set_imm_%s(struct agxc_instr *instr, %s %s)\n{\n"
            "   *agxc_imm_by_name(instr, %s) = agxc_imm((uint64_t)%s, 64);\n}\n" % (
                ctype, name, ctype, upper, name, ctype, name, upper, name))


def has_value(op):
    return op.dests == [None]


def builder_head(op, types):
    args = ["struct agxc_builder *builder"]
    args += ["unsigned " + word for word in ("bits", "count") if op.shape and word in op.shape]
    args += ["struct agxc_ref " + src for src in op.srcs]
    args += ["%s %s" % (types[imm], imm) for imm in op.imms]
    return "%sagxc_build_%s(%s)" % (
        "struct agxc_ref " if has_value(op) else "struct agxc_instr *", op.name.lower(),
        ", ".join(args))


def builder(op, types):
    out = ["\n%s\n{\n" % builder_head(op, types)]
    out.append("   struct agxc_instr *instr = agxc_instr_new(builder->shader, AGXC_OP_%s);\n" %
               op.name)
    values = ["agxc_use(agxc_value_new(builder->shader, %s, %s))" % (
        op.shape or (dest[1], 1)) for dest in op.dests]
    values += op.srcs + ["agxc_imm((uint64_t)%s, 64)" % imm for imm in op.imms]
    for at, value in enumerate(values):
        out.append("   instr->operand[%d] = %s;\n" % (at, value))
    for at in range(len(op.dests)):
        out.append("   instr->operand[%d].value->def = instr;\n" % at)
    out.append("   agxc_insert(builder, instr);\n")
    out.append("   return %s;\n}\n" % ("instr->operand[0]" if has_value(op) else "instr"))
    return "".join(out)


def write_ops(header, source, types, ops, names):
    out = [MADE % "ir_op.def; operand.h says how they are used", "#pragma once\n\n"]
    for role in ("dest", "src"):
        out += [accessor(role, name) for name in names[role]]
    out += [imm_accessor(name, types[name]) for name in names["imm"]]
    out.append("\n")
    built = [op for op in ops if op.dests is not None and op.srcs is not None]
    out += [builder_head(op, types) + ";\n" for op in built]
    write(header, out)
    write(source, [MADE % "ir_op.def", '#include "agx/compiler/ir/ir.h"\n'] +
          [builder(op, types) for op in built])


def write_words(path, names, spellings, enums):
    """What IR text calls immediates and their values."""
    out, used, items = [MADE % "ir_op.def and isa.def"], set(), []
    for name in names:
        flags, _, words = (spellings[name] or "").rpartition(":")
        if flags == "isa" and words not in used:
            used.add(words)
            out.append("static const struct agx_isa_name %s_words[] = {\n" % words)
            out += ['   {%d, "%s"},\n' % (value, word) for word, value in
                    enums[words].values.items()]
            out.append("};\n")
        items.append('   {"%s", %s, %s},\n' % (
            name, "true" if flags == "flags" else "false",
            "%s_words, AGX_COUNT(%s_words)" % (words, words) if words else "NULL, 0"))
    write(path, out + ["static const struct agxc_imm_words imm_words[] = {\n"] + items + ["};\n"])


# ---- machine instructions -------------------------------------------------------------

def machine_accessors(name, is_number):
    upper = "AGXC_MACHINE_" + name.upper()
    out = ("static inline struct agxc_ref *agxc_machine_%s(const struct agxc_instr *instr)\n{\n"
           "   return agxc_machine_by_name(instr, %s);\n}\n" % (name, upper))
    if is_number:
        out += ("static inline void agxc_set_machine_%s(struct agxc_instr *instr, int64_t %s)\n{\n"
                "   agxc_set_machine_number(instr, %s, %s);\n}\n" % (name, name, upper, name))
    return out


def write_machine(header, inc, rows):
    items = [(row.name, [slot.name for slot in row.slots]) for row in rows]
    names = list(places(items))
    numbers = {slot.name for row in rows for slot in row.slots if slot.role in ("imm", "mod")}
    out = [MADE % "isa.def; see machine_operand.h", "#pragma once\n\n/* Names of operands in isa.def. */"]
    out += enum("agxc_machine_name", "AGXC_MACHINE", names, "AGXC_MACHINE_NAMES")
    write(header[0], out)
    write(header[1], [MADE % "isa.def; see machine_operand.h", "#pragma once\n\n"] +
          [machine_accessors(name, name in numbers) for name in names])
    write(inc, [MADE % "isa.def"] + table(
        "static const uint8_t", "machine_places[AGX_ISA_OP_COUNT][AGXC_MACHINE_NAMES]", "AGX_ISA_OP",
        "AGXC_MACHINE", items))


def main(argv):
    op_def, isa, operand, enum_h, op_table, ops_h, ops_c, machine_enum, machine_h, machine_table, words_inc = (
        argv[1:])
    types, spellings, ops = read_ops(op_def)
    items = {
        "dest": [(op.name, [dest[0] for dest in op.dests or [] if dest]) for op in ops],
        "src": [(op.name, op.srcs or []) for op in ops],
        "imm": [(op.name, op.imms) for op in ops],
    }
    names = {role: list(places(items[role])) for role in items}
    write_enum(enum_h, ops, names)
    write_table(op_table, ops, items)
    write_ops(ops_h, ops_c, types, ops, names)
    enums, _, rows = read_rows(isa, read_operands(operand))
    write_words(words_inc, names["imm"], spellings, enums)
    write_machine((machine_enum, machine_h), machine_table, rows)


if __name__ == "__main__":
    try:
        main(sys.argv)
    except Bad as error:
        sys.exit("gen_ir.py: %s" % error)
