# SPDX-License-Identifier: MIT
"""Writes a header with a hash of the compiler's sources, and their names for ninja.

Usage: compiler_id.py HEADER DEPFILE FOLDER|FILE...
"""
import hashlib
import os
import sys

header, depfile, places = sys.argv[1], sys.argv[2], sys.argv[3:]
files = []
for number, place in enumerate(places):
    if os.path.isfile(place):
        files.append((number, os.path.basename(place), place))
    for root, _, names in os.walk(place):
        for name in names:
            if name.endswith((".c", ".h", ".def", ".py")):
                path = os.path.join(root, name)
                files.append((number, os.path.relpath(path, place), path))
total = hashlib.sha256()
for number, name, path in sorted(files):
    with open(path, "rb") as file:
        total.update(f"{number} {name} {hashlib.sha256(file.read()).hexdigest()}\n".encode())
with open(header, "w") as file:
    file.write(f'#define AGX_COMPILER_ID "{total.hexdigest()}"\n')
with open(depfile, "w") as file:
    paths = " ".join(path.replace(" ", "\\ ") for _, _, path in sorted(files))
    file.write(f"{header}: {paths}\n")
