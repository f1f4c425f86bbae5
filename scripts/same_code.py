#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tells whether two installed trees compile every kernel to the same bytes.

Compiles each kernel of tests/corpus and tests/kernels with both trees' `agx compile`, in every robust mode
and for a chip of each generation, and lists the kernels whose executable or error text differs. A change
that must not touch code is checked with it:

    make build && cp -r out /tmp/before     # on the commit before
    make build && scripts/same_code.py --against /tmp/before

With --table FILE it writes one checksum per line instead, for comparisons with a tree that is gone; such a
file may be given to --against, too. Exit status: 0 the same, 1 different, 2 can't run.
"""
import argparse
import concurrent.futures
import hashlib
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHIPS = ('g13g', 'g14s')
MODES = ('off', 'clamp', 'zero')


def checksum(tool, kernel, chip, mode):
    """The checksum of one kernel's executable, or of the text that refuses it."""
    with tempfile.NamedTemporaryFile(suffix='.agxbin') as output:
        run = subprocess.run([tool, 'compile', '--chip', chip, '--robust', mode, '-o', output.name, kernel],
                             capture_output=True, check=False, cwd=ROOT)
        data = output.read() if run.returncode == 0 else run.stderr
    return ('' if run.returncode == 0 else 'refused:') + hashlib.sha256(data).hexdigest()


def make_table(out):
    tool = (pathlib.Path(out) / 'bin' / 'agx').resolve()
    if not tool.exists():
        sys.exit(f'{tool}: no such program; run `make build`, or name an installed tree')
    kernels = sorted(p.relative_to(ROOT) for folder in ('corpus', 'kernels')
                     for p in (ROOT / 'tests' / folder).glob('*.spv'))
    jobs = [(str(k), chip, mode) for k in kernels for chip in CHIPS for mode in MODES]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        sums = pool.map(lambda job: checksum(tool, *job), jobs)
    return dict(zip(jobs, sums))


def read_table(path):
    if pathlib.Path(path).is_dir():
        return make_table(path)
    rows = (line.split() for line in open(path, encoding='utf-8'))
    return {(kernel, chip, mode): value for kernel, chip, mode, value in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', default=ROOT / 'out', help='the installed tree to check (default: ./out)')
    parser.add_argument('--against', help='another installed tree, or a file that --table wrote')
    parser.add_argument('--table', help='write the checksums to this file')
    options = parser.parse_args()
    if not options.against and not options.table:
        parser.error('name a tree or a table with --against, or a file to write with --table')
    ours = make_table(options.out)
    if options.table:
        with open(options.table, 'w', encoding='utf-8') as file:
            file.writelines(f'{" ".join(job)} {value}\n' for job, value in ours.items())
    if not options.against:
        return 0
    theirs = read_table(options.against)
    different = [job for job in sorted(ours.keys() | theirs.keys()) if ours.get(job) != theirs.get(job)]
    for kernel, chip, mode in different:
        print(f'{kernel} ({chip}, robust {mode}) differs')
    refused = sum(value.startswith('refused') for value in ours.values())
    print(f'{len(ours)} compilations, {refused} refused by both, {len(different)} different')
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
