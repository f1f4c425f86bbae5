/* SPDX-License-Identifier: MIT
 *
 * Structs that the library fills: as much as their caller has room for, and never with a size that
 * can't be one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fixture.h"

#define MORE_B    24 /* fields of a later version */
#define UNTOUCHED 0xaa

static struct {
   struct fixture f;
   struct agx_executable *executable;
   struct agx_buffer *buffer;
   struct agx_pool *pool;
   struct agx_image *image;
   struct agx_file *file;
   uint8_t bytes[64];
   char log[256]; /* the last line */
   uint32_t lines;
} set;

static void hear(void *user, enum agx_log_level level, const char *line)
{
   snprintf(set.log, sizeof(set.log), "%s", line);
   set.lines++;
}

/* ---- one call for each struct ----------------------------------------------- */

/* Those that return nothing. */
#define SILENT(name, call)                                                                         \
   static agx_status name(void *out)                                                               \
   {                                                                                               \
      call;                                                                                        \
      return AGX_OK;                                                                               \
   }
SILENT(device_info, agx_device_get_info(set.f.device, out))
SILENT(memory_stats, agx_device_get_memory_stats(set.f.device, out))
SILENT(cache_stats, agx_device_get_cache_stats(set.f.device, out))
SILENT(buffer_info, agx_buffer_get_info(set.buffer, out))
SILENT(pool_stats, agx_pool_get_stats(set.pool, out))
SILENT(image_info, agx_image_get_info(set.image, out))
SILENT(executable_info, agx_executable_get_info(set.executable, out))

static agx_status external(void *out)
{
   return agx_buffer_export(set.buffer, AGX_EXTERNAL_ADDRESS, out);
}

static agx_status file_info(void *out)
{
   return agx_file_get_info(set.file, out);
}

static agx_status entry(void *out)
{
   return agx_executable_get_entry(set.executable, 1, out);
}

static agx_status binding(void *out)
{
   return agx_executable_get_binding(set.executable, 0, out);
}

static agx_status parameter(void *out)
{
   return agx_executable_get_parameter(set.executable, 1, 0, out);
}

static agx_status specialization(void *out)
{
   return agx_executable_get_specialization(set.executable, 1, 0, out);
}

#define ROW(name, fill, is_silent)                                                                 \
   {                                                                                               \
#name, sizeof(struct name), fill, is_silent                                                  \
   }

static const struct {
   const char *name;
   size_t size;
   agx_status (*fill)(void *out);
   bool is_silent;
} rows[] = {
   ROW(agx_device_info, device_info, true),
   ROW(agx_memory_stats, memory_stats, true),
   ROW(agx_cache_stats, cache_stats, true),
   ROW(agx_buffer_info, buffer_info, true),
   ROW(agx_pool_stats, pool_stats, true),
   ROW(agx_image_info, image_info, true),
   ROW(agx_executable_info, executable_info, true),
   ROW(agx_executable_info, entry, false),
   ROW(agx_external, external, false),
   ROW(agx_file_info, file_info, false),
   ROW(agx_binding_info, binding, false),
   ROW(agx_parameter_info, parameter, false),
   ROW(agx_specialization_info, specialization, false),
};

/* Bytes between members, which compilers may leave as they were; members are only added behind. */
#define HOLE(name, last, next)                                                                     \
   {                                                                                               \
#name, offsetof(struct name, last) + sizeof(((struct name *)NULL)->last),                    \
         offsetof(struct name, next)                                                               \
   }

static const struct {
   const char *name;
   size_t from, to;
} holes[] = {
   HOLE(agx_device_info, is_virtual, core_count),
   HOLE(agx_device_info, queue_count, max_binding_B),
   HOLE(agx_cache_stats, size, compiles),
   HOLE(agx_buffer_info, size, size_B),
   HOLE(agx_buffer_info, is_imported, allocation_B),
   HOLE(agx_image_info, texel_B, size_B),
   HOLE(agx_image_info, is_linear, samples),
   HOLE(agx_executable_info, is_vertex, scratch_B),
   {"agx_executable_info", offsetof(struct agx_executable_info, has_dynamic_shared) + sizeof(bool),
    sizeof(struct agx_executable_info)},
   HOLE(agx_external, fd, pointer),
   HOLE(agx_file_info, access, length_B),
   HOLE(agx_binding_info, is_written, element),
   HOLE(agx_binding_info, has_atomics, robustness),
   HOLE(agx_binding_info, per_instance, divisor),
};

static void clear_holes(const char *name, char *out, size_t size)
{
   for (size_t i = 0; i < AGX_COUNT(holes); i++)
      for (size_t at = holes[i].from; at < AGX_MIN(holes[i].to, size); at++)
         if (strcmp(holes[i].name, name) == 0)
            out[at] = 0;
}

static void put_size(void *out, size_t size)
{
   uint32_t word = (uint32_t)size;
   memcpy(out, &word, sizeof(word));
}

/* ---- tests ------------------------------------------------------------------- */

static void structs_are_filled_as_far_as_the_caller_has_them(void **state)
{
   for (size_t row = 0; row < AGX_COUNT(rows); row++) {
      char *want = calloc(1, rows[row].size + MORE_B);
      assert_non_null(want);
      put_size(want, rows[row].size);
      assert_ok(rows[row].fill(want));
      clear_holes(rows[row].name, want, rows[row].size);
      for (size_t size = 4; size <= rows[row].size + MORE_B; size += 4) {
         char *got = malloc(size);
         assert_non_null(got);
         memset(got, UNTOUCHED, size);
         put_size(got, size);
         put_size(want, size);
         assert_ok(rows[row].fill(got));
         clear_holes(rows[row].name, got, size);
         if (memcmp(got, want, size) != 0)
            fail_msg("%s of %zu bytes", rows[row].name, size);
         free(got);
      }
      free(want);
   }
   assert_int_equal(set.lines, 0);
}

/* Nothing is written, since the size doesn't say how much room the struct has; the error names it.
 */
static void sizes_that_cant_be_are_told_of(void **state)
{
   static const uint32_t wrong[] = {0, 1, 3, 4097, 0x80000000, UINT32_MAX};
   for (size_t row = 0; row < AGX_COUNT(rows); row++)
      for (size_t i = 0; i < AGX_COUNT(wrong); i++) {
         uint8_t got[512], want[512];
         char text[160];
         memset(want, UNTOUCHED, sizeof(want));
         put_size(want, wrong[i]);
         memcpy(got, want, sizeof(got));
         snprintf(text, sizeof(text), "%s: size is %u; set it to sizeof(struct %s)", rows[row].name,
                  wrong[i], rows[row].name);
         set.lines = 0;
         agx_status status = rows[row].fill(got);
         if (rows[row].is_silent) {
            assert_int_equal(set.lines, 1);
            assert_non_null(strstr(set.log, text));
         } else {
            assert_fails(status, AGX_INVALID_ARGUMENT, text);
         }
         assert_memory_equal(got, want, sizeof(got));
      }
   set.lines = 0;
}

/* ---- all ------------------------------------------------------------------- */

static void make_executable(void)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   char *path = agx_test_path("kernels/entries.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(set.f.device, &desc, &set.executable));
   free(spirv);
   free(path);
}

static int open_all(void **state)
{
   const struct agx_instance_desc instance = {.size = sizeof(instance), .log = hear};
   const struct agx_device_desc device = {.size = sizeof(device), .name = "virtual"};
   const struct agx_image_desc image = {
      .size = sizeof(image), .type = AGX_IMAGE_2D, .format = "rgba8", .width = 5, .height = 4};
   const struct agx_file_desc file = {.size = sizeof(file),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = AGX_FILE_READ,
                                      .memory = set.bytes,
                                      .memory_B = sizeof(set.bytes)};
   uint32_t *words;
   assert_ok(agx_instance_create(&instance, &set.f.instance));
   assert_ok(agx_device_open(set.f.instance, &device, &set.f.device));
   make_executable();
   set.buffer = fixture_buffer(&set.f, 4096, &words);
   assert_ok(agx_pool_create(set.f.device, NULL, &set.pool));
   assert_ok(agx_image_create(set.f.device, &image, &set.image));
   assert_ok(agx_file_import(set.f.device, &file, &set.file));
   return 0;
}

static int close_all(void **state)
{
   void *objects[] = {set.executable, set.buffer, set.pool, set.image, set.file};
   for (size_t i = 0; i < AGX_COUNT(objects); i++)
      agx_release(objects[i]);
   fixture_close(&set.f);
   return 0;
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(structs_are_filled_as_far_as_the_caller_has_them),
      cmocka_unit_test(sizes_that_cant_be_are_told_of),
   };
   return cmocka_run_group_tests(tests, open_all, close_all);
}
