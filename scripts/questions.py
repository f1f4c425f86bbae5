#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the open questions that docs/hw and the tables of src/agx mark with those of `agx selftest`.

Fails when an id of a mark is not in tools/agx/selftest/questions.def, when that names an id without a mark, when
a mark has no id, and when a question has neither an experiment in tools/agx/selftest nor a reason why there is none,
or both.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SELFTEST = ROOT / 'tools/agx/selftest'
MARKED = sorted((ROOT / 'docs/hw').glob('*.md')) + sorted((ROOT / 'src/agx').rglob('*.def'))
ID = re.compile(r"\b(?:U-[a-z]+-\d\d|A-cost-[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w-])")
WITHOUT_ID = re.compile(r"\[[UA]'?\]|\[U[ :]|\*\*\[[UA]\]\*\*")
QUESTION = re.compile(r'QUESTION\("([^"]*)",\s*"[^"]+",\s*(NULL|(?:"[^"]*"\s*)+)\)')


def main():
    problems = []
    marks = {}
    for path in MARKED:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = '%s:%d' % (path.relative_to(ROOT), number)
            if WITHOUT_ID.search(line):
                problems.append('%s: a mark without an id' % where)
            for name in ID.findall(line):
                marks.setdefault(name, where)
    text = (SELFTEST / 'questions.def').read_text()
    questions = QUESTION.findall(text)
    if len(questions) != len(re.findall(r'^QUESTION\(', text, re.M)):
        problems.append('questions.def: a QUESTION that does not read as one')
    names = [name for name, _ in questions]
    for name in sorted(set(name for name in names if names.count(name) > 1)):
        problems.append('questions.def: %s stands there twice' % name)
    for name in sorted(set(marks) - set(names)):
        problems.append('%s: %s is not in questions.def' % (marks[name], name))
    for name in sorted(set(names) - set(marks)):
        problems.append('questions.def: %s stands in no page and no table' % name)
    asked = set()
    for path in SELFTEST.iterdir():
        if path.suffix in ('.c', '.def') and path.name != 'questions.def':
            for quoted in re.findall(r'"([^"\n]*)"', path.read_text()):
                asked.update(ID.findall(quoted))
    for name in sorted(asked - set(names)):
        problems.append('tools/agx/selftest: an experiment asks %s, which is not in questions.def' % name)
    for name, reason in questions:
        if name not in asked and reason == 'NULL':
            problems.append('questions.def: %s has neither an experiment nor a reason' % name)
        if name in asked and reason != 'NULL':
            problems.append('questions.def: %s has an experiment and a reason why there is none' % name)
    print('\n'.join(problems) if problems else '%d questions, %d with an experiment' % (len(names), len(asked)))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
