#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of a build folder for aarch64.sh, which runs them in a machine.

   aarch64_tests.py BUILD RESULTS SLOWER AGAIN [SUITE|SUITE/NAME]...
         writes a script for each test, and for each suite the list of those that haven't passed; prints a line for
         each suite: its name, how many tests are on the list, and the seconds that they may take together
   aarch64_tests.py --report RESULTS SUITE SECONDS SAID
         prints what became of a suite's tests, and how long they took; the exit code is 1 when one has failed
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

# Why a suite isn't run, unless it is named.
LEFT_OUT = {
    'soak': 'millions of random requests, which say nothing of the architecture that suite virtual does not',
    'fuzz': 'mutants of inputs whose readers the suites agx, sim and compiler run',
}


# ---- the list ------------------------------------------------------------

def file_name(test):
    return re.sub(r'[^A-Za-z0-9_.-]', '_', suite_of(test) + '.' + test['name'])


def suite_of(test):
    return test['suite'][0].split(':')[-1]


def write_script(path, test):
    """Like `meson test` with the set-up of tests/meson.build: the test's own environment, in its folder."""
    tests = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'tests')
    environment = {'AGX_CACHE_DIR': '', 'AGX_TEST_SOURCE_DIR': tests, **test['env']}
    with open(path, 'w') as script:
        for name, value in environment.items():
            script.write(f'export {name}={shlex.quote(value)}\n')
        if test['workdir']:
            script.write(f'cd {shlex.quote(test["workdir"])}\n')
        script.write('exec ' + ' '.join(map(shlex.quote, test['cmd'])) + '\n')


def has_passed(results, name):
    try:
        with open(f'{results}/{name}.done') as done:
            return done.read().split()[0] in ('0', '77')
    except OSError:
        return False


def write_lists(build, results, slower, again, wanted):
    found = subprocess.run(['meson', 'introspect', '--tests', build], capture_output=True, text=True, check=True)
    suites = {}
    for test in json.loads(found.stdout):
        suites.setdefault(suite_of(test), []).append(test)
    for suite, tests in suites.items():
        if not wanted and suite in LEFT_OUT:
            print(f'{suite}: left out: {LEFT_OUT[suite]}', file=sys.stderr)
            continue
        chosen = [test for test in tests if not wanted or suite in wanted or f'{suite}/{test["name"]}' in wanted]
        if not chosen:
            continue
        seconds = 120
        todo = []
        with open(f'{results}/{suite}.all', 'w') as every:
            every.write(''.join(file_name(test) + '\n' for test in chosen))
        for test in chosen:
            name = file_name(test)
            if not again and has_passed(results, name):
                continue
            for old in glob.glob(f'{glob.escape(results)}/{name}.done'):
                os.remove(old)
            limit = int(test['timeout'] * slower)
            seconds += limit
            todo.append(f'{name} {limit}\n')
            write_script(f'{results}/{name}.sh', test)
        with open(f'{results}/{suite}.list', 'w') as listing:
            listing.write(''.join(todo))
        print(suite, len(todo), seconds)


# ---- the report ----------------------------------------------------------

def tail_of(path, lines=25):
    try:
        with open(path, errors='replace') as file:
            return ''.join('   ' + line for line in file.read().splitlines(True)[-lines:])
    except OSError:
        return ''


def report(results, suite, wall, said):
    names = open(f'{results}/{suite}.all').read().split()
    seconds, failed, skipped = 0, 0, []
    for name in names:
        log = f'{results}/{name}.log'
        try:
            code, begin, end = map(int, open(f'{results}/{name}.done').read().split())
        except OSError:
            print(f'   {name}: not run to its end\n{tail_of(log)}')
            failed += 1
            continue
        seconds += end - begin
        if code not in (0, 77):
            failed += 1
            print(f'   {name}: FAILED with {code} after {end - begin} s\n{tail_of(log)}')
        skipped += re.findall(r'\[  SKIPPED \] (\w+)$', open(log, errors='replace').read(), re.M) if os.path.exists(log) else []
    if not all(os.path.exists(f'{results}/{name}.done') for name in names):
        print('   what the machine said last:\n' + tail_of(said))
    print(f'{suite}: {len(names) - failed} of {len(names)} passed, {seconds} s of tests, {wall} s now')
    if skipped:
        print(f'   cases that skipped themselves: {" ".join(sorted(set(skipped)))}')
    return 1 if failed else 0


def main(arguments):
    if len(arguments) == 5 and arguments[0] == '--report':
        return report(arguments[1], arguments[2], int(arguments[3]), arguments[4])
    if len(arguments) >= 4:
        return write_lists(arguments[0], arguments[1], float(arguments[2]), arguments[3], arguments[4:])
    sys.exit(__doc__)


sys.exit(main(sys.argv[1:]))
