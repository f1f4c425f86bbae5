# SPDX-License-Identifier: MIT
"""A SPIR-V module as the lines of spirv-dis, to be changed and assembled again.

Text shows which operands are ids, so that no table of operands is needed here.
"""
import re
import subprocess

LINE = re.compile(r"(?:(%\d+) = )?(Op\w+)(.*)")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
DEBUG = ("OpName", "OpMemberName", "OpSource", "OpSourceContinued", "OpSourceExtension", "OpLine",
         "OpNoLine", "OpModuleProcessed")
UNTYPED = ("OpLabel", "OpString", "OpExtInstImport", "OpDecorationGroup")
MERGES = ("OpSelectionMerge", "OpLoopMerge")
SOURCES = (2, 3, 4)  # opcodes
# Arithmetic that may be contracted, and what computes as many floats.
CONTRACTED = ("OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFRem", "OpFMod", "OpFNegate",
              "OpVectorTimesScalar", "OpVectorTimesMatrix", "OpMatrixTimesVector",
              "OpMatrixTimesScalar", "OpMatrixTimesMatrix", "OpDot", "OpOuterProduct", "OpExtInst")


class Unfit(Exception):
    """The module can't be read or written by the tools that are installed."""


def tool(command, data):
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode:
        raise Unfit(f"{command[0]}: {done.stderr.decode(errors='replace').strip()[:300]}")
    return done.stdout


def without_sources(data):
    """The module without OpSource and its kin, whose languages old tools may not know."""
    words, at, parts = memoryview(data).cast("I"), 5, [data[:20]]
    while at < len(words) and words[at] >> 16:
        count = words[at] >> 16
        if words[at] & 0xffff not in SOURCES:
            parts.append(data[4 * at:4 * (at + count)])
        at += count
    return b"".join(parts)


class Instruction:
    """args: operands behind the result, its type among them, as words of text."""

    def __init__(self, op, result, args):
        self.op, self.result, self.args = op, result, args

    @property
    def type(self):
        return self.args[0] if self.result and self.op not in UNTYPED else None

    def operands(self):
        return self.args[1:] if self.type else self.args

    def copy(self, names):
        return Instruction(self.op, names.get(self.result, self.result),
                           [names.get(arg, arg) for arg in self.args])

    def text(self):
        words = [self.op] + self.args
        return (f"{self.result} = " if self.result else "") + " ".join(words)


class Block:
    """body: with the merge instruction and the terminator at its end."""

    def __init__(self, label, body):
        self.label, self.body = label, body

    def successors(self):
        last = self.body[-1]
        if last.op in ("OpBranch", "OpBranchConditional", "OpSwitch"):
            skip = 0 if last.op == "OpBranch" else 1
            return [arg for arg in last.args[skip:] if arg.startswith("%")]
        return []

    def merge(self):
        return self.body[-2] if len(self.body) > 1 and self.body[-2].op in MERGES else None

    def tail(self):
        """Index of what ends the block: of its merge instruction, or of its terminator."""
        return len(self.body) - (2 if self.merge() else 1)

    def head(self):
        """Index behind what must stay at the start: phis and variables."""
        at = 0
        while self.body[at].op in ("OpPhi", "OpVariable"):
            at += 1
        return at


class Function:
    def __init__(self, first):
        self.lines, self.blocks = [first], []  # lines: the function and its parameters

    def instructions(self):
        for block in self.blocks:
            yield from block.body

    def uses(self, result):
        return [inst for inst in self.instructions() if result in inst.operands()]

    def rename_predecessor(self, successors, old, new):
        """In phis: what came from the block `old` now comes from `new`."""
        for block in self.blocks:
            if block.label not in successors:
                continue
            for inst in block.body:
                if inst.op != "OpPhi":
                    break
                for at in range(2, len(inst.args), 2):
                    if inst.args[at] == old:
                        inst.args[at] = new


def disassembled(data):
    """Module of binary SPIR-V."""
    text = tool(["spirv-dis", "--raw-id", "--no-color", "--no-indent", "--no-header", "-"],
                without_sources(data)).decode()
    return Module(text, (data[6], data[5]))


class Module:
    """version: of SPIR-V, major and minor."""

    def __init__(self, text, version):
        self.version = version
        self.globals, self.functions, self.defined, self.bound = [], [], {}, 1
        for line in text.splitlines():
            self._read(line)

    def _read(self, line):
        match = LINE.fullmatch(line)
        if not match:
            raise Unfit(f"a line that isn't understood: {line[:80]}")
        result, op, rest = match.groups()
        if op in DEBUG:
            return
        inst = Instruction(op, result, TOKEN.findall(rest))
        if result:
            self.defined[result] = inst
            self.bound = max(self.bound, int(result[1:]) + 1)
        if op == "OpFunction":
            self.functions.append(Function(inst))
        elif not self.functions:
            self.globals.append(inst)
        elif op == "OpLabel":
            self.functions[-1].blocks.append(Block(result, []))
        elif self.functions[-1].blocks and op != "OpFunctionEnd":
            self.functions[-1].blocks[-1].body.append(inst)
        elif op != "OpFunctionEnd":
            self.functions[-1].lines.append(inst)

    # ---- writing

    def text(self):
        lines = [inst.text() for inst in self.globals]
        for function in self.functions:
            lines += [inst.text() for inst in function.lines]
            for block in function.blocks:
                lines.append(f"{block.label} = OpLabel")
                lines += [inst.text() for inst in block.body]
            lines.append("OpFunctionEnd")
        return "\n".join(lines) + "\n"

    def renumbered(self, rng):
        """The module's text with other numbers for all ids."""
        numbers = list(range(1, self.bound))
        rng.shuffle(numbers)
        return re.sub(r'"(?:[^"\\]|\\.)*"|%(\d+)',
                      lambda found: f"%{numbers[int(found[1]) - 1]}" if found[1] else found[0],
                      self.text())

    def assembled(self, rng=None):
        text = self.renumbered(rng) if rng else self.text()
        return tool(["spirv-as", "--preserve-numeric-ids", "--target-env", "spv%d.%d" % self.version,
                     "-o", "-", "-"], text.encode())

    # ---- what is there, and adding to it

    def fresh(self):
        self.bound += 1
        return f"%{self.bound - 1}"

    def new(self, op, *args):
        """An instruction with a new result."""
        inst = Instruction(op, self.fresh(), [str(arg) for arg in args])
        self.defined[inst.result] = inst
        return inst

    def add_global(self, op, *args):
        inst = self.new(op, *args)
        self.globals.append(inst)
        return inst.result

    def type_id(self, op, *args):
        args = [str(arg) for arg in args]
        for inst in self.globals:
            if inst.op == op and inst.args == args:
                return inst.result
        return self.add_global(op, *args)

    def constant(self, which, value):
        return self.add_global("OpConstant", which, value)

    def null(self, which):
        for inst in self.globals:
            if inst.op == "OpConstantNull" and inst.args == [which]:
                return inst.result
        return self.add_global("OpConstantNull", which)

    def decorate(self, *args):
        at = max(i for i, inst in enumerate(self.globals)
                 if not inst.op.startswith(("OpType", "OpConst", "OpSpec", "OpVar", "OpUndef"))) + 1
        self.globals.insert(at, Instruction(args[0], None, [str(arg) for arg in args[1:]]))

    def copy_decorations(self, old, new):
        for inst in [inst for inst in self.globals
                     if inst.op == "OpDecorate" and inst.args[0] == old]:
            self.decorate("OpDecorate", new, *inst.args[1:])

    def type_of(self, result):
        inst = self.defined.get(result)
        return inst.type if inst else None

    def shape(self, which):
        """The instruction of a type."""
        return self.defined[which]

    def is_plain(self, which):
        """A scalar or a vector."""
        return self.shape(which).op in ("OpTypeInt", "OpTypeFloat", "OpTypeBool", "OpTypeVector")

    def is_value(self, which):
        """What a phi may choose: no pointer or anything opaque inside."""
        inst = self.shape(which)
        if inst.op in ("OpTypeVector", "OpTypeMatrix", "OpTypeArray"):
            return self.is_value(inst.args[0])
        if inst.op == "OpTypeStruct":
            return all(self.is_value(member) for member in inst.args)
        return inst.op in ("OpTypeInt", "OpTypeFloat", "OpTypeBool")

    def forbid_contraction(self):
        """Decorates all arithmetic with floats, so that each result is defined to the bit."""
        for function in self.functions:
            for inst in function.instructions():
                if inst.op in CONTRACTED and self._has_floats(inst.type):
                    self.decorate("OpDecorate", inst.result, "NoContraction")

    def _has_floats(self, which):
        inst = self.shape(which)
        while inst.op in ("OpTypeVector", "OpTypeMatrix"):
            inst = self.shape(inst.args[0])
        return inst.op == "OpTypeFloat"
