#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds names that a grammar of SPIR-V knows to the front end's tables.

usage: spirv_names.py GRAMMAR.json...

The first file that names a number wins; what the tables have already stays. Take the registry's newest
include/spirv/unified1/spirv.core.grammar.json, so that modules are refused by name whatever headers are installed.
"""
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / 'src/agx/compiler/spirv'
TABLES = ['OPCODE', 'CAPABILITY', 'STORAGE', 'BUILTIN', 'DECORATION', 'MODE', 'GLSL']
KINDS = {'Capability': 'CAPABILITY', 'StorageClass': 'STORAGE', 'BuiltIn': 'BUILTIN',
         'Decoration': 'DECORATION', 'ExecutionMode': 'MODE'}
FILES = {'opcode_name.def': lambda table: table == 'OPCODE', 'name.def': lambda table: table != 'OPCODE'}


def rows_of(grammar):
    """Table, number and name of all that the grammar lists."""
    for row in grammar['instructions']:
        yield 'OPCODE', row['opcode'], row['opname'][2:]
    for kind in grammar['operand_kinds']:
        for row in kind.get('enumerants', []) if kind['kind'] in KINDS else []:
            yield KINDS[kind['kind']], int(str(row['value']), 0), row['enumerant']


def fill(rows):
    """Rows as lines of at most 100 columns."""
    line = ''
    for row in rows:
        if line and len(line) + 1 + len(row) > 100:
            yield line
            line = ''
        line = f'{line} {row}'.strip()
    yield line


def main():
    known = {}
    for name in FILES:
        for macro, table, number, text in re.findall(r'(\w{4})\((\w+), (\d+), (\w+)\)', (FOLDER / name).read_text()):
            known[TABLES.index(table), int(number)] = macro, text
    for path in sys.argv[1:]:
        for table, number, text in rows_of(json.loads(pathlib.Path(path).read_text())):
            known.setdefault((TABLES.index(table), number), ('NAME', text))
    for name, belongs in FILES.items():
        head = (FOLDER / name).read_text().partition('// clang-format off\n')
        rows = [f'{macro}({TABLES[table]}, {number}, {text})'
                for (table, number), (macro, text) in sorted(known.items()) if belongs(TABLES[table])]
        (FOLDER / name).write_text(''.join(head[:2]) + '\n'.join(fill(rows)) + '\n// clang-format on\n')


main()
