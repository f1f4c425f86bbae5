#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of scripts/amber.py: what scripts do, and that what it lacks is refused by line. Scripts with
a kernel of tests/corpus run where AGX_TOOL names the tool."""
import argparse
import os
import random
import struct
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(TESTS), "scripts"))
import amber  # noqa: E402

AGX = os.environ.get("AGX_TOOL")


def hexadecimal(kernel):
    """A kernel of the tests as words."""
    with open(os.path.join(TESTS, kernel + ".spv"), "rb") as file:
        data = file.read()
    return "\n".join(f"{word:08x}" for word, in struct.iter_unpack("<I", data))


# y = a * x + y for n floats; 2.5 is 0x40200000
SAXPY = f"""#!amber
SHADER compute saxpy SPIRV-HEX
{hexadecimal("corpus/saxpy")}
END
BUFFER x DATA_TYPE float SIZE 64 SERIES_FROM 1 INC_BY 0.5   # 1 to 32.5
BUFFER y DATA_TYPE float SIZE 64 FILL 1
BUFFER args DATA_TYPE uint32 DATA 0x40200000 0x20 END
PIPELINE compute line
  ATTACH saxpy ENTRY_POINT main
  BIND BUFFER x AS storage DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER y AS storage DESCRIPTOR_SET 0 BINDING 1
  BIND BUFFER args AS push_constant
END
"""
SHADER = "#!amber\nSHADER compute s SPIRV-HEX\n07230203\nEND\n"
BUFFER = "#!amber\nBUFFER b DATA_TYPE int32 DATA 1 2\n3\nEND\n"


def judged(text):
    options = argparse.Namespace(agx=AGX, device="virtual", robust=None)
    with tempfile.NamedTemporaryFile("w", suffix=".amber") as file:
        file.write(text)
        file.flush()
        verdict, words = amber.judge(options, file.name)
        return f"{verdict} {words[len(file.name):]}"


class Scripts(unittest.TestCase):
    def assert_judged(self, text, wanted):
        self.assertTrue(judged(text).startswith(wanted), judged(text))

    def test_expectations(self):
        for words, wanted in (("IDX 0 EQ 1 2 3", "PASS"), ("IDX 4 EQ 2", "PASS"),
                              ("IDX 4 EQ 2 4", "FAIL :5: value 1 is 3, expected EQ 4"),
                              ("IDX 0 NE 2", "PASS"), ("IDX 0 LT 1", "FAIL :5"),
                              ("IDX 0 LE 1", "PASS"), ("IDX 8 GT 2", "PASS"),
                              ("IDX 8 GE 4", "FAIL :5"), ("IDX 0 TOLERANCE 1 EQ 2 2 2", "PASS"),
                              ("IDX 0 TOLERANCE 50% 0% EQ 2 2", "PASS"),
                              ("IDX 0 TOLERANCE 40% EQ 2", "FAIL :5"), ("EQ_BUFFER b", "PASS"),
                              ("RMSE_BUFFER b TOLERANCE 0", "PASS")):
            self.assert_judged(BUFFER + f"EXPECT b {words}\n", wanted)

    def test_types(self):
        for which, values, place, value in (
                ("vec3<float>", "1 2 3 4 5 6", 16, "4 5 6"), ("uint8", "1 255 -1", 2, "255"),
                ("mat2x3<float>", "1 2 3 4 5 6", 16, "4"), ("vec2<int16>", "1 2 3 4", 4, "3"),
                ("float STD140", "1 2", 16, "2"), ("mat2x2<float> STD140", "1 2 3 4", 16, "3"),
                ("float16", "0x3c00 2", 0, "1 2"), ("double", "nan 1e-3", 0, "nan 1e-3"),
                ("uint64", "0xffffffffffffffff", 0, "-1")):
            self.assert_judged(f"#!amber\nBUFFER b DATA_TYPE {which} DATA {values} END\n"
                               f"EXPECT b IDX {place} EQ {value}\n", "PASS")

    def test_copies(self):
        text = BUFFER + "BUFFER c DATA_TYPE int32 SIZE 3\nEXPECT c IDX 8 EQ 0\n"
        self.assert_judged(text + "COPY b TO c\nEXPECT c EQ_BUFFER b\n", "PASS")
        self.assert_judged(text + "EXPECT c EQ_BUFFER b\n", "FAIL :7: value 0 is 0, the other")
        self.assert_judged(text + "REPEAT 3\nCOPY c TO b\nEXPECT b IDX 0 EQ 0\nEND\n", "PASS")

    def test_refusals(self):
        for text, wanted in (
                ("", ":1: an Amber script starts"), ("#!amber\nCLEAR p\n", ":2: CLEAR is not"),
                ("#!amber\nSHADER vertex v PASSTHROUGH\n", ":2: a vertex shader"),
                ("#!amber\nSHADER compute v OPENCL-C\n", ":2: OPENCL-C is not"),
                ("#!amber\nSHADER compute v GLSL\nvoid main() {}\n", ":2: END is missing"),
                ("#!amber\nBUFFER b FORMAT R8_UNORM\n", ":2: a buffer by FORMAT"),
                ("#!amber\nBUFFER b DATA_TYPE half SIZE 1\n", ":2: the type half"),
                ("#!amber\nBUFFER b DATA_TYPE int8 SIZE 0\n", ":2: 0 is not between"),
                ("#!amber\nBUFFER b DATA_TYPE int8 SIZE 99999999999\n", ":2: 99999999999 is not"),
                ("#!amber\nBUFFER b DATA_TYPE int8 DATA 1\n", ":2: END is missing"),
                ("#!amber\nBUFFER b DATA_TYPE int8 DATA\n300\nEND\n", ":3: '300' is no number"),
                ("#!amber\nBUFFER b DATA_TYPE vec2<int8> DATA 1 END\n", ":2: 1 values don't"),
                ("#!amber\nBUFFER b DATA_TYPE int8 SIZE 200 SERIES_FROM 0 INC_BY 1\n", ":2: 199 is"),
                (BUFFER + "BUFFER b DATA_TYPE int8 SIZE 1\n", ":5: there is a b already"),
                (BUFFER + "EXPECT b IDX 2 EQ 1\n", ":5: byte 2 is not where"),
                (BUFFER + "EXPECT b IDX 8 EQ 1 2\n", ":5: 2 values from byte 8"),
                (BUFFER + "EXPECT b IDX 0 0 SIZE 1 1 EQ_RGB 0 0 0\n", ":5: 0 is not supported"),
                (BUFFER + "EXPECT b EQ_HISTOGRAM_EMD_BUFFER b\n", ":5: EXPECT EQ_HISTOGRAM"),
                (BUFFER + "REPEAT 2\nEXPECT b IDX 0 EQ 1\n", ":5: END is missing"),
                (SHADER + "PIPELINE graphics p\nEND\n", ":5: a graphics pipeline"),
                (SHADER + "PIPELINE compute p\nEND\n", ":5: a pipeline without a shader"),
                (SHADER + "PIPELINE compute p\nATTACH t\nEND\n", ":6: there is no shader t"),
                (SHADER + "PIPELINE compute p\nATTACH s\nFRAMEBUFFER_SIZE 1 1\nEND\n", ":7: FRAME"),
                (SHADER + "SUBGROUP s\n", ":5: SUBGROUP is not"),
                (SHADER + "PIPELINE compute p\nATTACH s\nEND\nRUN p 1 1 70000\n", ":8: 70000 is")):
            self.assert_judged(text, "REFUSED " + wanted)

    def test_hostile(self):
        """Scripts with words missing, doubled and in other places end with a verdict."""
        rng = random.Random(15)
        words = (SAXPY[SAXPY.index("BUFFER"):] + "REPEAT 2\nCOPY y TO x\nEND\n"
                 "EXPECT y IDX 0 TOLERANCE 1 EQ 1 2\n").split(" ")
        for _ in range(400):
            some = list(words)
            for _ in range(rng.randint(1, 4)):
                some[rng.randrange(len(some))] = rng.choice(words + ["-1", "\n", "END", "0x", "é"])
            self.assertRegex(judged("#!amber\n" + " ".join(some)), "^(PASS|FAIL|REFUSED) ")

    def test_steps_are_limited(self):
        text = BUFFER + "REPEAT 10000\nREPEAT 10000\nCOPY b TO b\nEND\nEND\n"
        self.assert_judged(text, "REFUSED :1: more than 10000 steps")

    @unittest.skipUnless(AGX, "AGX_TOOL is not set")
    def test_kernel(self):
        good = "EXPECT y IDX 0 EQ 3.5 4.75\nEXPECT y IDX 124 TOLERANCE 0.01 EQ 42.25 1\n"
        self.assert_judged(SAXPY + "RUN line 2 1 1\n" + good, "PASS")
        twice = "REPEAT 2\nRUN line 1 1 1\nEND\nEXPECT y IDX 0 EQ 6\n"
        self.assert_judged(SAXPY + twice, "PASS")
        self.assert_judged(SAXPY + "RUN line 1 1 1\nEXPECT y IDX 0 EQ 4\n", "FAIL")
        derived = """BUFFER z DATA_TYPE float SIZE 64
DERIVE_PIPELINE other FROM line
  BIND BUFFER z AS storage DESCRIPTOR_SET 0 BINDING 1
END
RUN other 1 1 1
EXPECT z IDX 0 EQ 2.5
EXPECT y IDX 0 EQ 1
"""
        self.assert_judged(SAXPY + derived, "PASS")
        wrong = SAXPY.replace("BINDING 1", "BINDING 7") + "RUN line 1 1 1\n"
        self.assert_judged(wrong, "FAIL")
        wrong = SAXPY.replace("ENTRY_POINT main", "ENTRY_POINT other") + "RUN line 1 1 1\n"
        self.assert_judged(wrong, "FAIL")

    @unittest.skipUnless(AGX, "AGX_TOOL is not set")
    def test_long_exponents(self):
        """Exponents whose low halves mean something else."""
        self.assert_judged(f"""#!amber
SHADER compute s SPIRV-HEX
{hexadecimal("compiler/spv/ldexp64")}
END
BUFFER x DATA_TYPE float DATA 1 1 -1 -1 3 3 -2 1 END
BUFFER e DATA_TYPE int64 DATA
5 0x100000000 -4294967296 -4294967290 -1 0x7fffffff00000001 0x7fffffffffffffff -9223372036854775807
END
BUFFER y DATA_TYPE float SIZE 8
PIPELINE compute p
  ATTACH s
  BIND BUFFER x AS storage DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER e AS storage DESCRIPTOR_SET 0 BINDING 1
  BIND BUFFER y AS storage DESCRIPTOR_SET 0 BINDING 2
END
RUN p 1 1 1
EXPECT y IDX 0 EQ 32 inf 0 0 1.5 inf -inf 0
""", "PASS")

    @unittest.skipUnless(AGX, "AGX_TOOL is not set")
    def test_aliased_zeros(self):
        """A workgroup variable that only the interface names has its zeros stored."""
        self.assert_judged(f"""#!amber
SHADER compute s SPIRV-HEX
{hexadecimal("compiler/spv/shared_alias_zeros")}
END
BUFFER y DATA_TYPE uint32 SIZE 8 FILL 7
PIPELINE compute p
  ATTACH s
  BIND BUFFER y AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
EXPECT y IDX 16 EQ 0 0 0 0
""", "PASS")


if __name__ == "__main__":
    unittest.main()
