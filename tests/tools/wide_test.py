#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of scripts/wide: what it reads out of SPIR-V, against the manifests of tests/corpus that
people wrote, and how it compares outputs; and of the sums of scripts/race.py."""
import glob
import gzip
import os
import struct
import sys
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = os.path.join(os.path.dirname(TESTS), "scripts")
sys.path[:0] = [os.path.join(SCRIPTS, "wide"), SCRIPTS]
import launch  # noqa: E402
import ours  # noqa: E402
import peer  # noqa: E402
import race  # noqa: E402
import reflect  # noqa: E402
import report  # noqa: E402
import spirv  # noqa: E402

CORPUS = os.path.join(TESTS, "corpus")


def corpus():
    """(name, module, directives of the manifest) of each kernel."""
    for path in sorted(glob.glob(os.path.join(CORPUS, "*.spv"))):
        with open(path, "rb") as file:
            module = reflect.Module(spirv.words_of(file.read()))
        with open(path[:-4] + ".txt") as file:
            lines = [line.split("#")[0].split() for line in file]
        yield os.path.basename(path)[:-4], module, [line for line in lines if line]


class Reflection(unittest.TestCase):
    def test_bindings_are_those_of_the_manifests(self):
        count = 0
        for name, module, lines in corpus():
            wanted = {(int(line[2]), int(line[3])): line[4] for line in lines
                      if line[0] in ("buf", "img") and line[4] != "addr"}
            found = {place: module.kind_of(views[0][1], views[0][2])[0]
                     for place, views in module.resources().items()}
            self.assertEqual(found, wanted, name)
            count += 1
        self.assertGreater(count, 40)

    def test_push_constants_have_the_size_of_the_manifests(self):
        sizes = {"u32": 4, "i32": 4, "f32": 4, "u64": 8, "addr": 8}
        for name, module, lines in corpus():
            wanted = sum(sizes[line[1]] * (len(line) - 2) for line in lines if line[0] == "push")
            block = module.push_constants()
            size = module.size_of(block) if block is not None else 0
            self.assertIn(wanted - size, (0, 4), name)  # padding at the end is nobody's

    def test_addresses_are_where_the_manifests_have_them(self):
        for name, module, lines in corpus():
            wanted = [line for line in lines if line[:2] == ["push", "addr"]]
            if wanted:
                text = launch.manifest(module, 4)
                self.assertEqual(text.count("push addr"), sum(len(line) - 2 for line in wanted), name)

    def test_expressions_of_constants_have_values(self):
        module = reflect.Module(spirv.words_of(self.module_of_expressions()))
        self.assertEqual(module.value_of(4, {}), 256 // 128 * 3)
        self.assertEqual(module.value_of(4, {7: 64}), 0)
        self.assertIsNone(module.value_of(9, {}))

    @staticmethod
    def module_of_expressions():
        """%1 = uint, %2 = spec 7 (256), %3 = 128, %5 = %2 / %3, %6 = 3, %4 = %5 * %6"""
        instructions = [(71, 2, 1, 7), (21, 1, 32, 0), (50, 1, 2, 256), (43, 1, 3, 128),
                        (52, 1, 5, reflect.UDIV, 2, 3), (43, 1, 6, 3), (52, 1, 4, reflect.IMUL, 5, 6)]
        words = [spirv.MAGIC, 0x10000, 0, 10, 0]
        for opcode, *operands in instructions:
            words += [(len(operands) + 1) << 16 | opcode] + operands
        return struct.pack(f"<{len(words)}I", *words)

    def test_every_buffer_gets_a_launch(self):
        for name, module, lines in corpus():
            text = launch.manifest(module, 4)
            self.assertIn("dispatch 4 1 1", text, name)
            images = {(line[2], line[3]): line[4:6] for line in lines if line[0] == "img"}
            made = {(line[2], line[3]): line[4:6] for line in map(str.split, text.splitlines())
                    if line[0] == "img"}
            for place, (kind, name_of_format) in images.items():
                self.assertEqual(made[place][0], kind, name)
                if kind == "storage":
                    self.assertEqual(made[place][1], name_of_format, name)
            self.assertEqual(len(made), len(images), name)
            self.assertEqual(len(launch.element_kinds(module)), len(module.resources()), name)

    def test_other_images_are_compiled_only(self):
        dims = {dim: self.module_of_an_image(dim, multisampled) for dim, multisampled in
                (("2D", 0), ("3D", 0), ("cube", 0), ("samples", 1))}
        self.assertIn("img 0 0 0 sampled rgba32f 256 256 1 nearest", launch.manifest(dims["2D"], 4))
        self.assertIn("volume 0 0 0 sampled rgba32f 256 16 16", launch.manifest(dims["3D"], 4))
        for name in ("cube", "samples"):
            self.assertRaises(reflect.Unsupported, launch.manifest, dims[name], 4)
            self.assertIn("slot 0 0 sampled 1", launch.layout(dims[name]))

    @staticmethod
    def module_of_an_image(dim, multisampled):
        """%1 = float, %2 = image of it, %3 = sampled image, %4 = pointer, %5 = variable"""
        number = {"2D": 1, "3D": 2, "cube": 3, "samples": 1}[dim]
        instructions = [(22, 1, 32), (25, 2, 1, number, 0, 0, multisampled, 1, 0), (27, 3, 2),
                        (32, 4, 0, 3), (59, 4, 5, 0)]
        words = [spirv.MAGIC, 0x10000, 0, 6, 0]
        for opcode, *operands in instructions:
            words += [(len(operands) + 1) << 16 | opcode] + operands
        return reflect.Module(words)


class Finding(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(CORPUS, "saxpy.spv"), "rb") as file:
            self.module = file.read()

    def test_modules_are_found_in_other_files(self):
        other = b"\x03\x02\x23\x07 no module" + b"x" * 40
        data = other + self.module + b"yz" + self.module[:100] + other + gzip.compress(self.module)
        self.assertEqual(list(spirv.modules_in(data)), [self.module] * 2)

    def test_constants_get_other_defaults(self):
        path = os.path.join(CORPUS, "spec_wg.spv")
        with open(path, "rb") as file:
            words = spirv.words_of(file.read())
        spec, constants = sorted(reflect.Module(words).specs.items())[0]
        changed = reflect.Module(spirv.words_of(spirv.specialized(words, {spec: 77})))
        self.assertEqual(changed.constants[constants[0]], 77)
        self.assertEqual(spirv.specialized(words, {}), struct.pack(f"<{len(words)}I", *words))

    def test_entry_points_are_named(self):
        words = spirv.words_of(self.module)
        self.assertEqual(spirv.compute_entries(words), ["main"])
        self.assertIn(1, spirv.capabilities(words))


class Comparison(unittest.TestCase):
    def test_changes_rebuild_an_output(self):
        before = bytes(range(256)) * 5
        after = bytearray(before)
        after[300], after[1279] = 1, 2
        packed = peer.changes(before, bytes(after))
        self.assertEqual(peer.changed_offsets(packed), [256, 1024])
        self.assertEqual(peer.apply_changes(packed, before), bytes(after))

    def test_floats_have_a_tolerance_and_integers_none(self):
        wanted = struct.pack("<64f", *[1 + i / 64 for i in range(64)])
        near = struct.pack("<64f", *[1.0005 + i / 64 for i in range(64)])
        far = struct.pack("<64f", *[1.1 + i / 64 for i in range(64)])
        self.assertEqual(ours.difference(near, wanted, "f32", [0]), "")
        self.assertIn("1 of 1 changed chunks", ours.difference(far, wanted, "f32", [0]))
        self.assertEqual(ours.difference(near, wanted, "u32", [0]), "")  # floats kept in words
        self.assertIn("1 of 1 changed chunks", ours.difference(near, wanted, "u8", [0]))
        small, other = struct.pack("<64I", *range(64)), struct.pack("<64I", *range(1, 65))
        for kind in ("u32", "mixed", "u8"):
            self.assertIn("1 of 1 changed chunks", ours.difference(small, other, kind, [0]))
        tiny = struct.pack("<64f", *[1e-40] * 64)
        self.assertEqual(ours.difference(bytes(256), tiny, "f32", [0]), "")
        nan = struct.pack("<64f", *[float("nan")] * 64)
        self.assertIn("differ", ours.difference(nan, wanted, "f32", [0]))

    def test_sums_count_each_kernel_once(self):
        static = {"Instructions": 8, "Preamble instructions": 2, "Spills": 1, "Fills": 0,
                  "Threads": 1024}
        theirs = {"verdict": "ran", "static": static, "ms": 2.0,
                  "run": {"main": 100, "total": 100, "issue": 10, "threads": 384}}
        mine = {"static": 5, "spills": 0, "fills": 3, "threads": 512, "ms": 1.0,
                "run": {"main": 200, "total": 50, "issue": 5, "threads": 256}}
        rows = [("a.1", "a", mine, theirs), ("a.2", "a", {"error": "no"}, theirs)]
        figures = report.summarize(rows)
        self.assertAlmostEqual(figures["cycles"], 2.0)
        self.assertAlmostEqual(figures["static"], 0.5)
        self.assertEqual((figures["fills"], figures["their_spills"]), (3, 1))
        self.assertEqual((figures["fewer_threads"], figures["slower"]), (1, 1))
        self.assertEqual(report.refused(rows), [("a.2", "no", True)])

    def test_threads_are_those_of_whole_workgroups(self):
        static = {"Instructions": 8, "Preamble instructions": 2, "Spills": 0, "Fills": 0,
                  "Threads": 1024}
        theirs = {"verdict": "ran", "static": static, "ms": 2.0,
                  "run": {"main": 100, "total": 100, "issue": 10, "threads": 256}}
        mine = {"static": 5, "spills": 0, "fills": 0, "threads": 512, "ms": 1.0,
                "workgroup_threads": 64, "threadgroup_bytes": 0,
                "run": {"main": 100, "total": 50, "issue": 5, "threads": 256}}
        self.assertEqual(report.fewer_threads([("a.1", "a", mine, theirs)]), [])
        del theirs["run"]
        self.assertEqual(len(report.fewer_threads([("a.1", "a", mine, theirs)])), 1)
        mine["workgroup_threads"], mine["threadgroup_bytes"] = 128, 16384  # three fit a core
        self.assertEqual(report.fewer_threads([("a.1", "a", mine, theirs)]), [])

    def test_only_what_is_not_explained_is_suspect(self):
        explained = next(iter(report.EXPLAINED))
        rows = [("a.1", "a", {"differs": "w", "cause": "unknown"}, {}),
                ("a.2", "a", {"differs": "w", "cause": ours.OUTSIDE + "load"}, {}),
                (explained, "a", {"failed": "w", "cause": "unknown"}, {}),
                ("a.3", "a", {"error": "CRASH: exit code -11"}, {})]
        suspects = [kernel for kernel, _, cause in report.wrong(rows) if report.is_suspect(cause)]
        self.assertEqual(suspects, ["a.1", "a.3"])


class Race(unittest.TestCase):
    @staticmethod
    def row(kernel, main, static, ms=1.0):
        theirs = {name: 100.0 for name, *_ in race.FIGURES}
        return kernel, dict(theirs, main=main, static=static, ms=100 * ms), theirs

    def test_growth_that_buys_cycles_is_no_worst_kernel(self):
        rows = [self.row("unrolled", 50, 300, ms=2), self.row("plain", 100, 90),
                self.row("longer", 100, 104, ms=1.5)]
        summary = race.summarize(rows)
        self.assertEqual(summary["static"]["worst_kernel"], "longer")
        self.assertEqual(summary["static"]["apart"], ["unrolled"])
        self.assertAlmostEqual(summary["static"]["value"], (3 * 0.9 * 1.04) ** (1 / 3))
        self.assertEqual(summary["ms"]["worst_kernel"], "longer")
        self.assertEqual(summary["main"]["worst_kernel"], "plain")
        self.assertEqual(summary["main"]["apart"], [])

    def test_growth_without_lower_cycles_counts(self):
        summary = race.summarize([self.row("a", 100, 300), self.row("b", 101, 200)])
        self.assertEqual(summary["static"]["worst_kernel"], "a")
        self.assertFalse(summary["static"]["met"])


if __name__ == "__main__":
    unittest.main()
