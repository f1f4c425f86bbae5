/* SPDX-License-Identifier: MIT
 *
 * agxdump extract, of the golden capture and of what is recorded of corpus kernels: `agx run` and a
 * replay of the dispatch alone leave what the capture's replay leaves.
 */
#include "tool.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/util.h"
#include "winsys/capture/format.h"

static char text[TOOL_MAX_OUTPUT], folder[] = "/tmp/agx-extract-XXXXXX";

static int make_folder(void **state)
{
   return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
   char line[64];
   snprintf(line, sizeof(line), "rm -r %s", folder);
   return system(line);
}

static int extract(const char *capture, const char *options)
{
   char line[800];
   snprintf(line, sizeof(line), "extract %s -o %s/x %s", capture, folder, options);
   return tool_run("AGXDUMP_TOOL", line, text);
}

/* What the golden kernel's data begin with, in a file of the folder. */
static uint32_t word_of(const char *name)
{
   char path[128];
   size_t bytes;
   uint32_t word;
   snprintf(path, sizeof(path), "%s/x/%s", folder, name);
   char *data = agx_test_read_file(path, &bytes);
   assert_int_equal(bytes, 16384);
   memcpy(&word, data, sizeof(word));
   free(data);
   return word;
}

static void run_again(void)
{
   char line[400];
   snprintf(line, sizeof(line),
            "run %s/x/kernel.elf --device virtual --manifest %s/x/dispatch.txt --check %s/x/after",
            folder, folder, folder);
   assert_int_equal(tool_run("AGX_TOOL", line, text), 0);
   assert_non_null(strstr(text, "matches: same"));
   snprintf(line, sizeof(line), "replay --check --strict %s/x/dispatch.capture", folder);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 0);
   assert_non_null(strstr(text, "1 submission, "));
   assert_non_null(strstr(text, "no difference, 0 faults"));
}

/* Each of the two launches adds 5. */
static void each_dispatch_is_repeated_alone(void **state)
{
   char *golden = agx_test_path("golden/dispatch.capture");
   for (uint32_t i = 0; i < 2; i++) {
      char options[40], line[200];
      snprintf(options, sizeof(options), "--submit 1 --dispatch %u", i);
      assert_int_equal(extract(golden, options), 0);
      assert_int_equal(word_of("kernel.1.bin"), 5 * i);
      assert_int_equal(word_of("after/kernel.1.bin"), 5 * i + 5);
      run_again();
      snprintf(line, sizeof(line), "stats --csv %s/x/dispatch.capture", folder);
      assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 0);
      assert_null(strstr(text, "\n1.0.1,")); /* the other one is a link now */
      assert_int_equal(remove_folder(state), 0);
      assert_int_equal(mkdir(folder, 0700), 0);
   }
   free(golden);
}

/* Another process's capture is nobody else's affair. */
static void its_capture_is_the_owners(void **state)
{
   struct stat info;
   char path[128], *golden = agx_test_path("golden/dispatch.1.capture");
   assert_int_equal(extract(golden, ""), 0);
   static const char *const names[] = {"dispatch.capture", "dispatch.txt", "kernel.bin",
                                       "kernel.elf",       "kernel.1.bin", "after/kernel.1.bin"};
   for (size_t i = 0; i < AGX_COUNT(names); i++) {
      snprintf(path, sizeof(path), "%s/x/%s", folder, names[i]);
      assert_int_equal(stat(path, &info), 0);
      assert_int_equal(info.st_mode & 0777, 0600);
   }
   free(golden);
}

/* What was extracted is a capture, too, and may be extracted from in its place. */
static void the_capture_itself_is_no_output(void **state)
{
   struct stat before, after;
   char path[128], *golden = agx_test_path("golden/dispatch.capture");
   assert_int_equal(extract(golden, ""), 0);
   snprintf(path, sizeof(path), "%s/x/dispatch.capture", folder);
   assert_int_equal(stat(path, &before), 0);
   assert_int_equal(extract(path, ""), 1);
   assert_non_null(strstr(text, "is the capture itself, which would be lost"));
   assert_int_equal(stat(path, &after), 0);
   assert_int_equal(before.st_size, after.st_size);
   free(golden);
}

/* Kernels of the compiler, with arrays of addresses, constants and threadgroup memory. */
static void corpus_kernels_are_repeated(void **state)
{
#if AGX_SANITIZED
   skip(); /* the preload library can't come first */
#endif
   static const char *const names[] = {"softmax", "bda_list", "reduce_shared"};
   unsigned found = 0;
   for (size_t i = 0; i < AGX_COUNT(names); i++) {
      const char *source = getenv("AGX_TEST_SOURCE_DIR");
      char line[1200], path[400];
      snprintf(path, sizeof(path), "%s/corpus/%s.txt", source, names[i]);
      if (access(path, R_OK) != 0)
         continue;
      found++;
      snprintf(line, sizeof(line),
               "record -o %s/k.capture -- '%s' run %s/corpus/%s.spv --manifest %s --device drm",
               folder, getenv("AGX_TOOL"), source, names[i], path);
      assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 0);
      snprintf(path, sizeof(path), "%s/k.capture", folder);
      assert_int_equal(extract(path, ""), 0);
      run_again();
   }
   assert_int_equal(found, AGX_COUNT(names));
}

/* Textures are states that a manifest of buffers can't name. */
static void textures_are_left_to_the_capture(void **state)
{
#if AGX_SANITIZED
   skip();
#endif
   const char *source = getenv("AGX_TEST_SOURCE_DIR");
   char line[1200], path[400];
   snprintf(line, sizeof(line),
            "record -o %s/k.capture -- '%s' run %s/corpus/image_fetch.spv --manifest "
            "%s/corpus/image_fetch.txt --device drm",
            folder, getenv("AGX_TOOL"), source, source);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 0);
   snprintf(path, sizeof(path), "%s/k.capture", folder);
   assert_int_equal(extract(path, ""), 3);
   assert_non_null(strstr(text, "words of textures"));
   snprintf(line, sizeof(line), "replay --check %s/x/dispatch.capture", folder);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 0);
}

/* The device's name in the file's header, with an end of a line, stays in its comment. */
static void names_begin_no_line_of_the_manifest(void **state)
{
   static const char node[64] = "x\nbuf 9 0 9 ssbo 64 file /etc/passwd\n";
   char *golden = agx_test_path("golden/dispatch.capture"), path[64];
   size_t bytes;
   char *data = agx_test_read_file(golden, &bytes);
   memcpy(data + offsetof(struct agxw_capture_header, node), node, sizeof(node));
   snprintf(path, sizeof(path), "%s/node.capture", folder);
   FILE *file = fopen(path, "wb");
   assert_non_null(file);
   assert_int_equal(fwrite(data, 1, bytes, file), bytes);
   fclose(file);
   free(data);
   free(golden);
   assert_int_equal(extract(path, ""), 0);
   snprintf(path, sizeof(path), "%s/x/dispatch.txt", folder);
   data = agx_test_read_file(path, &bytes);
   assert_non_null(strstr(data, "of a capture on x?buf 9"));
   assert_null(strstr(data, "\nbuf 9"));
   free(data);
}

static void a_wrong_extraction_is_explained(void **state)
{
   char *golden = agx_test_path("golden/dispatch.capture");
   static const struct {
      const char *options, *words;
   } rows[] = {{"--submit 7", "there is no submission 7; the last is 2"},
               {"--submit 2", "submission 2 has no dispatch 0.0; it has 0"},
               {"--dispatch 2", "submission 1 has no dispatch 0.2; it has 2"},
               {"--submit 0", "--submit 0: a number from 1 on is wanted"},
               {"--dispatch x", "--dispatch x"},
               {"--dispatch", "--dispatch: its value is missing"},
               {"--chaos 1", "unexpected \"--chaos\""},
               {"-o /nonexistent/x", "folder /nonexistent/x"}};
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      assert_true(extract(golden, rows[i].options) > 0);
      assert_non_null(strstr(text, rows[i].words));
   }
   char line[1400];
   int length = snprintf(line, sizeof(line), "extract %s -o %s", golden, folder);
   for (; length < 1200; length += 2) /* longer than any file in it could be called */
      memcpy(line + length, "/.", 3);
   assert_int_equal(tool_run("AGXDUMP_TOOL", line, text), 2);
   assert_non_null(strstr(text, "bytes, the limit is 900"));
   assert_int_equal(tool_run("AGXDUMP_TOOL", "extract --help", text), 0);
   assert_non_null(strstr(text, "dispatch.capture"));
   assert_int_equal(tool_run("AGXDUMP_TOOL", "extract x", text), 2);
   free(golden);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_dispatch_is_repeated_alone),
      cmocka_unit_test(its_capture_is_the_owners),
      cmocka_unit_test(the_capture_itself_is_no_output),
      cmocka_unit_test(corpus_kernels_are_repeated),
      cmocka_unit_test(textures_are_left_to_the_capture),
      cmocka_unit_test(names_begin_no_line_of_the_manifest),
      cmocka_unit_test(a_wrong_extraction_is_explained),
   };
   return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
