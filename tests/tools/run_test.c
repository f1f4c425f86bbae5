/* SPDX-License-Identifier: MIT
 *
 * `agx run` over the corpus: every kernel of the first tier compiles, runs on the
 * virtual AGX, and matches its reference; the others do, or end with one line that
 * names what is missing.
 */
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/util.h"
#include "kernels.h"

static char text[TOOL_MAX_OUTPUT];

/* `agx run` of a corpus kernel with --check. */
static int run_kernel(const char *kernel, const char *more)
{
   char *corpus = agx_test_path("corpus");
   char arguments[1024];
   snprintf(arguments, sizeof(arguments),
            "run '%s/%s.spv' --manifest '%s/%s.txt' --check '%s/ref' --device virtual %s", corpus,
            kernel, corpus, kernel, corpus, more);
   free(corpus);
   return tool_run("AGX_TOOL", arguments, text);
}

/* Calls check for every kernel of tiers.tsv whose tier is first or not. */
static int for_each_kernel(bool is_first_tier, bool (*check)(const char *kernel))
{
   char *path = agx_test_path("corpus/tiers.tsv");
   char *table = agx_test_read_file(path, NULL), *rest = table;
   int count = 0, wrong = 0;
   agx_split(&rest, "\n"); /* the header */
   for (char *line; (line = agx_split(&rest, "\n"));) {
      char *tier = agx_split(&line, "\t"), *kernel = agx_split(&line, "\t");
      if (!kernel || (strcmp(tier, "1") == 0) != is_first_tier)
         continue;
      count++;
      wrong += !check(kernel);
   }
   free(table);
   free(path);
   assert_true(count > 10);
   return wrong;
}

static bool check_first_tier(const char *kernel)
{
   int code = run_kernel(kernel, "");
   if (code == 0 && strstr(text, "matches") && !strstr(text, "DIFFERS"))
      return true;
   print_error("%s: exit code %d\n%s", kernel, code, text);
   return false;
}

static void first_tier_matches_its_references(void **state)
{
   assert_int_equal(for_each_kernel(true, check_first_tier), 0);
}

/* One line, with the command's name, and no result that is wrong. */
static bool check_other_tier(const char *kernel)
{
   int code = run_kernel(kernel, "");
   const char *newline = strchr(text, '\n');
   if (code == 0 && !strstr(text, "DIFFERS"))
      return true;
   if (code == 1 && strncmp(text, "agx run: ", 9) == 0 && newline && newline[1] == 0)
      return true;
   print_error("%s: exit code %d\n%s", kernel, code, text);
   return false;
}

static void other_tiers_work_or_name_what_is_missing(void **state)
{
   assert_int_equal(for_each_kernel(false, check_other_tier), 0);
}

/* The model's numbers of a kernel of one workgroup come with it, as a table or inside the
 * one object. */
static void tells_what_a_kernel_costs(void **state)
{
   assert_int_equal(run_kernel("saxpy", "--stats"), 0);
   assert_non_null(strstr(text, "bound by: "));
   assert_non_null(strstr(text, "matches"));
   assert_int_equal(run_kernel("saxpy", "--stats --json"), 0);
   assert_int_equal(strncmp(text, "{\"kernel\": \"saxpy\"", 18), 0);
   assert_non_null(strstr(text, "\"statistics\": [{\"submission\": "));
   assert_non_null(strstr(text, "]}\n"));
   assert_int_equal(run_kernel("saxpy", "--json"), 0);
   assert_null(strstr(text, "statistics"));
}

/* What is in it is tests/hal/trace_test.c's affair. */
static void traces_are_written(void **state)
{
   char path[] = "/tmp/agx-run-XXXXXX", arguments[64];
   int fd = mkstemp(path);
   assert_true(fd >= 0);
   close(fd);
   snprintf(arguments, sizeof(arguments), "--profile %s", path);
   assert_int_equal(run_kernel("saxpy", arguments), 0);
   char *trace = agx_test_read_file(path, NULL);
   assert_int_equal(strncmp(trace, "{\"displayTimeUnit\"", 18), 0);
   assert_non_null(strstr(trace, "\"load executable\""));
   assert_non_null(strstr(trace, "\"granularity\":\"dispatch\""));
   assert_non_null(strstr(trace, "\"instructions\":"));
   free(trace);
   unlink(path);
   assert_int_equal(run_kernel("saxpy", "--profile /nowhere/at/all"), 1);
   assert_non_null(strstr(text, "/nowhere/at/all"));
}

/* A vertex stage, by the draw that its manifest says. */
static void vertex_stages_run(void **state)
{
   char *kernels = agx_test_path("kernels");
   char arguments[1024];
   snprintf(arguments, sizeof(arguments),
            "run '%s/vertex_dense.spv' --manifest '%s/vertex_dense.txt' --device virtual --robust "
            "zero --bounds",
            kernels, kernels);
   free(kernels);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   assert_non_null(strstr(text, "output 3: 96 bytes, fnv df414c673f431bde"));
}

static uint32_t count_of(const char *name)
{
   uint32_t value = 0;
   const char *at = strstr(text, name);
   assert_non_null(at);
   assert_int_equal(sscanf(at + strlen(name), "\": %u", &value), 1);
   return value;
}

/* With all its checks a copy of vectors executes 12 instructions for each thread but those at the
 * end of a buffer, and both programs of it have no more than 40. */
static void checks_of_vectors_are_cheap(void **state)
{
   char *corpus = agx_test_path("corpus");
   char arguments[512];
   setenv("AGX_DEBUG", "checked", 1);
   assert_int_equal(run_kernel("vec4_copy", "--robust zero --bounds --stats --json"), 0);
   unsetenv("AGX_DEBUG");
   assert_true(count_of("\"issue") <= 12 * count_of("\"simd_groups"));
   assert_int_equal(run_kernel("vec4_copy", "--robust zero --bounds --stats --json"), 0);
   assert_int_equal(count_of("\"issue"), 5 * count_of("\"simd_groups"));
   snprintf(arguments, sizeof(arguments), "compile --json --robust zero '%s/vec4_copy.spv'",
            corpus);
   free(corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   uint32_t instructions = count_of("\"instructions");
   assert_true(instructions + 5 <= 40);
}

/* saxpy by hand: what `agx compile` would write, without the compiler. Threads beyond the
 * arrays' ends store to the rest of the page. */
static const struct agx_test_kernel saxpy = {
   .name = "saxpy",
   .text = "mfsr d=r0 sr=thread_in_grid_x\n"
           "load r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
           "load r=r2 base=du2 index=r0 format=i32 mask=x group=a\n"
           "wait group=a\n"
           "ffma d=r1 a=u4 b=r1 c=r2\n"
           "store r=r1 base=du2 index=r0 format=i32 mask=x group=a\n",
   .local_size = {64, 1, 1},
   .gpr_halves = 6,
   .push_B = 8,
   .bindings = 2,
   .written = 2,
};

static void compiled_files_run_too(void **state)
{
   char folder[] = "/tmp/agx-run-XXXXXX", path[64], arguments[1024];
   size_t size;
   void *image = agx_test_kernel_elf(&saxpy, "g13g", &size);
   assert_non_null(mkdtemp(folder));
   snprintf(path, sizeof(path), "%s/saxpy.agxbin", folder);
   FILE *file = fopen(path, "wb");
   assert_int_equal(fwrite(image, 1, size, file), size);
   fclose(file);
   agx_host_free(NULL, image, size);
   char *corpus = agx_test_path("corpus");
   snprintf(arguments, sizeof(arguments),
            "run %s --manifest %s/saxpy.txt --device virtual --check %s/ref", path, corpus, corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   assert_non_null(strstr(text, "output 1: 4000 bytes, fnv "));
   assert_non_null(strstr(text, "matches"));
   free(corpus);
   unlink(path);
   rmdir(folder);
}

static void json_says_the_same(void **state)
{
   assert_int_equal(run_kernel("saxpy", "--json"), 0);
   assert_non_null(strstr(text, "\"kernel\": \"saxpy\""));
   assert_non_null(strstr(text, "\"virtual\": true"));
   assert_non_null(strstr(text, "\"id\": 1, \"bytes\": 4000"));
   assert_non_null(strstr(text, "\"matches\": true"));
   assert_null(strstr(text, "error"));
}

/* With other inputs the outputs differ, and the first difference is shown. */
static void differences_are_shown(void **state)
{
   char path[] = "/tmp/agx-run-XXXXXX", arguments[1024];
   int fd = mkstemp(path);
   static const char manifest[] = "push f32 3.5\npush u32 1000\n"
                                  "buf 0 0 0 ssbo 4000 rand_f32 1 -1 1\n"
                                  "buf 1 0 1 ssbo 4000 rand_f32 2 -1 1 out\n"
                                  "dispatch 16 1 1\ncmp f32 1e-6 1e-6\n";
   assert_int_equal(write(fd, manifest, strlen(manifest)), strlen(manifest));
   close(fd);
   char *corpus = agx_test_path("corpus");
   snprintf(arguments, sizeof(arguments),
            "run %s/saxpy.spv --manifest %s --check %s/ref --device virtual", corpus, path, corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 1);
   assert_non_null(strstr(text, "output 1: 4000 bytes"));
   assert_non_null(strstr(text, "DIFFERS: "));
   unlink(path);
   free(corpus);
}

static void outputs_are_written(void **state)
{
   char folder[] = "/tmp/agx-run-XXXXXX", path[64], more[80];
   assert_non_null(mkdtemp(folder));
   snprintf(more, sizeof(more), "--dump %s/new", folder); /* which is made */
   assert_int_equal(run_kernel("fill_u32", more), 0);
   snprintf(path, sizeof(path), "%s/new/fill_u32.0.bin", folder);
   size_t got_size, want_size;
   char *reference = agx_test_path("corpus/ref/fill_u32.0.bin");
   char *got = agx_test_read_file(path, &got_size);
   char *want = agx_test_read_file(reference, &want_size);
   assert_int_equal(got_size, want_size);
   assert_memory_equal(got, want, want_size);
   free(got);
   free(want);
   free(reference);
   unlink(path);
   *strrchr(path, '/') = 0;
   rmdir(path);
   rmdir(folder);
}

/* What a run left is the next one's input; a file of another size is refused. */
static void inputs_are_read(void **state)
{
   char folder[] = "/tmp/agx-run-XXXXXX", path[64], more[100];
   assert_non_null(mkdtemp(folder));
   snprintf(more, sizeof(more), "--dump %s", folder);
   assert_int_equal(run_kernel("saxpy", more), 0);
   snprintf(more, sizeof(more), "--input %s", folder);
   assert_int_equal(run_kernel("saxpy", more), 1); /* y = a * x + (a * x + y) */
   assert_non_null(strstr(text, "DIFFERS: "));
   snprintf(path, sizeof(path), "%s/saxpy.1.bin", folder);
   assert_int_equal(truncate(path, 3996), 0);
   assert_int_equal(run_kernel("saxpy", more), 1);
   assert_non_null(strstr(text, "saxpy.1.bin: 3996 bytes, the buffer has 4000"));
   unlink(path);
   assert_int_equal(run_kernel("saxpy", more), 0);
   rmdir(folder);
}

/* Robust code of any mode computes the same, from SPIR-V and from a file. */
static void robust_modes_are_chosen(void **state)
{
   char folder[] = "/tmp/agx-run-XXXXXX", arguments[1024];
   char *corpus = agx_test_path("corpus");
   static const char *const modes[] = {"off", "clamp", "zero", "zero --robust 0.1=off"};
   for (size_t i = 0; i < AGX_COUNT(modes); i++) {
      snprintf(arguments, sizeof(arguments),
               "run %s/saxpy.spv --manifest %s/saxpy.txt --device virtual --check %s/ref --bounds "
               "--robust %s",
               corpus, corpus, corpus, modes[i]);
      assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
      assert_non_null(strstr(text, "matches"));
   }
   assert_non_null(mkdtemp(folder));
   snprintf(arguments, sizeof(arguments), "compile --robust zero -o %s/k %s/saxpy.spv", folder,
            corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   snprintf(arguments, sizeof(arguments),
            "run %s/k --manifest %s/saxpy.txt --device virtual --robust zero", folder, corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 0);
   snprintf(arguments, sizeof(arguments),
            "run %s/k --manifest %s/saxpy.txt --device virtual --robust clamp", folder, corpus);
   assert_int_equal(tool_run("AGX_TOOL", arguments, text), 1);
   assert_non_null(strstr(text, "set 0 binding 0 was compiled with robustness zero, not clamp"));
   assert_int_equal(tool_run("AGX_TOOL", "run a.spv --manifest b --robust safe", text), 2);
   assert_non_null(strstr(text, "--robust safe"));
   assert_int_equal(tool_run("AGX_TOOL", "run a.spv --manifest b --robust 0.x=zero", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "compile --robust 0=zero a.spv", text), 2);
   snprintf(arguments, sizeof(arguments), "%s/k", folder);
   unlink(arguments);
   rmdir(folder);
   free(corpus);
}

static void mistakes_are_named(void **state)
{
   assert_int_equal(tool_run("AGX_TOOL", "run", text), 2);
   assert_non_null(strstr(text, "--manifest FILE"));
   assert_int_equal(tool_run("AGX_TOOL", "run a.spv b.spv", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "run a.spv --manifest", text), 2);
   assert_int_equal(tool_run("AGX_TOOL", "run a.spv --manifest /nonexistent.txt", text), 1);
   assert_non_null(strstr(text, "/nonexistent.txt"));
}

/* Stores of the same values leave what one submission leaves. */
static void submissions_are_repeated(void **state)
{
   assert_int_equal(run_kernel("fill_u32", "--repeat 5"), 0);
   assert_non_null(strstr(text, "matches"));
   assert_int_equal(run_kernel("fill_u32", "--repeat 0"), 2);
   assert_non_null(strstr(text, "--repeat 0"));
   assert_int_equal(run_kernel("fill_u32", "--repeat"), 2);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_tier_matches_its_references),
      cmocka_unit_test(other_tiers_work_or_name_what_is_missing),
      cmocka_unit_test(vertex_stages_run),
      cmocka_unit_test(tells_what_a_kernel_costs),
      cmocka_unit_test(traces_are_written),
      cmocka_unit_test(checks_of_vectors_are_cheap),
      cmocka_unit_test(compiled_files_run_too),
      cmocka_unit_test(json_says_the_same),
      cmocka_unit_test(differences_are_shown),
      cmocka_unit_test(outputs_are_written),
      cmocka_unit_test(inputs_are_read),
      cmocka_unit_test(robust_modes_are_chosen),
      cmocka_unit_test(submissions_are_repeated),
      cmocka_unit_test(mistakes_are_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
