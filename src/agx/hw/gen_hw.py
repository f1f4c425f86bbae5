#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the packet descriptions into C: hw_packets.h (a struct, sizes and typed
wrappers for each packet, the enums) and hw_tables.inc (constant tables for
packet.c). Checks widths, names and constants. Usage:

    gen_hw.py hw_packets.h hw_tables.inc FILE.def...

A description is made of blocks. `enum NAME` is followed by rows `VALUE  NAME`;
`packet NAME, N bytes` by rows `BITS  TYPE  NAME  [ENCODING]`, whose columns stand
two or more spaces apart. BITS is high:low, counted through the whole packet.
TYPE is uint, hex, address, bool, float, half, lod or an enum. ENCODING is
shr(n), minus(n), groups(n), log2, or `= CONSTANT`. Fields may share bits.
"""
import re
import sys

SCALARS = ("uint", "hex", "address", "bool", "float", "half", "lod")
ENCODINGS = ("shr", "minus", "groups", "log2")
HEADER = "/* Made by gen_hw.py; do not edit. */\n"


class Bad(Exception):
    pass


def identifier(name):
    word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return word


class Enum:
    def __init__(self, name):
        self.name, self.id, self.values = name, identifier(name), []


class Field:
    def __init__(self, columns, enums):
        bits, self.type, self.name = columns[:3]
        high, _, low = bits.partition(":")
        self.start = int(low or high)
        self.width = int(high) - self.start + 1
        self.id = identifier(self.name)
        self.enum = enums.get(self.type)
        if self.enum is None and self.type not in SCALARS:
            raise Bad(f"{self.name}: no type {self.type!r}")
        if not 1 <= self.width <= 64:
            raise Bad(f"{self.name}: width {self.width}")
        self.encoding, self.parameter, self.constant = "plain", 0, None
        self.read_modifier(columns[3] if len(columns) > 3 else "")

    def read_modifier(self, text):
        if text.startswith("= "):
            self.constant = self.constant_of(text[2:])
        elif text:
            match = re.fullmatch(r"(\w+)(?:\((\d+)\))?", text)
            if not match or match[1] not in ENCODINGS:
                raise Bad(f"{self.name}: no encoding {text!r}")
            self.encoding, self.parameter = match[1], int(match[2] or 0)

    def constant_of(self, text):
        if self.enum:
            found = [value for value, name in self.enum.values if name == text]
            if not found:
                raise Bad(f"{self.name}: {text!r} is no {self.enum.name}")
            return found[0]
        return int(text, 0)

    def c_type(self):
        if self.enum:
            return f"enum agx_hw_{self.enum.id}"
        if self.type == "bool":
            return "bool"
        if self.type in ("float", "half", "lod"):
            return "float"
        return "uint64_t" if self.is_wide() else "uint32_t"

    def is_wide(self):
        return self.width + (self.parameter if self.encoding == "shr" else 0) > 32

    def default(self):
        """What a field of zero bits stands for."""
        if self.encoding == "minus":
            return self.parameter
        if self.encoding == "groups":
            return self.parameter << self.width
        return 1 if self.encoding == "log2" else 0


class Packet:
    def __init__(self, name, size):
        self.name, self.size, self.id, self.fields = name, size, identifier(name), []

    def members(self):
        return [field for field in self.fields if field.constant is None]


def parse(paths):
    enums, packets, block = {}, [], None
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    block = parse_line(line.rstrip(), block, enums, packets)
                except (Bad, ValueError) as bad:
                    sys.exit(f"{path}:{number}: {bad}")
    return list(enums.values()), packets


def parse_line(line, block, enums, packets):
    if not line or line.startswith("#"):
        return block
    columns = re.split(r" {2,}", line.strip())
    if line.startswith("enum "):
        block = Enum(line[5:])
        if block.name in enums:
            raise Bad(f"enum {block.name} twice")
        enums[block.name] = block
    elif line.startswith("packet "):
        match = re.fullmatch(r"packet (.+), (\d+) bytes", line)
        if not match:
            raise Bad("packet NAME, N bytes")
        block = Packet(match[1], int(match[2]))
        packets.append(block)
    elif isinstance(block, Enum):
        block.values.append((int(columns[0]), columns[1]))
    else:
        block.fields.append(Field(columns, enums))
    return block


def check(packets, enums):
    names = [packet.id for packet in packets] + [enum.id for enum in enums]
    for name in {name for name in names if names.count(name) > 1}:
        raise Bad(f"{name} is described twice")
    for packet in packets:
        ids = [field.id for field in packet.fields]
        for field in packet.fields:
            where = f"{packet.name}: {field.name}"
            if field.start + field.width > 8 * packet.size:
                raise Bad(f"{where}: beyond the packet")
            if ids.count(field.id) > 1:
                raise Bad(f"{where}: named twice")
            if field.constant is not None and field.constant >> field.width:
                raise Bad(f"{where}: constant does not fit")


def known_mask(packet):
    mask = bytearray(packet.size)
    for field in packet.fields:
        for bit in range(field.start, field.start + field.width):
            mask[bit // 8] |= 1 << bit % 8
    return ", ".join(f"0x{byte:02x}" for byte in mask)


def constant_name(enum, name):
    return f"AGX_HW_{enum.id}_{identifier(name)}".upper()


def header_enum(enum):
    rows = "".join(f"   {constant_name(enum, name)} = {value},\n" for value, name in enum.values)
    return f"enum agx_hw_{enum.id} {{\n{rows}}};\n"


WRAPPERS = """
#define AGX_HW_{upper}_BYTES {size}u

extern const struct agx_hw_packet agx_hw_{id}_packet;

static inline struct agx_hw_{id} agx_hw_{id}_default(void)
{{
   return (struct agx_hw_{id}){{{defaults}}};
}}

AGX_MUST_CHECK static inline agx_status agx_hw_{id}_pack(const struct agx_hw_{id} *values, void *out)
{{
   return agx_hw_pack(&agx_hw_{id}_packet, values, out);
}}

AGX_MUST_CHECK static inline agx_status agx_hw_{id}_unpack(const void *bytes,
                                                           struct agx_hw_{id} *out_values)
{{
   return agx_hw_unpack(&agx_hw_{id}_packet, bytes, out_values);
}}

static inline void agx_hw_{id}_print(const struct agx_hw_{id} *values, struct agx_hw_text *text)
{{
   agx_hw_print(&agx_hw_{id}_packet, values, text);
}}
"""


def header_packet(packet):
    rows = "".join(f"   {field.c_type()} {field.id};\n" for field in packet.members())
    defaults = ", ".join(f".{field.id} = {field.default()}" for field in packet.members()
                         if field.default())
    if not packet.members():
        rows = "   uint8_t nothing; /* no field varies */\n"
    return (f"/* {packet.name} */\nstruct agx_hw_{packet.id} {{\n{rows}}};\n" +
            WRAPPERS.format(id=packet.id, upper=packet.id.upper(), size=packet.size,
                            defaults=defaults or "0"))


def table_enum(enum):
    rows = "".join(f'   {{{value}, "{name}"}},\n' for value, name in enum.values)
    return (f"static const struct agx_hw_value {enum.id}_values[] = {{\n{rows}}};\n"
            f"static const struct agx_hw_enum {enum.id}_enum = "
            f'{{"{enum.name}", {enum.id}_values, {len(enum.values)}}};\n')


def table_field(packet, field):
    kind = "ENUM" if field.enum else field.type.upper()
    row = [f'"{field.name}"', f"AGX_HW_{kind}", f"AGX_HW_{field.encoding.upper()}",
           str(field.start), str(field.width), str(field.parameter)]
    row.append(f"&{field.enum.id}_enum" if field.enum else "NULL")
    if field.constant is None:
        row += ["false", "0", f"offsetof(struct agx_hw_{packet.id}, {field.id})",
                f"sizeof(((struct agx_hw_{packet.id} *)0)->{field.id})"]
    else:
        row += ["true", f"0x{field.constant:x}", "0", "0"]
    return "   {" + ", ".join(row) + "},\n"


def table_packet(packet):
    rows = "".join(table_field(packet, field) for field in packet.fields)
    fields = f"{packet.id}_fields"
    text = f"static const struct agx_hw_field {fields}[] = {{\n{rows}}};\n" if rows else ""
    return (text + f"static const uint8_t {packet.id}_known[] = {{{known_mask(packet)}}};\n"
            f"const struct agx_hw_packet agx_hw_{packet.id}_packet = {{\n"
            f'   "{packet.name}", {packet.size}, sizeof(struct agx_hw_{packet.id}), '
            f"{fields if rows else 'NULL'}, {len(packet.fields)}, {packet.id}_known}};\n")


def main(header_path, table_path, paths):
    enums, packets = parse(paths)
    try:
        check(packets, enums)
    except Bad as bad:
        sys.exit(f"gen_hw.py: {bad}")
    with open(header_path, "w", encoding="utf-8") as out:
        out.write(HEADER)
        out.write("\n".join(map(header_enum, enums)) + "\n")
        out.write("\n".join(map(header_packet, packets)))
        out.write("\n/* ROW(id) for each packet, for tests that walk over all. */\n#define AGX_HW_PACKETS(ROW) ")
        out.write(" ".join(f"ROW({packet.id})" for packet in packets) + "\n")
    with open(table_path, "w", encoding="utf-8") as out:
        out.write(HEADER)
        out.write("\n".join(map(table_enum, enums)) + "\n")
        out.write("\n".join(map(table_packet, packets)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
