#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parts of the machine that kernel.sh boots.

   initrd.py modules TREE FOLDER NAME...   copies the named kernel modules that lie somewhere in TREE, and
                                           what they need, into FOLDER, and their order into FOLDER/order
   initrd.py pack FILE TO=FROM...          writes an archive that the kernel unpacks as its first file system:
                                           TO is a path there, FROM a file or folder here; programs get the
                                           shared libraries that they need
"""
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys


# ---- modules -----------------------------------------------------------

def find_modules(tree):
    found = {}
    for folder, _, names in os.walk(tree):
        for name in names:
            match = re.fullmatch(r'(.+)\.ko(\.\w+)?', name)
            if match:
                found[match[1].replace('-', '_')] = os.path.join(folder, name)
    return found


def read_module(path):
    data = open(path, 'rb').read()
    if path.endswith('.xz'):
        return lzma.decompress(data)
    if not path.endswith('.ko'):
        sys.exit(f'initrd.py: {path}: only plain and .xz modules are known')
    return data


def copy_modules(tree, folder, wanted):
    """Each after what it depends on. What isn't there is taken for a part of the kernel itself."""
    found, order = find_modules(tree), []

    def add(name):
        name = name.replace('-', '_')
        if name in order or name not in found:
            return
        data = read_module(found[name])
        needs = re.search(rb'\0depends=([^\0]*)\0', data)
        for need in needs[1].decode().split(',') if needs else []:
            add(need)
        order.append(name)
        with open(os.path.join(folder, name + '.ko'), 'wb') as module:
            module.write(data)

    os.makedirs(folder, exist_ok=True)
    for name in wanted:
        add(name)
    with open(os.path.join(folder, 'order'), 'w') as listing:
        listing.write(''.join(name + '\n' for name in order))


# ---- the archive -------------------------------------------------------

def libraries_of(path):
    """Where the program's loader and libraries lie, by their own names."""
    with open(path, 'rb') as file:
        if file.read(4) != b'\x7fELF':
            return []
    listing = subprocess.run(['ldd', path], capture_output=True, text=True)
    return re.findall(r'(/\S+) \(0x', listing.stdout)


class Archive:
    """The kernel's own format, "newc": a header of hexadecimal numbers, name, and data, padded to four bytes."""

    def __init__(self, path):
        self.file, self.count, self.seen = open(path, 'wb'), 0, set()

    def record(self, name, mode, data):
        self.count += 1
        encoded = name.encode() + b'\0'
        numbers = (self.count, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        head = b'070701' + b''.join(b'%08X' % number for number in numbers) + encoded
        for part in head, data:
            self.file.write(part + b'\0' * (-len(part) % 4))

    def folder(self, name):
        if name and name not in self.seen:
            self.seen.add(name)
            self.folder(os.path.dirname(name))
            self.record(name, stat.S_IFDIR | 0o755, b'')

    def add(self, name, path):
        name = name.strip('/')
        if os.path.isdir(path):
            for entry in sorted(os.listdir(path)):
                self.add(f'{name}/{entry}', os.path.join(path, entry))
            return
        if name in self.seen:
            return
        self.seen.add(name)
        self.folder(os.path.dirname(name))
        self.record(name, stat.S_IFREG | (os.stat(path).st_mode & 0o777), open(path, 'rb').read())
        if os.access(path, os.X_OK):
            for library in libraries_of(path):
                self.add(library, library)

    def close(self):
        self.record('TRAILER!!!', 0, b'')
        self.file.close()


def pack(path, entries):
    archive = Archive(path)
    for entry in entries:
        to, _, source = entry.partition('=')
        archive.add(to, source)
    archive.close()


def main(arguments):
    if len(arguments) > 3 and arguments[0] == 'modules':
        shutil.rmtree(arguments[2], ignore_errors=True)
        copy_modules(arguments[1], arguments[2], arguments[3:])
    elif len(arguments) > 2 and arguments[0] == 'pack':
        pack(arguments[1], arguments[2:])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
