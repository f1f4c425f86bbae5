/* SPDX-License-Identifier: MIT
 *
 * `agx compile`: files that `agx disasm` and readelf take, the table, and one line for
 * what can't be compiled while the rest goes on.
 */
#include "tool.h"

#include <unistd.h>

static char text[TOOL_MAX_OUTPUT];

static int compile(const char *options, const char *kernel)
{
   char arguments[1024], *path = agx_test_path(kernel);
   snprintf(arguments, sizeof(arguments), "compile %s '%s'", options, path);
   free(path);
   return tool_run("AGX_TOOL", arguments, text);
}

static void a_file_is_written(void **state)
{
   char path[] = "/tmp/agx-compile-XXXXXX", options[128];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   snprintf(options, sizeof(options), "-o %s --chip t6020", path);
   assert_int_equal(compile(options, "corpus/saxpy.spv"), 0);
   assert_string_equal(text, "");
   snprintf(options, sizeof(options), "disasm %s", path);
   assert_int_equal(tool_run("AGX_TOOL", options, text), 0);
   assert_non_null(strstr(text, "mfsr "));
   assert_non_null(strstr(text, "store "));
   assert_non_null(strstr(text, "stop"));
   unlink(path);
}

/* One file for two chips runs on either, and on no third one. */
static void a_file_for_several_chips(void **state)
{
   static const char *const chips[] = {"g13g", "g14s", "g13d"};
   char path[] = "/tmp/agx-compile-XXXXXX", arguments[1024];
   char *manifest = agx_test_path("corpus/saxpy.txt");
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   snprintf(arguments, sizeof(arguments), "-o %s --stats --chip g13g,t6020", path);
   assert_int_equal(compile(arguments, "corpus/saxpy.spv"), 0);
   assert_non_null(strstr(text, "\nsaxpy@g13g\t"));
   assert_non_null(strstr(text, "\nsaxpy@g14s\t"));
   for (size_t i = 0; i < 3; i++) {
      snprintf(arguments, sizeof(arguments), "run --device virtual:%s --manifest %s %s", chips[i],
               manifest, path);
      assert_int_equal(tool_run("AGX_TOOL", arguments, text), i == 2);
      assert_true(i < 2 || strstr(text, "compiled for g13g, g14s; this device is g13d"));
   }
   snprintf(arguments, sizeof(arguments), "disasm %s", path);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   assert_int_equal(strncmp(text, "# chip g13g\n", 12), 0);
   assert_non_null(strstr(text, "\n# chip g14s\n"));
   unlink(path);
   free(manifest);
   assert_int_equal(compile("--chip g14s,t6020", "corpus/saxpy.spv"), 2);
   assert_non_null(strstr(text, "one stands there twice"));
   assert_int_equal(compile("--chip g13g,", "corpus/saxpy.spv"), 2);
}

static void options_stand_anywhere(void **state)
{
   char path[] = "/tmp/agx-compile-XXXXXX", arguments[1024],
        *kernel = agx_test_path("corpus/saxpy.spv");
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   snprintf(arguments, sizeof(arguments), "compile '%s' --robust zero -o %s", kernel, path);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   assert_string_equal(text, "");
   assert_true(lseek(fd, 0, SEEK_END) > 0);
   snprintf(arguments, sizeof(arguments), "compile '%s' --nonsense", kernel);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 2);
   assert_non_null(strstr(text, "--nonsense"));
   assert_int_equal(tool_run("AGX_TOOL", "compile -- --robust", text), 1);
   assert_non_null(strstr(text, "--robust: No such file"));
   close(fd);
   unlink(path);
   free(kernel);
}

static void the_table_has_a_header(void **state)
{
   assert_int_equal(compile("--stats", "corpus/saxpy.spv"), 0);
   assert_ptr_equal(strstr(text, "kernel\tinstructions\tbytes\tpreamble_instructions\tgprs16\t"
                                 "uniforms16\tthreads\tspills\tfills\tloads\twaits\tcycles\t"
                                 "compile_ms\nsaxpy\t"),
                    text);
   unsigned instructions, bytes, preamble, gprs, uniforms, threads, spills, fills, loads;
   assert_int_equal(sscanf(strstr(text, "\nsaxpy") + 7, "%u %u %u %u %u %u %u %u %u", &instructions,
                           &bytes, &preamble, &gprs, &uniforms, &threads, &spills, &fills, &loads),
                    9);
   assert_in_range(instructions, 8, 40);
   assert_in_range(bytes, 2 * instructions, 12 * instructions);
   assert_in_range(gprs, 2, 30);
   assert_int_equal(threads, 1024);
   assert_int_equal(spills + fills, 0);
   assert_int_equal(loads, 2);
   assert_int_equal(compile("--json", "corpus/saxpy.spv"), 0);
   assert_ptr_equal(strstr(text, "[\n  {\"kernel\": \"saxpy\", \"instructions\": "), text);
   assert_non_null(strstr(text, "\"workgroup_threads\": 64, \"threadgroup_bytes\": 0, "));
}

static void the_best_of_several_counts(void **state)
{
   assert_int_equal(compile("--json --best 3", "corpus/saxpy.spv"), 0);
   assert_non_null(strstr(text, "\"compile_ms\": "));
   assert_int_equal(compile("--json --best 0", "corpus/saxpy.spv"), 2);
   assert_non_null(strstr(text, "--best 0: how often to compile, up to 1000 times"));
}

static void failures_take_one_line(void **state)
{
   char options[512], *bad = agx_test_path("corpus/saxpy.txt");
   snprintf(options, sizeof(options), "--stats '%s'", bad);
   assert_int_equal(compile(options, "corpus/saxpy.spv"), 1);
   char *line = strstr(text, "agx compile: ");
   assert_non_null(line);
   assert_non_null(strstr(line, "saxpy.txt: "));
   assert_null(strstr(line + 1, "agx compile: "));
   assert_non_null(strstr(text, "\nsaxpy\t"));
   free(bad);
   assert_int_equal(compile("--entry nothing", "corpus/saxpy.spv"), 1);
   assert_non_null(strstr(text, "nothing"));
}

static void what_is_no_spirv_is_named(void **state)
{
   assert_int_equal(compile("", "tools/compile_test.c"), 1); /* whatever its length is */
   assert_non_null(strstr(text, "magic number 0x53202a2f"));
   assert_non_null(strstr(text, "source text becomes SPIR-V by a compiler"));
   assert_int_equal(tool_run("AGX_TOOL", "compile \"$AGX_TOOL\"", text), 1);
   assert_non_null(strstr(text, "an ELF file, no SPIR-V: it is compiled already"));
}

static void specialization(void **state)
{
   assert_int_equal(compile("--stats --spec 77=64", "corpus/spec_wg.spv"), 1);
   assert_non_null(strstr(text, "specialization constant 77: the module declares none of that id"));
   assert_int_equal(compile("--stats --spec 0=64 --spec 0=32", "corpus/spec_wg.spv"), 1);
   assert_non_null(strstr(text, "specialization constant 0 is given twice"));
   assert_int_equal(compile("--stats --spec 0=64", "corpus/spec_wg.spv"), 0);
   assert_int_equal(compile("--stats --spec 0", "corpus/spec_wg.spv"), 2);
   assert_int_equal(compile("--stats --spec 0=x", "corpus/spec_wg.spv"), 2);
   assert_int_equal(compile("--chip m99", "corpus/saxpy.spv"), 2);
   assert_non_null(strstr(text, "--chip m99: there is no such chip"));
   assert_int_equal(compile("--robust maybe", "corpus/saxpy.spv"), 2);
   assert_non_null(strstr(text, "--robust maybe: off, clamp, zero"));
   assert_int_equal(tool_run("AGX_TOOL", "compile", text), 2);
}

static void a_mode_for_a_binding_that_is_not_there(void **state)
{
   assert_int_equal(compile("--robust 0.1=zero", "corpus/saxpy.spv"), 0);
   assert_int_equal(compile("--robust 0.99=zero", "corpus/saxpy.spv"), 1);
   assert_non_null(strstr(text, "0.99=...: the kernel has no buffer at set 0 binding 99"));
}

static void all_entry_points_are_written(void **state)
{
   char path[] = "/tmp/agx-compile-XXXXXX", options[160];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   snprintf(options, sizeof(options), "--stats -o %s --dynamic local-size", path);
   assert_int_equal(compile(options, "kernels/entries.spv"), 0);
   assert_non_null(strstr(text, "\nentries:negate\t"));
   assert_non_null(strstr(text, "\nentries:double_it\t"));
   assert_non_null(strstr(text, "\nentries:nothing\t"));
   snprintf(options, sizeof(options), "disasm %s", path);
   assert_int_equal(tool_run("AGX_TOOL", options, text), 0);
   assert_ptr_equal(strstr(text, "# negate\n"), text);
   assert_non_null(strstr(text, "\n# double_it\n"));
   assert_non_null(strstr(text, "\n# nothing\n"));
   snprintf(options, sizeof(options), "disasm --entry nothing %s", path);
   assert_int_equal(tool_run("AGX_TOOL", options, text), 0);
   assert_ptr_equal(strstr(text, "# nothing\n"), text);
   assert_null(strstr(text, "store"));
   assert_null(strstr(text, "negate"));
   snprintf(options, sizeof(options), "disasm --entry nobody %s", path);
   assert_int_equal(tool_run("AGX_TOOL", options, text), 1);
   assert_non_null(strstr(text, "no entry point nobody"));
   unlink(path);
   assert_int_equal(compile("--stats --entry double_it", "kernels/entries.spv"), 0);
   assert_non_null(strstr(text, "\nentries\t"));
   assert_int_equal(compile("--dynamic shared", "kernels/entries.spv"), 1);
   assert_non_null(strstr(text, "entry point negate: "));
   assert_int_equal(compile("--dynamic all", "kernels/entries.spv"), 2);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_written),
      cmocka_unit_test(options_stand_anywhere),
      cmocka_unit_test(the_table_has_a_header),
      cmocka_unit_test(failures_take_one_line),
      cmocka_unit_test(what_is_no_spirv_is_named),
      cmocka_unit_test(specialization),
      cmocka_unit_test(a_mode_for_a_binding_that_is_not_there),
      cmocka_unit_test(the_best_of_several_counts),
      cmocka_unit_test(all_entry_points_are_written),
      cmocka_unit_test(a_file_for_several_chips),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
