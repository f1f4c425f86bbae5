/* SPDX-License-Identifier: MIT
 *
 * Entry points whose names are longer than the fixed fields, and differ behind these only: in
 * modules of SPIR-V, in ELF files, and by name.
 */
#include "fixture.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/alloc.h"
#include "base/util.h"

#define ENTRIES 3
#define NAME_B  1000

struct renamed {
   char names[ENTRIES][NAME_B];
   uint32_t words[4096];
   size_t bytes;
};

/* The name takes whole words, zeros behind it. */
static size_t put_entry(struct renamed *renamed, size_t to, const uint32_t *from, uint32_t index)
{
   const uint32_t length = from[0] >> 16;
   uint32_t name_end = 3;
   while (from[name_end++] >> 24)
      ;
   const uint32_t name_words = NAME_B / 4, rest = length - name_end;
   uint32_t *out = renamed->words + to;
   out[0] = (3 + name_words + rest) << 16 | SpvOpEntryPoint;
   memcpy(out + 1, from + 1, 8);
   memcpy(out + 3, renamed->names[index], NAME_B);
   memcpy(out + 3 + name_words, from + name_end, 4 * (size_t)rest);
   return to + 3 + name_words + rest;
}

/* The module entries.spv with other names, which have the first 990 bytes in common. */
static void make(struct renamed *renamed)
{
   char *path = agx_test_path("kernels/entries.spv");
   size_t size, to = 5, at = 5;
   char *bytes = agx_test_read_file(path, &size);
   const uint32_t *words = (const uint32_t *)bytes;
   uint32_t count = 0;
   memcpy(renamed->words, words, 20);
   while (at < size / 4) {
      const uint32_t length = words[at] >> 16;
      assert_true(to + length + NAME_B / 4 < AGX_COUNT(renamed->words));
      if ((words[at] & 0xffff) == SpvOpEntryPoint) {
         assert_true(count < ENTRIES);
         memset(renamed->names[count], 'n', 990);
         renamed->names[count][990] = (char)('a' + count);
         to = put_entry(renamed, to, words + at, count++);
      } else {
         memcpy(renamed->words + to, words + at, 4 * (size_t)length);
         to += length;
      }
      at += length;
   }
   assert_int_equal(count, ENTRIES);
   renamed->bytes = 4 * to;
   free(bytes);
   free(path);
}

static void expect_names(struct fixture *f, const void *data, size_t data_B,
                         const struct renamed *renamed)
{
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = data, .data_B = data_B};
   struct agx_executable *executable;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   assert_int_equal(agx_executable_get_entry_count(executable), ENTRIES);
   for (uint32_t i = 0; i < ENTRIES; i++) {
      struct agx_executable_info info = {.size = sizeof(info)};
      const char *name;
      uint32_t found;
      assert_ok(agx_executable_get_entry_name(executable, i, &name));
      assert_string_equal(name, renamed->names[i]);
      assert_ok(agx_executable_find_entry(executable, name, &found));
      assert_int_equal(found, i);
      assert_ok(agx_executable_get_entry(executable, i, &info));
      assert_int_equal(strlen(info.name), AGX_NAME_BYTES - 1);
      assert_string_equal(info.name + AGX_NAME_BYTES - 4, "...");
      assert_fails(agx_executable_find_entry(executable, info.name, &found), AGX_NOT_FOUND, "nnn");
   }
   const char *none;
   assert_fails(agx_executable_get_entry_name(executable, ENTRIES, &none), AGX_OUT_OF_RANGE, "3");
   assert_null(none);
   agx_release(executable);
   for (uint32_t i = 0; i < ENTRIES; i++) { /* by itself, also out of the cache */
      const char *name;
      desc.entry = renamed->names[i];
      assert_ok(agx_executable_create(f->device, &desc, &executable));
      uint32_t at = 0;
      assert_ok(agx_executable_find_entry(executable, renamed->names[i], &at));
      assert_ok(agx_executable_get_entry_name(executable, at, &name));
      assert_string_equal(name, renamed->names[i]);
      agx_release(executable);
   }
}

static void names_of_any_length_are_kept_apart(void **state)
{
   static struct renamed renamed;
   struct fixture f;
   struct agx_module *module;
   void *image;
   size_t image_B;
   const struct agxc_options options = {.chip = agx_chip_find("g13g")};
   make(&renamed);
   fixture_open(&f, "virtual:g13g");
   expect_names(&f, renamed.words, renamed.bytes, &renamed);
   expect_names(&f, renamed.words, renamed.bytes, &renamed); /* the cache has it */
   assert_ok(agxc_compile_module(renamed.words, renamed.bytes, &options, &module));
   assert_ok(agx_module_write_elf(module, NULL, &image, &image_B));
   expect_names(&f, image, image_B, &renamed);
   agx_host_free(NULL, image, image_B);
   agx_module_release(module);
   fixture_close(&f);
}

/* Cut behind a whole character. */
static void a_cut_name_says_so(void **state)
{
   char out[AGX_PROGRAM_NAME_BYTES], name[100] = {0};
   memset(name, 'x', 63);
   assert_true(agx_program_cut_name(name, out));
   assert_string_equal(out, name);
   memset(name, 'x', 59);
   memcpy(name + 59,
          "\xc3\xa4"
          "yyyyyyyy",
          11); /* a letter of bytes 59 and 60 */
   assert_false(agx_program_cut_name(name, out));
   assert_int_equal(strlen(out), 62);
   assert_string_equal(out + 58, "x...");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_of_any_length_are_kept_apart),
      cmocka_unit_test(a_cut_name_says_so),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
