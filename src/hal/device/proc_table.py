# SPDX-License-Identifier: MIT
"""The rows of agx_get_proc's table, sorted, of what the version script exports.

usage: proc_table.py agxhal.map proc_table.inc
"""
import re
import sys

map_path, out_path = sys.argv[1:]
with open(map_path, encoding="utf-8") as file:
    names = sorted(re.findall(r"^\s+(agx_\w+);$", file.read(), re.MULTILINE))
with open(out_path, "w", encoding="utf-8") as file:
    file.writelines(f'{{"{name}", (agx_proc){name}}},\n' for name in names)
