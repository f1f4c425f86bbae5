#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns isa.def and operand.def into C: isa_enums.h (names for everybody) and
isa_table.inc (constant tables for isa.c). Checks what can be checked: widths,
overlapping bits, names, the order of aliases. Usage:

    gen_isa.py isa.def operand.def isa_enums.h isa_table.inc
"""
import re
import sys

ROLES = {"dst": "DST", "src": "SRC", "imm": "IMM", "mod": "MOD"}
UNITS = {"-": "NONE", "F32": "F32", "F16": "F16", "SCIB": "SCIB", "IC": "IC", "MEM": "MEM",
         "CONTROL": "CONTROL"}
SPACES = ("device", "local", "stack", "texture", "uniform", "state", "tile")
# Facts of a row that are yes or no, with their names in struct agx_isa_info.
FACTS = {"async": "is_async", "fence": "is_fence", "effect": "has_effect", "end": "ends_block",
         "lanes": "crosses_lanes", "all_lanes": "needs_all_lanes", "kernel": "is_kernel_only",
         "preamble": "is_preamble_only", "refused": "is_refused"}
PLAIN = ("uint", "sint", "flag")
KINDS = {"none": "NONE", "reg": "REG", "uniform": "UNIFORM", "imm": "IMM", "simm": "IMM",
         "fimm": "FIMM", "cf": "CF", "ts": "TS", "ss": "SS"}
MODIFIERS = ("cache", "last", "abs", "neg", "sx", "zx")
MAX_SLICES = 5


class Bad(Exception):
    pass


def lines_of(path):
    """(line number, words, indented) of each line that says something."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.split("#")[0].rstrip()
            if text:
                yield number, text.split(), text[0].isspace()


# ---- slices -----------------------------------------------------------------

def slices(text):
    """'9:6+60:2+(8)' -> [(9, 6, False), (60, 2, False), (8, 1, True)]"""
    out = []
    for part in text.split("+"):
        match = re.fullmatch(r"(\()?(\d+)(?::(\d+))?(\))?", part)
        if not match or bool(match[1]) != bool(match[4]):
            raise Bad("not a slice: " + text)
        out.append((int(match[2]), int(match[3] or 1), bool(match[1])))
    if len(out) > MAX_SLICES:
        raise Bad("too many slices: " + text)
    return out


def width(parts):
    return sum(length for _, length, _ in parts)


def bits_of(parts):
    mask = 0
    for start, length, _ in parts:
        mask |= ((1 << length) - 1) << start
    return mask


def spread(parts, value):
    """The bits of value at the places that the slices name."""
    if value >> width(parts):
        raise Bad("value %d is too wide" % value)
    out = 0
    for start, length, _ in parts:
        out |= (value & ((1 << length) - 1)) << start
        value >>= length
    return out


def condition(word):
    where, _, value = word.partition("=")
    parts = slices(where)
    return bits_of(parts), spread(parts, int(value, 0))


def one_bit(text):
    parts = slices(text)
    if width(parts) != 1:
        raise Bad("not one bit: " + text)
    return parts[0][0]


# ---- operand.def ------------------------------------------------------------

class Case:
    """One form of an operand."""

    def __init__(self, words, field_width):
        self.kind = words[0]
        if self.kind not in KINDS:
            raise Bad("unknown kind " + self.kind)
        self.when_mask = self.when_value = self.zero = 0
        self.value, self.step, self.never = [], 1, False
        self.bits, self.size_bit = 0, -1
        self.count, self.count_mode, self.count_at = [1], "FIXED", 0
        self.hint = -1
        self.flags = dict.fromkeys(MODIFIERS, -1)
        attributes = []
        for word in words[1:]:
            if word == "-":
                continue
            if re.match(r"[\d(]", word):
                mask, value = condition(word)
                self.when_mask |= mask
                self.when_value |= value
            else:
                attributes.append(word)
        for word in attributes:
            self.attribute(*word.partition("=")[::2])
        self.used = self.when_mask | self.zero | bits_of(self.value) | self.attribute_bits()
        if self.used >> field_width:
            raise Bad("a slice lies outside the operand")
        if (self.kind == "none") != (not self.value):
            raise Bad("value does not go with the kind")

    def attribute_bits(self):
        """Bits that hold modifiers, a size or a count."""
        singles = [bit for bit in list(self.flags.values()) + [self.size_bit] if bit >= 0]
        out = sum(1 << bit for bit in singles)
        if self.hint >= 0:
            out |= 3 << self.hint
        if self.count_mode != "FIXED":
            out |= (15 if self.count_mode == "ONES" else 3) << self.count_at
        return out

    def attribute(self, name, text):
        if name == "value":
            self.value = slices(text)
        elif name == "step":
            self.step = int(text)
        elif name == "bits":
            self.size(text)
        elif name == "count":
            self.counts(text)
        elif name == "hint":
            (self.hint, length, _), = slices(text)
            if length != 2:
                raise Bad("a hint has two bits")
        elif name in MODIFIERS:
            self.flags[name] = one_bit(text)
        elif name == "zero":
            self.zero = bits_of(slices(text))
        elif name == "never":
            self.never = True
        else:
            raise Bad("unknown attribute " + name)

    def size(self, text):
        if text.startswith("16/32@"):
            self.size_bit = one_bit(text[6:])
        elif text in ("16", "32", "64"):
            self.bits = int(text)
        else:
            raise Bad("bits=" + text)

    def counts(self, text):
        what, _, where = text.partition("@")
        if where:
            (self.count_at, length, _), = slices(where)
        if what == "ones":
            self.count_mode = "ONES"
            if length != 4:
                raise Bad("a mask has four bits")
        else:
            self.count = [int(n) for n in what.split("/")]
            self.count_mode = "CHOICE" if where else "FIXED"
            if len(self.count) != (4 if where else 1):
                raise Bad("count=" + text)


class Encoding:
    def __init__(self, name, bits):
        self.name, self.width, self.cases = name, bits, []


def read_operands(path):
    out = {}
    for number, words, indented in lines_of(path):
        try:
            if indented:
                current.cases.append(Case(words, current.width))
            elif words[0] == "operand" and len(words) == 3 and words[1] not in out:
                current = out[words[1]] = Encoding(words[1], int(words[2]))
            else:
                raise Bad("expected 'operand NAME WIDTH'")
        except (Bad, ValueError) as error:
            raise Bad("%s:%d: %s" % (path, number, error))
    return out


# ---- isa.def ----------------------------------------------------------------

class Enum:
    def __init__(self, name, omit):
        self.name, self.omit, self.values = name, omit, {}


class Slot:
    """An operand of a form."""

    def __init__(self, words, encodings, enums):
        self.name, self.role, self.type, where = words
        self.parts = slices(where)
        if self.role not in ROLES:
            raise Bad("unknown role " + self.role)
        if self.type in encodings:
            if width(self.parts) != encodings[self.type].width:
                raise Bad("%s has %d bits, not %d" % (self.type, encodings[self.type].width,
                                                     width(self.parts)))
        elif self.type not in PLAIN and self.type not in enums:
            raise Bad("unknown operand type " + self.type)
        if self.type == "flag" and width(self.parts) != 1:
            raise Bad("a flag has one bit")
        if self.type in encodings:
            self.check_cases(encodings[self.type].cases)

    def check_cases(self, cases):
        """No form may drop a bit that no other operand keeps."""
        kept, at = 0, 0
        for _, length, shared in self.parts:
            kept |= shared * ((1 << length) - 1) << at
            at += length
        for case in cases:
            if (case.used | kept) != (1 << at) - 1 and not case.never:
                raise Bad("%s: form '%s' of %s drops bits 0x%x" % (
                    self.name, case.kind, self.type, (1 << at) - 1 & ~(case.used | kept)))

    def owned(self):
        return bits_of([part for part in self.parts if not part[2]])

    def shared(self):
        return bits_of([part for part in self.parts if part[2]])


class Row:
    def __init__(self, words, forms):
        self.name, lengths, self.unit, self.form = words[:4]
        self.guess, self.alias = False, None
        self.match, self.const = [0, 0], [0, 0]
        self.spaces, self.facts, self.late = {}, [], []
        if self.unit not in UNITS:
            raise Bad("unknown unit " + self.unit)
        if self.form not in forms:
            raise Bad("unknown form " + self.form)
        self.slots = forms[self.form]
        match = re.fullmatch(r"(\d+)(?:/(\d+)@(\d+))?", lengths)
        if not match:
            raise Bad("not a length: " + lengths)
        self.short, self.long = int(match[1]), int(match[2] or 0)
        self.length_bit = int(match[3]) if match[3] else -1
        target = self.match
        for word in words[4:]:
            if word == "|":
                target = self.const
            elif word == "guess":
                self.guess = True
            elif word.startswith("alias="):
                self.alias = word[6:]
            elif word[0].isalpha():
                self.fact(word)
            else:
                mask, value = condition(word)
                if target[0] & mask & (target[1] ^ value):
                    raise Bad("contradiction: " + word)
                target[0] |= mask
                target[1] |= value
        self.check()

    def fact(self, word):
        name, _, value = word.partition("=")
        if word in FACTS:
            self.facts.append(FACTS[word])
        elif name in ("reads", "writes") and value in SPACES:
            self.spaces[name] = value
        elif name == "late":
            names = [slot.name for slot in self.slots]
            self.late = [names.index(operand) for operand in value.split(",")]
        else:
            raise Bad("unknown fact " + word)
        if word == "async" and "group" not in [slot.name for slot in self.slots]:
            raise Bad("async without a group")

    def info(self):
        """Initializers of struct agx_isa_info for the facts."""
        out = [".%s = AGX_ISA_SPACE_%s" % (name, space.upper())
               for name, space in self.spaces.items()]
        out += [".%s = true" % name for name in self.facts]
        if self.late:
            out.append(".late_sources = 0x%x" % sum(1 << i for i in self.late))
        return "".join(", " + item for item in out)

    def check(self):
        length_mask = 1 << self.length_bit if self.length_bit >= 0 else 0
        owned, shared = length_mask, 0
        for slot in self.slots:
            if owned & slot.owned():
                raise Bad("operand %s overlaps another" % slot.name)
            owned |= slot.owned()
            shared |= slot.shared()
        if shared & ~owned:
            raise Bad("shared bits belong to no operand")
        if self.const[0] & (owned | self.match[0]):
            raise Bad("constant bits overlap")
        self.known = owned | self.match[0] | self.const[0]
        if self.known >> 8 * max(self.short, self.long):
            raise Bad("bits beyond the instruction's end")
        if not 1 <= len(self.slots) + 1 <= 24:
            raise Bad("too many operands")


def read_rows(path, encodings):
    enums, forms, rows = {}, {"-": []}, []
    for number, words, indented in lines_of(path):
        try:
            if indented and isinstance(current, Enum):
                for word in words:
                    name, _, value = word.partition("=")
                    current.values[name] = int(value)
            elif indented:
                if len(words) != 4 or any(slot.name == words[0] for slot in current):
                    raise Bad("expected a new 'NAME ROLE TYPE SLICES'")
                current.append(Slot(words, encodings, enums))
            elif words[0] == "enum":
                current = enums[words[1]] = Enum(words[1], words[2:] == ["default"])
            elif words[0] == "form" and words[1] not in forms:
                current = forms[words[1]] = []
            elif words[0] == "instr":
                rows.append(Row(words[1:], forms))
            else:
                raise Bad("expected enum, a new form, or instr")
        except (Bad, ValueError) as error:
            raise Bad("%s:%d: %s" % (path, number, error))
    check_order(rows)
    return enums, forms, rows


def check_order(rows):
    """Names are unique; no row hides a later one; an alias is its row, narrowed."""
    index = {row.name: i for i, row in enumerate(rows)}
    if len(index) != len(rows):
        raise Bad("two rows have one name")
    for i, row in enumerate(rows):
        for later in rows[i + 1:]:
            if row.match[0] & ~later.match[0] == 0 and \
                    (row.match[1] ^ later.match[1]) & row.match[0] == 0 and row.short == later.short:
                raise Bad("%s hides %s" % (row.name, later.name))
        if row.alias:
            general = rows[index[row.alias]]
            if index[row.alias] < i or general.match[0] & ~row.match[0] or \
                    (general.match[1] ^ row.match[1]) & general.match[0]:
                raise Bad("%s is no alias of %s" % (row.name, row.alias))


# ---- output -----------------------------------------------------------------

def c_name(*parts):
    return "AGX_ISA_" + "_".join(part.upper() for part in parts)


def write_header(path, enums, rows):
    seen = set()

    def item(name, value):
        if name in seen:
            raise Bad("two meanings for " + name)
        seen.add(name)
        return "   %s = %d,\n" % (name, value)

    out = ["/* SPDX-License-Identifier: MIT\n * Made by gen_isa.py from isa.def. */\n"
           "#pragma once\n\nenum agx_isa_op {\n"]
    out += [item(c_name("OP", row.name), i) for i, row in enumerate(rows)]
    out.append(item(c_name("OP", "COUNT"), len(rows)) + "};\n")
    for row in rows:
        if row.slots:
            out.append("\nenum {\n")
            out += [item(c_name(row.name, slot.name), i) for i, slot in enumerate(row.slots)]
            out.append("};\n")
    for enum in enums.values():
        out.append("\nenum agx_isa_%s {\n" % enum.name)
        out += [item(c_name(enum.name, name), value) for name, value in enum.values.items()]
        out.append("};\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(out))


def c_slices(parts):
    items = ", ".join("{%d, %d, %d}" % part for part in parts)
    return "{.count = %d, .slice = {%s}}" % (len(parts), items or "{0, 0, 0}")


def c_bits(value):
    return "{{0x%xull, 0x%xull}}" % (value & (1 << 64) - 1, value >> 64)


def c_case(case, encoding):
    has_signed = any(other.kind == "simm" for other in encoding.cases)
    fields = [".kind = AGX_ISA_" + KINDS[case.kind],
              ".when_mask = 0x%x" % case.when_mask, ".when_value = 0x%x" % case.when_value,
              ".zero = 0x%x" % case.zero, ".step = %d" % case.step, ".bits = %d" % case.bits,
              ".size_bit = %d" % case.size_bit, ".hint = %d" % case.hint,
              ".count_mode = AGX_ISA_COUNT_" + case.count_mode,
              ".count_at = %d" % case.count_at,
              ".count = {%s}" % ", ".join(map(str, case.count)),
              ".value = " + c_slices(case.value)]
    fields += [".%s = %d" % (name, bit) for name, bit in case.flags.items()]
    fields += [".%s = true" % name for name, on in
               (("is_signed", case.kind == "simm"), ("never", case.never),
                ("is_unsigned", case.kind == "imm" and has_signed)) if on]
    return "   {" + ", ".join(fields) + "},\n"


def write_encodings(out, encodings):
    for encoding in encodings.values():
        out.append("static const struct agx_isa_case case_%s[] = {\n" % encoding.name)
        out += [c_case(case, encoding) for case in encoding.cases]
        out.append("};\n")


def write_enums(out, enums):
    for enum in enums.values():
        out.append("static const struct agx_isa_name name_%s[] = {\n" % enum.name)
        out += ['   {%d, "%s"},\n' % (value, name) for name, value in enum.values.items()]
        out.append("};\n")


def c_slot(slot, info, encodings, enums):
    if slot.type in encodings:
        cases = encodings[slot.type].cases
        extra = ", .type = AGX_ISA_TYPE_CASES, .table = case_%s, .table_count = %d" % (
            slot.type, len(cases))
        if any(case.kind == "fimm" for case in cases):
            extra += ", .has_float = true"
    else:
        extra = ", .type = AGX_ISA_TYPE_" + ("ENUM" if slot.type in enums else slot.type.upper())
    if slot.shared():
        extra += ", .is_shared = true"
    return "   {.field = %s, .info = &%s%s},\n" % (c_slices(slot.parts), info, extra)


def c_operand(slot, encodings, enums):
    names, is_optional = "0, NULL", slot.type == "flag"
    if slot.type in encodings:
        is_optional = any(case.kind == "none" for case in encodings[slot.type].cases)
    elif slot.type in enums:
        names = "%d, name_%s" % (len(enums[slot.type].values), slot.type)
        is_optional = enums[slot.type].omit
    return '   {"%s", AGX_ISA_ROLE_%s, %d, %d, %s},\n' % (
        slot.name, ROLES[slot.role], slot.type == "flag", is_optional, names)


def write_forms(out, forms, encodings, enums):
    for i, (name, slots) in enumerate(forms.items()):
        if not slots:
            continue
        out.append("/* %s */\nstatic const struct agx_isa_operand_info operand_%d[] = {\n" % (name, i))
        out += [c_operand(slot, encodings, enums) for slot in slots]
        out.append("};\nstatic const struct agx_isa_slot slot_%d[] = {\n" % i)
        out += [c_slot(slot, "operand_%d[%d]" % (i, at), encodings, enums)
                for at, slot in enumerate(slots)]
        out.append("};\n")


def write_rows(out, rows, forms):
    number = {name: i for i, name in enumerate(forms)}
    out.append("const struct agx_isa_row agx_isa_rows[AGX_ISA_OP_COUNT] = {\n")
    for row in rows:
        if row.slots:
            lists = ", .operand = operand_%d}, .slot = slot_%d" % ((number[row.form],) * 2)
        else:
            lists = "}"
        out.append('   {.info = {.name = "%s", .operand_count = %d, .unit = AGX_ISA_UNIT_%s, '
                   ".length_B = %d, .long_B = %d, .is_guess = %s%s%s, .length_bit = %d, "
                   ".is_alias = %s,\n"
                   "    .match_mask = %s, .match_value = %s,\n"
                   "    .const_mask = %s, .const_value = %s, .known = %s},\n" % (
                       row.name, len(row.slots), UNITS[row.unit], row.short, row.long,
                       "true" if row.guess else "false", row.info(), lists, row.length_bit,
                       "true" if row.alias else "false",
                       c_bits(row.match[0]), c_bits(row.match[1]),
                       c_bits(row.const[0]), c_bits(row.const[1]), c_bits(row.known)))
    out.append("};\n")


def write_index(out, rows):
    """For each value of the low seven bits, the rows that can match, in order."""
    starts, items = [], []
    for low in range(128):
        starts.append(len(items))
        items += [i for i, row in enumerate(rows)
                  if (low ^ row.match[1]) & row.match[0] & 127 == 0]
    starts.append(len(items))
    out.append("const uint16_t agx_isa_bucket[129] = {%s};\n" % ", ".join(map(str, starts)))
    out.append("const uint8_t agx_isa_bucket_row[] = {%s};\n" % ", ".join(map(str, items)))
    if len(rows) > 255:
        raise Bad("row numbers no longer fit a byte")


def main(argv):
    isa, operand, header, table = argv[1:]
    encodings = read_operands(operand)
    enums, forms, rows = read_rows(isa, encodings)
    write_header(header, enums, rows)
    out = ["/* Made by gen_isa.py from isa.def and operand.def. */\n"]
    write_encodings(out, encodings)
    write_enums(out, enums)
    write_forms(out, forms, encodings, enums)
    write_rows(out, rows, forms)
    write_index(out, rows)
    with open(table, "w", encoding="utf-8") as file:
        file.write("".join(out))


if __name__ == "__main__":
    try:
        main(sys.argv)
    except Bad as error:
        sys.exit("gen_isa.py: %s" % error)
