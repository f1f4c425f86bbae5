#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of scripts/mutate without SPIR-V's tools: each mutation finds a place in a module, and what
it leaves has each id defined once and before its uses, and blocks that end once."""
import os
import random
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts", "mutate"))
import mutations  # noqa: E402
from module import MERGES, Module  # noqa: E402

SEEDS = 20
TERMINATORS = ("OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue")
MODULE = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %1 "main"
OpExecutionMode %1 LocalSize 32 1 1
OpDecorate %20 NoContraction
%2 = OpTypeVoid
%3 = OpTypeFunction %2
%4 = OpTypeInt 32 0
%5 = OpTypeFloat 32
%6 = OpTypeVector %5 4
%7 = OpTypeBool
%8 = OpTypePointer Function %6
%9 = OpConstant %4 5
%10 = OpConstant %5 2.5
%11 = OpConstantComposite %6 %10 %10 %10 %10
%1 = OpFunction %2 None %3
%12 = OpLabel
%13 = OpVariable %8 Function
OpStore %13 %11
%14 = OpLoad %6 %13
%20 = OpFAdd %6 %14 %11
%21 = OpCompositeExtract %5 %20 1
%22 = OpFOrdLessThan %7 %21 %10
OpSelectionMerge %16 None
OpBranchConditional %22 %15 %16
%15 = OpLabel
%23 = OpIAdd %4 %9 %9
%24 = OpConvertUToF %5 %23
OpBranch %16
%16 = OpLabel
%25 = OpPhi %5 %10 %12 %24 %15
%26 = OpSelect %4 %22 %9 %9
OpSelectionMerge %17 None
OpSwitch %26 %18 1 %19 2 %30
%18 = OpLabel
OpBranch %17
%19 = OpLabel
OpBranch %17
%30 = OpLabel
OpBranch %17
%17 = OpLabel
%27 = OpFMul %5 %25 %21
OpReturn
OpFunctionEnd
"""


def definitions(module):
    """Ids in the order of their definitions, of the module and its functions."""
    for inst in module.globals:
        yield inst.result
    for function in module.functions:
        for inst in function.lines:
            yield inst.result
        for block in function.blocks:
            yield block.label
            for inst in block.body:
                yield inst.result


def ids(inst):
    return [arg for arg in inst.args if arg.startswith("%")]


class Mutations(unittest.TestCase):
    def check(self, module):
        defined = [result for result in definitions(module) if result]
        self.assertEqual(len(defined), len(set(defined)))
        for function in module.functions:
            above = mutations.dominators(function)
            places = {inst.result: (block.label, at) for block in function.blocks
                      for at, inst in enumerate(block.body) if inst.result}
            for block in function.blocks:
                self.assertIn(block.body[-1].op, TERMINATORS)
                for at, inst in enumerate(block.body):
                    self.assertTrue(set(ids(inst)) <= set(defined), inst.text())
                    self.assertEqual(inst.op in TERMINATORS, at == len(block.body) - 1)
                    self.assertEqual(inst.op in MERGES, inst is block.merge())
                    if inst.op != "OpPhi":
                        self.check_order(inst, block, at, places, above)

    def check_order(self, inst, block, at, places, above):
        """Operands are defined before, in a block that dominates."""
        for operand in inst.operands():
            label, index = places.get(operand, (None, 0))
            if label == block.label:
                self.assertLess(index, at, inst.text())
            elif label:
                self.assertIn(label, above[block.label], inst.text())

    def test_each(self):
        for change in set(mutations.MUTATIONS):
            done = 0
            for seed in range(SEEDS):
                module = Module(MODULE, (1, 3))
                context = mutations.Context(module, random.Random(seed), (0, 0))
                done += change(context, module.functions[0])
                self.check(module)
            self.assertGreater(done, 0, change.__name__)

    def test_together(self):
        for seed in range(SEEDS):
            rng = random.Random(seed)
            module = Module(MODULE, (1, 3))
            context = mutations.Context(module, rng, (0, 0))
            for _ in range(20):
                rng.choice(mutations.MUTATIONS)(context, rng.choice(module.functions))
            self.check(module)
            self.assertEqual(len(module.renumbered(rng).splitlines()),
                             len(module.text().splitlines()))


if __name__ == "__main__":
    unittest.main()
