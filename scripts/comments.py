#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists functions that a header declares without a comment, and C files without an opening paragraph.

A comment directly above a declaration, or behind it on its line, counts; one above a group of at most four
declarations without a blank line between them counts for the group. Exit status 1 when something is listed.

usage: comments.py [FOLDER...]   (default: include src tools)
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_IN_A_GROUP = 4
FUNCTION = re.compile(r'(?:^|[\s*])(\w+)\s*\((?!\*)')
NOT_A_FUNCTION = re.compile(r'^\s*(typedef|struct \w+ \{|enum|union|extern "C"|#|_Static_assert|static_assert|AGX_\w+\(|'
                            r'static const|extern const|\}|return\b)')


def statements(text):
    """Yields (first line number, text, has a comment, follows a blank line) of statements outside braces."""
    lines = text.splitlines()
    depth, start, held, in_comment, comment_above, blank_above = 0, None, '', False, False, True
    continued = False
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if continued or stripped.startswith('#'):  # a directive, or a macro's next line
            continued = stripped.endswith('\\')
            if not held:
                comment_above = False
            continue
        if in_comment or stripped.startswith('/*'):
            in_comment = '*/' not in stripped
            if depth == 0 and not held:
                comment_above = True
            if in_comment or stripped.endswith('*/'):
                continue
        if not stripped:
            if depth == 0 and not held:
                comment_above, blank_above = False, True
            continue
        if stripped.startswith('//'):
            if depth == 0 and not held:
                comment_above = True
            continue
        code = re.sub(r'/\*.*?\*/|//.*', '', stripped)
        if depth == 0:
            start = start or number
            held += ' ' + code
        depth += code.count('{') - code.count('}')
        if depth == 0 and (code.rstrip().endswith((';', '}'))):
            yield start, held.strip(), comment_above or '/*' in stripped or '//' in stripped, blank_above
            held, start, comment_above, blank_above = '', None, False, False


def undocumented(path):
    group_left = 0
    for line, text, documented, after_blank in statements(path.read_text(encoding='utf-8')):
        head = text.split('{')[0]
        found = FUNCTION.search(head)
        if not found or found.group(1).isupper() or '(' not in head or NOT_A_FUNCTION.match(text) or '=' in head.split('(')[0]:
            group_left = 0
            continue
        if documented:
            group_left = MOST_IN_A_GROUP - 1
        elif group_left > 0 and not after_blank:
            group_left -= 1
        else:
            yield line, found.group(1)
            group_left = 0


def main():
    folders = [ROOT / name for name in sys.argv[1:]] or [ROOT / name for name in ('include', 'src', 'tools')]
    listed = functions = 0
    for folder in folders:
        for path in sorted(folder.rglob('*.[ch]')):
            place = path.relative_to(ROOT)
            text = path.read_text(encoding='utf-8')
            if path.suffix == '.h':
                for line, name in undocumented(path):
                    print(f'{place}:{line}: {name} has no comment')
                    functions += 1
            elif not re.match(r'/\*\s*SPDX[^\n]*\n \*\n \* \S', text):
                print(f'{place}: no opening paragraph')
                listed += 1
    print(f'{functions} functions without a comment, {listed} files without an opening paragraph')
    return 1 if functions or listed else 0


if __name__ == '__main__':
    sys.exit(main())
