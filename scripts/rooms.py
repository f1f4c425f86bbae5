#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rooms of src/rooms.txt against what the sources include and call.

A module is a C file with the header of its name. Modules point at each other by includes, and, where a built
tree is given, by calls (read from the symbols of its objects). Three things must hold:

- an arrow leads only to a room that src/rooms.txt lists below, and never to another room's *_impl.h;
- so no circle crosses rooms (the list itself is checked for circles);
- inside a room, at most 8 modules form one circle.

Where a built tree is given, a fourth: `make test` links at most 40 programs, fuzz targets aside.

usage: rooms.py [--build DIR] [--circles] [--arrows ROOM]
Exit status: 0 all holds, 1 it does not, 2 can't run.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('include', 'src', 'tools', 'tests', 'examples')
MOST_IN_A_CIRCLE = 8
MOST_PROGRAMS = 40
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


class Rooms:
    """The table of src/rooms.txt."""

    def __init__(self, path):
        self.uses, self.shows = {}, {}
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
            line = line.split('#')[0].strip()
            if ' shows' in line:
                folder, headers = line.split(' shows')
                self.shows[folder] = {f'{folder}/{header}' for header in headers.split()}
            elif line:
                folder, _, used = line.partition(':')
                missing = [room for room in used.split() if room not in self.uses]
                if missing or folder in self.uses:
                    sys.exit(f'{path}:{number}: {folder} uses {missing or "itself"}, which no line above names')
                self.uses[folder] = used.split()
        self.below = {}
        for room, used in self.uses.items():  # bottom up, so that what is below a used room is known
            self.below[room] = set(used).union(*(self.below[other] for other in used))

    def of(self, path):
        """The room of a file: that of the longest folder with a line."""
        place = path
        while place and place not in self.uses:
            place = place.rpartition('/')[0]
        return place or None

    def shown(self, path, reader):
        """Whether the reader lies in each folder above `path` that hides it."""
        return all(path in headers or reader.startswith(folder + '/') or reader.startswith('tests/')
                   for folder, headers in self.shows.items() if path.startswith(folder + '/'))


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.c', '.h', '.def'):
                yield path.relative_to(ROOT).as_posix()


def resolve(target, reader, known):
    """The file that an include line means, or None for the system's and for generated ones."""
    for folder in (reader.rpartition('/')[0], 'include', 'src', 'tools', 'tests/support', 'tests'):
        path = os.path.normpath(f'{folder}/{target}')
        if path in known:
            return path
    return None


def read_includes(files):
    known = set(files)
    for reader in files:
        for target in INCLUDE.findall((ROOT / reader).read_text(encoding='utf-8')):
            path = resolve(target, reader, known)
            if path:
                yield reader, path, f'includes {target}'


def read_calls(build):
    """Arrows from objects of src to the objects that define what they need."""
    defined, needed = {}, collections.defaultdict(set)
    commands = json.loads((build / 'compile_commands.json').read_text(encoding='utf-8'))
    objects = {}
    for command in commands:
        source = os.path.relpath(build / command['file'], ROOT)
        if source.startswith('src/') and (build / command['output']).exists():
            objects[str(build / command['output'])] = source
    if not objects:
        sys.exit(f'{build}: nothing is built there; run `make build`')
    current = None
    listing = subprocess.run(['nm', '--print-file-name', *objects], capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        place, _, rest = line.partition(':')
        current = objects[place]
        kind, name = rest.split()[-2:]
        if kind in 'TDBRVWuC' and '/preload/' not in current:  # which stands in for the C library
            defined.setdefault(name, current)
        elif kind == 'U':
            needed[name].add(current)
    for name, readers in needed.items():
        for reader in readers if name in defined else ():
            yield reader, defined[name], f'needs {name}'


def read_programs(build):
    """The programs that `make test` links: all that ninja builds without being asked for them."""
    targets = json.loads((build / 'meson-info' / 'intro-targets.json').read_text(encoding='utf-8'))
    return sorted(target['name'] for target in targets if target['type'] == 'executable'
                  and target['build_by_default'] and '/tests/fuzz/' not in target['defined_in'])


def module_of(path):
    return path.rsplit('.', 1)[0]


def find_circles(arrows):
    """Tarjan's strongly connected components, without recursion; those of more than one module."""
    order, low, on_stack, stack, circles = {}, {}, set(), [], []
    for root in sorted(arrows):
        work = [(root, None)]
        while work:
            node, targets = work.pop()
            if targets is None:
                if node in order:
                    continue
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
                targets = iter(sorted(arrows.get(node, ())))
            for target in targets:
                if target not in order:
                    work += [(node, targets), (target, None)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], order[target])
            else:
                if low[node] == order[node]:
                    at = stack.index(node)
                    if len(stack) - at > 1:
                        circles.append(sorted(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return circles


def check(rooms, arrows):
    """Lines that say which arrows lead where they must not."""
    for reader, target, how in sorted(set(arrows)):
        ours, theirs = rooms.of(reader), rooms.of(target)
        if ours is None or theirs is None:
            yield f'{reader if ours is None else target} is in no room of src/rooms.txt'
        elif ours != theirs and theirs not in rooms.below[ours]:
            yield f'{reader} {how} of {theirs}, which is not below {ours}'
        elif ours != theirs and target.endswith('_impl.h') and not reader.startswith('tests/'):
            yield f'{reader} {how}, a header that is {theirs}\'s own'
        elif ours != theirs and how.startswith('includes') and not rooms.shown(target, reader):
            yield f'{reader} {how}, which its folder does not show'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, help='a built tree, for the calls')
    parser.add_argument('--circles', action='store_true', help='print every circle inside a room')
    parser.add_argument('--arrows', metavar='ROOM', help='print the arrows from a room to others')
    options = parser.parse_args()
    rooms = Rooms(ROOT / 'src' / 'rooms.txt')
    files = list(sources())
    arrows = list(read_includes(files)) + (list(read_calls(options.build.resolve())) if options.build else [])

    if options.arrows:
        count = collections.Counter((rooms.of(target), how) for reader, target, how in arrows
                                    if rooms.of(reader) == options.arrows != rooms.of(target))
        for (room, how), times in sorted(count.items(), key=str):
            print(f'{times:4}  {room}  {how}')
    wrong = list(dict.fromkeys(check(rooms, arrows)))
    inside = collections.defaultdict(lambda: collections.defaultdict(set))
    for reader, target, _ in arrows:
        if rooms.of(reader) == rooms.of(target) and reader.startswith('src/'):
            inside[rooms.of(reader)][module_of(reader)].add(module_of(target))
    largest = 0
    for room, modules in sorted(inside.items()):
        for module, targets in modules.items():
            targets.discard(module)
        for circle in find_circles(modules):
            largest = max(largest, len(circle))
            text = f'{room}: {len(circle)} modules form a circle: ' + ' '.join(m[len(room) + 1:] for m in circle)
            if len(circle) > MOST_IN_A_CIRCLE:
                wrong.append(text)
            elif options.circles:
                print(text)
    programs = read_programs(options.build.resolve()) if options.build else []
    if len(programs) > MOST_PROGRAMS:
        wrong.append(f'{len(programs)} programs, {MOST_PROGRAMS} at most: ' + ' '.join(programs))
    for line in wrong:
        print(line)
    used = {rooms.of(path) for path in files}
    count = f', {len(programs)} programs' if options.build else ''
    print(f'{len(files)} files in {len(used)} rooms, {len(set(arrows))} arrows, largest circle {largest} modules{count}: '
          f'{len(wrong)} things to mend')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
