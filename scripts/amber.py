#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs Amber scripts that compute: their shaders on a device of ours, their expectations here.

    amber.py [--agx FILE] [--device NAME] [--robust MODE] SCRIPT.amber...

Prints PASS, FAIL or REFUSED for each script, with the line. What a script uses beyond this is
refused before anything runs:

    SHADER compute NAME GLSL|SPIRV-ASM|SPIRV-HEX [TARGET_ENV E]   (glslangValidator, spirv-as)
    BUFFER NAME DATA_TYPE T [STD140|STD430] DATA V... END | SIZE N [FILL V | SERIES_FROM V INC_BY V]
    PIPELINE compute NAME | DERIVE_PIPELINE NAME FROM PARENT, then END, with
       ATTACH SHADER [ENTRY_POINT E] [SPECIALIZE ID AS T V]...
       BIND BUFFER NAME AS storage|uniform DESCRIPTOR_SET S BINDING B, or AS push_constant
       SUBGROUP SHADER FULLY_POPULATED on|off, VARYING_SIZE on|off, REQUIRED_SIZE 32 END
    RUN PIPELINE X Y Z, COPY A TO B, REPEAT N ... END
    EXPECT B IDX BYTE [TOLERANCE T[%]...] EQ|NE|LT|LE|GT|GE V..., B EQ_BUFFER C,
       B RMSE_BUFFER C TOLERANCE T
    DEVICE_FEATURE, DEVICE_EXTENSION, INSTANCE_EXTENSION: the compiler refuses what it lacks

The exit code is 1 when a script failed, else 3 when one was refused.
"""
import argparse
import bisect
import math
import operator
import os
import re
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_SCRIPT_B, MOST_STEPS, MOST_GROUPS = 1 << 24, 10000, 1 << 22
MOST_BUFFER_B = 1 << 24  # of all buffers of a script
MOST_PUSH_B, RUN_SECONDS, SUBGROUP = 256, 300, 32
SCALARS = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
           "int64": "q", "uint64": "Q", "float16": "e", "float": "f", "double": "d"}
COMPARISONS = {"EQ": operator.eq, "NE": operator.ne, "LT": operator.lt, "LE": operator.le,
               "GT": operator.gt, "GE": operator.ge}
TYPE = re.compile(r"(?:vec([234])<(\w+)>|mat([234])x([234])<(\w+)>|(\w+))")


class Refused(Exception):
    """The script has something that isn't supported here, or breaks the grammar."""


class Failed(Exception):
    """The script ran, and something is not as expected."""


class Line:
    def __init__(self, number, words):
        self.number, self.words = number, words

    def refuse(self, words):
        raise Refused(f"{self.number}: {words}")

    def fail(self, words):
        raise Failed(f"{self.number}: {words}")

    def take(self, *wanted):
        """The next words must be these."""
        for word in wanted:
            if self.next() != word:
                self.refuse(f"{word} is expected before '{' '.join(self.words)}'")

    def next(self):
        if not self.words:
            self.refuse("the line ends too early")
        return self.words.pop(0)

    def has(self, word):
        """Whether that is the next word, which is then taken."""
        found = self.words[:1] == [word]
        del self.words[:found]
        return found

    def integer(self, least=0, most=(1 << 32) - 1):
        word = self.next()
        try:
            value = int(word, 0)
        except ValueError:
            self.refuse(f"'{word}' is no integer")
        if not least <= value <= most:
            self.refuse(f"{value} is not between {least} and {most}")
        return value

    def end(self):
        if self.words:
            self.refuse(f"'{' '.join(self.words)}' is not supported")


class Type:
    """A scalar, vector or matrix, and where its components lie in a buffer."""

    def __init__(self, line, word, is_std140):
        match = TYPE.fullmatch(word)
        scalar = match and (match[2] or match[5] or match[6])
        if scalar not in SCALARS:
            line.refuse(f"the type {word} is not supported")
        self.code, self.is_float = SCALARS[scalar], SCALARS[scalar] in "efd"
        size = struct.calcsize(self.code)
        columns, rows = int(match[3] or 1), int(match[4] or match[1] or 1)
        column = size * (4 if rows == 3 else rows)
        if is_std140 and (columns > 1):
            column = -(-column // 16) * 16
        self.offsets = [c * column + r * size for c in range(columns) for r in range(rows)]
        self.stride, self.size = column * columns, size
        if is_std140:
            self.stride = -(-self.stride // 16) * 16

    def value(self, line, word):
        try:
            if not self.is_float and re.fullmatch(r"-?\d+\.0*", word):
                value = int(word.split(".")[0])
            elif not self.is_float:
                value = int(word, 0)
            elif word.lower().startswith("0x"):
                data = int(word, 0).to_bytes(self.size, "little")
                value = struct.unpack("<" + self.code, data)[0]
            else:
                value = float(word)
            return struct.unpack("<" + self.code, self.pack(value))[0]
        except (ValueError, OverflowError, struct.error):
            line.refuse(f"'{word}' is no number of this type")

    def pack(self, value):
        try:
            if not self.is_float and value < 0 and self.code.isupper():
                value += 1 << 8 * self.size  # as scripts write all ones
            return struct.pack("<" + self.code, value)
        except OverflowError:
            return struct.pack("<" + self.code, math.copysign(math.inf, value))


class Buffer:
    """Bytes whose components have a type."""

    def __init__(self, line, which, values):
        per_item = len(which.offsets)
        if not values or len(values) % per_item:
            line.refuse(f"{len(values)} values don't fill items of {per_item}")
        self.type, count = which, len(values) // per_item
        if count * which.stride > MOST_BUFFER_B:
            line.refuse(f"more than {MOST_BUFFER_B} bytes")
        self.places = [item * which.stride + offset for item in range(count)
                       for offset in which.offsets]
        self.data = bytearray(count * which.stride)
        for place, value in zip(self.places, values):
            self.data[place:place + which.size] = which.pack(value)

    def values(self, first=0, count=None):
        places = self.places[first:] if count is None else self.places[first:first + count]
        return [struct.unpack_from("<" + self.type.code, self.data, place)[0] for place in places]


class Pipeline:
    def __init__(self, parent=None):
        self.shader, self.entry = (parent.shader, parent.entry) if parent else (None, "main")
        self.specs = dict(parent.specs) if parent else {}
        self.bindings = dict(parent.bindings) if parent else {}  # (set, binding): kind, buffer
        self.push = parent.push if parent else None


class Script:
    """Reads a script: shaders, buffers, pipelines, and steps to take."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.at = self.bytes = 0
        self.shaders, self.buffers, self.pipelines = {}, {}, {}
        if self.lines[0].strip() != "#!amber":
            raise Refused("1: an Amber script starts with #!amber")
        self.steps = self.read_block(self.statement)

    # ---- lines

    def read_line(self):
        """The next line with words, or None."""
        while self.at < len(self.lines):
            words = self.lines[self.at].split("#", 1)[0].split()
            self.at += 1
            if words:
                return Line(self.at, words)
        return None

    def read_block(self, read, start=None):
        """What `read` makes of each line, up to END where the block has a start."""
        found = []
        while True:
            line = self.read_line()
            if line is None and start is None:
                return found
            if line is None:
                start.refuse("END is missing")
            if start is not None and line.words == ["END"]:
                return found
            step = read(line, line.next())
            if step:
                found.append(step)

    def add(self, line, table, name, value):
        if name in table:
            line.refuse(f"there is a {name} already")
        table[name] = value

    def find(self, line, table, what):
        name = line.next()
        if name not in table:
            line.refuse(f"there is no {what} {name}")
        return table[name]

    def statement(self, line, word):
        if word in ("DEVICE_FEATURE", "DEVICE_EXTENSION", "INSTANCE_EXTENSION"):
            return None
        reader = {"SHADER": self.shader, "BUFFER": self.buffer, "PIPELINE": self.pipeline,
                  "DERIVE_PIPELINE": self.derived}.get(word)
        if reader:
            return reader(line)
        return self.command(line, word)

    def command(self, line, word):
        reader = {"RUN": self.run, "EXPECT": self.expect, "COPY": self.copy,
                  "REPEAT": self.repeat}.get(word)
        if not reader:
            line.refuse(f"{word} is not supported")
        return reader(line)

    # ---- declarations

    def shader(self, line):
        stage, name, form = line.next(), line.next(), line.next()
        if stage != "compute":
            line.refuse(f"a {stage} shader is not supported (compute)")
        if form not in ("GLSL", "SPIRV-ASM", "SPIRV-HEX"):
            line.refuse(f"{form} is not supported (GLSL, SPIRV-ASM, SPIRV-HEX)")
        target = line.next() if line.has("TARGET_ENV") else None
        if target and not re.fullmatch(r"(spv|spirv|vulkan)\d\.\d", target):
            line.refuse(f"the environment {target} is not supported")
        line.end()
        first = self.at
        while self.at < len(self.lines) and self.lines[self.at].split("#")[0].strip() != "END":
            self.at += 1
        if self.at == len(self.lines):
            line.refuse("END is missing")
        self.add(line, self.shaders, name, (line, form, target, self.lines[first:self.at]))
        self.at += 1

    def buffer(self, line):
        name = line.next()
        if not line.has("DATA_TYPE"):
            line.refuse(f"a buffer by {' '.join(line.words[:1])} is not supported (DATA_TYPE)")
        word = line.next()
        is_std140 = line.has("STD140")
        line.has("STD430")
        which = Type(line, word, is_std140)
        if line.has("DATA"):
            values = self.data(line, which)
        elif line.has("SIZE"):
            values = self.initial(line, which)
        else:
            line.refuse(f"'{' '.join(line.words)}' is not supported (DATA, SIZE)")
        buffer = Buffer(line, which, values)
        self.bytes += len(buffer.data)
        if self.bytes > MOST_BUFFER_B:
            line.refuse(f"buffers of more than {MOST_BUFFER_B} bytes")
        self.add(line, self.buffers, name, buffer)

    def data(self, line, which):
        start, values = line, []
        while True:
            for word in line.words:
                if word == "END":
                    return values
                values.append(which.value(line, word))
            line = self.read_line()
            if line is None:
                start.refuse("END is missing")

    @staticmethod
    def initial(line, which):
        count = line.integer(1, MOST_BUFFER_B // which.stride) * len(which.offsets)
        if line.has("SERIES_FROM"):
            first = which.value(line, line.next())
            line.take("INC_BY")
            step = which.value(line, line.next())
            values = [first + step * i for i in range(count)]
        else:
            values = [which.value(line, line.next()) if line.has("FILL") else 0] * count
        line.end()
        try:
            which.pack(values[-1])
        except struct.error:
            line.refuse(f"{values[-1]} is no number of this type")
        return values

    def pipeline(self, line):
        kind, name = line.next(), line.next()
        if kind != "compute":
            line.refuse(f"a {kind} pipeline is not supported (compute)")
        self.body(line, name, Pipeline())

    def derived(self, line):
        name = line.next()
        line.take("FROM")
        self.body(line, name, Pipeline(self.find(line, self.pipelines, "pipeline")))

    def body(self, start, name, pipeline):
        start.end()

        def read(line, word):
            if word == "ATTACH":
                self.attach(line, pipeline)
            elif word == "BIND":
                self.bind(line, pipeline)
            elif word == "SUBGROUP":
                self.subgroup(line)
            else:
                line.refuse(f"{word} is not supported in a pipeline")
        self.read_block(read, start)
        if not pipeline.shader:
            start.refuse("a pipeline without a shader")
        self.add(start, self.pipelines, name, pipeline)

    def attach(self, line, pipeline):
        pipeline.shader = self.find(line, self.shaders, "shader")
        if line.has("TYPE"):
            line.take("compute")
        if line.has("ENTRY_POINT"):
            pipeline.entry = line.next()
        while line.has("SPECIALIZE"):
            number = line.integer()
            line.take("AS")
            kind = line.next()
            kinds = {"uint32": "u32", "int32": "i32", "float": "f32"}
            if kind not in kinds:
                line.refuse(f"a specialization constant of type {kind} is not supported")
            value = Type(line, kind, False).value(line, line.next())
            pipeline.specs[number] = f"{kinds[kind]} {value!r}"
        line.end()

    def bind(self, line, pipeline):
        if not line.has("BUFFER"):
            line.refuse(f"BIND {' '.join(line.words[:1])} is not supported (BUFFER)")
        buffer = self.find(line, self.buffers, "buffer")
        line.take("AS")
        kind = line.next()
        if kind == "push_constant":
            if len(buffer.data) > MOST_PUSH_B:
                line.refuse(f"more than {MOST_PUSH_B} bytes of push constants")
            pipeline.push = buffer
        elif kind in ("storage", "uniform"):
            line.take("DESCRIPTOR_SET")
            place = line.integer(0, 31)
            line.take("BINDING")
            place = place, line.integer(0, 65535)
            if kind == "uniform" and len(buffer.data) > buffer.type.stride and \
                    buffer.type.stride % 16:
                line.refuse("items of a uniform buffer that aren't 16 bytes apart need STD140")
            pipeline.bindings[place] = ("ssbo" if kind == "storage" else "ubo"), buffer
        else:
            line.refuse(f"AS {kind} is not supported (storage, uniform, push_constant)")
        line.end()

    def subgroup(self, start):
        self.find(start, self.shaders, "shader")
        start.end()

        def read(line, word):
            if word in ("FULLY_POPULATED", "VARYING_SIZE"):
                if line.next() not in ("on", "off"):
                    line.refuse(f"{word} takes on or off")
            elif word == "REQUIRED_SIZE":
                if line.next() != str(SUBGROUP):
                    line.refuse(f"subgroups have {SUBGROUP} invocations")
            else:
                line.refuse(f"{word} is not supported in SUBGROUP")
            line.end()
        self.read_block(read, start)

    # ---- commands: each gives a function of the runner

    def run(self, line):
        pipeline = self.find(line, self.pipelines, "pipeline")
        groups = [line.integer(1, 65535) for _ in range(3)]
        if math.prod(groups) > MOST_GROUPS:
            line.refuse(f"more than {MOST_GROUPS} workgroups")
        line.end()
        return lambda runner: runner.run(line, pipeline, groups)

    def copy(self, line):
        source = self.find(line, self.buffers, "buffer")
        line.take("TO")
        target = self.find(line, self.buffers, "buffer")
        line.end()
        if len(source.data) != len(target.data):
            line.refuse("the buffers have different sizes")

        def step(_):
            target.data[:] = source.data
        return step

    def repeat(self, line):
        count = line.integer(1, MOST_STEPS)
        line.end()
        steps = self.read_block(self.command, line)

        def step(runner):
            for _ in range(count):
                runner.take(steps)
        return step

    def expect(self, line):
        buffer = self.find(line, self.buffers, "buffer")
        word = line.next()
        if word == "IDX":
            return self.expect_values(line, buffer)
        if word not in ("EQ_BUFFER", "RMSE_BUFFER"):
            line.refuse(f"EXPECT {word} is not supported (IDX, EQ_BUFFER, RMSE_BUFFER)")
        other = self.find(line, self.buffers, "buffer")
        most = None
        if word == "RMSE_BUFFER":
            line.take("TOLERANCE")
            most = Type(line, "double", False).value(line, line.next())
        line.end()
        if len(buffer.places) != len(other.places):
            line.refuse("the buffers have different sizes")
        return lambda _: compare_buffers(line, buffer.values(), other.values(), most)

    @staticmethod
    def expect_values(line, buffer):
        place = line.integer(0, MOST_BUFFER_B)
        first = bisect.bisect_left(buffer.places, place)
        if buffer.places[first:first + 1] != [place]:
            line.refuse(f"byte {place} is not where a value of the buffer starts")
        tolerances = []
        if line.has("TOLERANCE"):
            while line.words and line.words[0] not in COMPARISONS:
                tolerances.append(tolerance(line, line.next()))
            if not 1 <= len(tolerances) <= 4:
                line.refuse("TOLERANCE takes one to four numbers")
        word = line.next()
        if word not in COMPARISONS:
            line.refuse(f"{word} is not supported ({', '.join(COMPARISONS)})")
        if tolerances and word != "EQ":
            line.refuse(f"TOLERANCE with {word} is not supported (EQ)")
        wanted = [buffer.type.value(line, text) for text in line.words]
        if not wanted or first + len(wanted) > len(buffer.places):
            line.refuse(f"{len(wanted)} values from byte {place} on are not in the buffer")
        return lambda _: compare_values(line, word, buffer.values(first, len(wanted)), wanted,
                                        tolerances)


def tolerance(line, word):
    """(number, whether it is a percentage)"""
    is_percentage = word.endswith("%")
    value = Type(line, "double", False).value(line, word[:-1] if is_percentage else word)
    return value, is_percentage


def compare_values(line, word, got, wanted, tolerances):
    for i, (ours, theirs) in enumerate(zip(got, wanted)):
        good = COMPARISONS[word](ours, theirs) or (word == "EQ" and ours != ours and
                                                   theirs != theirs)
        if tolerances:
            most, is_percentage = tolerances[i % len(tolerances)]
            most = abs(theirs) * most / 100 if is_percentage else most
            good = good or abs(ours - theirs) <= most
        if not good:
            line.fail(f"value {i} is {ours!r}, expected {word} {theirs!r}")


def compare_buffers(line, got, wanted, most):
    if most is None:
        for i, (ours, theirs) in enumerate(zip(got, wanted)):
            if ours != theirs and (ours == ours or theirs == theirs):
                line.fail(f"value {i} is {ours!r}, the other buffer has {theirs!r}")
        return
    error = math.sqrt(sum((a - b) ** 2 for a, b in zip(got, wanted)) / len(got))
    if not error <= most:
        line.fail(f"the root of the mean square difference is {error:g}, more than {most:g}")


class Runner:
    """Takes a script's steps: assembles shaders and has `agx run` launch them."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.assembled, self.steps = {}, 0

    def take(self, steps):
        for step in steps:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Refused(f"1: more than {MOST_STEPS} steps")
            step(self)

    def assemble(self, shader):
        """The path of the shader's SPIR-V."""
        line, form, target, text = shader
        if line.number in self.assembled:
            return self.assembled[line.number]
        source = os.path.join(self.folder, f"{line.number}.comp")
        path = os.path.join(self.folder, f"{line.number}.spv")
        if form == "SPIRV-HEX":
            try:
                words = b"".join(self.word(word) for row in text for word in row.split())
            except (ValueError, OverflowError):
                line.refuse("a word that isn't hexadecimal")
            with open(path, "wb") as file:
                file.write(words)
        else:
            with open(source, "w") as file:
                file.write("\n".join(text))
            target = (target or "spv1.0").replace("spirv", "spv")
            if form == "GLSL":
                target = target.replace("spv", "spirv")
                command = ["glslangValidator", "-V", "--quiet"] + \
                    (["--target-env", target] if target != "spirv1.0" else [])
            else:
                command = ["spirv-as", "--target-env", target]
            self.call(line, command + ["-o", path, source])
        self.assembled[line.number] = path
        return path

    @staticmethod
    def word(text):
        """Pairs of digits are bytes; longer ones are words."""
        return int(text, 16).to_bytes(1 if len(text.replace("0x", "")) <= 2 else 4, "little")

    @staticmethod
    def call(line, command):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)
        except FileNotFoundError:
            line.refuse(f"{command[0]} is not installed")
        except subprocess.TimeoutExpired:
            line.fail(f"{os.path.basename(command[0])} takes more than {RUN_SECONDS} s")
        if done.returncode:
            words = " ".join((done.stderr.strip() or done.stdout.strip()).split())
            line.fail(f"{os.path.basename(command[0])}: {words[-300:]}")

    def manifest(self, line, pipeline, groups, buffers):
        lines = [f"spec {number} {value}" for number, value in sorted(pipeline.specs.items())]
        for number, ((group, binding), (kind, buffer)) in enumerate(buffers):
            lines.append(f"buf {number} {group} {binding} {kind} {len(buffer.data)} zero" +
                         (" out" if kind == "ssbo" else ""))
        if len({id(buffer) for _, (_, buffer) in buffers}) != len(buffers):
            line.refuse("a buffer that is bound twice is not supported")
        if pipeline.push:
            data = pipeline.push.data + bytes(-len(pipeline.push.data) % 4)
            lines += [f"push u32 {word}" for word, in struct.iter_unpack("<I", data)]
        return "\n".join(lines + ["dispatch %d %d %d" % tuple(groups), "cmp none"]) + "\n"

    def run(self, line, pipeline, groups):
        kernel = self.assemble(pipeline.shader)
        name = os.path.basename(kernel)[:-len(".spv")]
        buffers = sorted(pipeline.bindings.items())
        path = os.path.join(self.folder, "manifest")
        with open(path, "w") as file:
            file.write(self.manifest(line, pipeline, groups, buffers))
        for number, (_, (_, buffer)) in enumerate(buffers):
            with open(os.path.join(self.folder, f"{name}.{number}.bin"), "wb") as file:
                file.write(buffer.data)
        command = [self.options.agx, "run", "--device", self.options.device, "--manifest", path,
                   "--entry", pipeline.entry, "--input", self.folder, "--dump", self.folder]
        for mode in self.options.robust or ():
            command += ["--robust", mode]
        self.call(line, command + [kernel])
        for number, (_, (kind, buffer)) in enumerate(buffers):
            if kind == "ssbo":
                with open(os.path.join(self.folder, f"{name}.{number}.bin"), "rb") as file:
                    buffer.data[:] = file.read()


def judge(options, path):
    """("PASS" | "FAIL" | "REFUSED", words)"""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_SCRIPT_B + 1)
        if len(data) > MOST_SCRIPT_B:
            raise Refused(f"1: more than {MOST_SCRIPT_B} bytes")
        script = Script(data.decode("utf-8", "replace").replace("\r\n", "\n"))
        with tempfile.TemporaryDirectory() as folder:
            Runner(options, folder).take(script.steps)
    except OSError as error:
        return "REFUSED", f"{path}: {error.strerror}"
    except (Refused, RecursionError) as reason:
        return "REFUSED", f"{path}:{reason}"
    except Failed as reason:
        return "FAIL", f"{path}:{reason}"
    return "PASS", path


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__)
    parser.add_argument("--agx", default=os.path.join(TOP, "out", "bin", "agx"),
                        help="the tool; default out/bin/agx")
    parser.add_argument("--device", default="virtual", help="as for agx run; default virtual")
    parser.add_argument("--robust", action="append", help="as for agx run")
    parser.add_argument("script", nargs="+")
    options = parser.parse_args()
    verdicts = []
    for path in options.script:
        verdict, words = judge(options, path)
        verdicts.append(verdict)
        print(f"{verdict} {words}", flush=True)
    if len(verdicts) > 1:
        print(", ".join(f"{verdicts.count(word)} {word}" for word in ("PASS", "FAIL", "REFUSED")))
    return 1 if "FAIL" in verdicts else 3 if "REFUSED" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
