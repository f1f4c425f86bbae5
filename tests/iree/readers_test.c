/* SPDX-License-Identifier: MIT
 *
 * The readers of the IREE driver that need no IREE: containers that its compiler wrote (pair.mlir,
 * one.mlir), damaged ones, what code shows of its lanes, and device paths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/executable.h"
#include "base/util.h"
#include "iree/path.h"
#include "support.h"

static uint8_t *read_file(const char *name, size_t *out_bytes)
{
   char *path = agx_test_path(name);
   FILE *file = fopen(path, "rb");
   assert_non_null(file);
   uint8_t *data = malloc(1 << 20);
   *out_bytes = fread(data, 1, 1 << 20, file);
   fclose(file);
   free(path);
   return data;
}

static void entry_points_of_descriptors(void **state)
{
   struct agx_iree_container container;
   struct agx_iree_export found;
   struct agx_iree_binding binding;
   struct agx_iree_error error;
   size_t bytes, used;
   uint8_t *data = read_file("iree/pair.bin", &bytes);
   assert_true(agx_iree_container_infer(data, SIZE_MAX, &used));
   assert_int_equal(used, bytes);
   assert_int_equal(agx_iree_container_open(data, bytes, &container, &error), AGX_OK);
   assert_int_equal(container.export_count, 2);
   assert_int_equal(agx_iree_container_get_export(&container, 0, &found, &error), AGX_OK);
   assert_string_equal(found.name, "scale_by_constants");
   assert_string_equal(found.debug_name, "scale_by_constants");
   assert_string_equal(found.source_file, "pair.mlir");
   assert_int_equal(found.source_line, 12);
   assert_int_equal(found.abi, AGX_IREE_DESCRIPTORS);
   assert_int_equal(found.binding_count, 2);
   assert_int_equal(found.constant_count, 2);
   assert_int_equal(found.constants_at_B, 0);
   assert_memory_equal(found.spirv, "\x03\x02\x23\x07", 4);
   for (uint32_t i = 0; i < 2; i++) {
      assert_int_equal(agx_iree_export_get_binding(&container, &found, i, &binding, &error), 0);
      assert_int_equal(binding.number, i);
   }
   assert_int_equal(agx_iree_export_get_binding(&container, &found, 2, &binding, &error),
                    AGX_OUT_OF_RANGE);
   assert_int_equal(agx_iree_container_get_export(&container, 1, &found, &error), AGX_OK);
   assert_string_equal(found.name, "halve_in_place");
   assert_int_equal(found.binding_count, 1);
   assert_int_equal(found.constant_count, 0);
   assert_int_equal(agx_iree_container_get_export(&container, 2, &found, &error), AGX_OUT_OF_RANGE);
   assert_string_equal(error.text, "entry point 2: there are 2");
   free(data);
}

static void entry_points_of_addresses(void **state)
{
   struct agx_iree_container container;
   struct agx_iree_export found;
   struct agx_iree_binding binding;
   struct agx_iree_error error;
   size_t bytes;
   uint8_t *data = read_file("iree/one.bin", &bytes);
   assert_int_equal(agx_iree_container_open(data, bytes, &container, &error), AGX_OK);
   assert_int_equal(container.export_count, 1);
   assert_int_equal(agx_iree_container_get_export(&container, 0, &found, &error), AGX_OK);
   assert_int_equal(found.abi, AGX_IREE_ADDRESSES);
   assert_int_equal(found.root_at_B, 0);
   assert_int_equal(found.constants_at_B, AGX_IREE_ROOT_B);
   assert_int_equal(found.constant_count, 2);
   assert_int_equal(found.binding_count, 2);
   assert_int_equal(agx_iree_export_get_binding(&container, &found, 1, &binding, &error), AGX_OK);
   assert_int_equal(binding.number, 1);
   assert_int_equal(binding.alignment_B, 1);
   free(data);
}

/* Reads all that there is; returns the first failure. */
static agx_status read_all(const uint8_t *data, size_t bytes, struct agx_iree_error *error)
{
   struct agx_iree_container container;
   struct agx_iree_export found;
   struct agx_iree_binding binding;
   agx_status status = agx_iree_container_open(data, bytes, &container, error);
   for (uint32_t i = 0; status == AGX_OK && i < container.export_count; i++) {
      status = agx_iree_container_get_export(&container, i, &found, error);
      for (uint32_t j = 0; status == AGX_OK && j < found.binding_count; j++)
         status = agx_iree_export_get_binding(&container, &found, j, &binding, error);
   }
   return status;
}

/* A file that ends too early is refused wherever it ends; each copy is as long as its memory. */
static void short_files_are_refused(void **state)
{
   size_t bytes;
   uint8_t *data = read_file("iree/pair.bin", &bytes);
   for (size_t i = 0; i < bytes; i++) {
      struct agx_iree_error error = {""};
      uint8_t *copy = malloc(i + !i);
      memcpy(copy, data, i);
      agx_status status = read_all(copy, i, &error);
      assert_int_equal(status, i < AGX_IREE_HEADER_B ? AGX_INVALID_ARGUMENT : AGX_OUT_OF_RANGE);
      assert_true(error.text[0]);
      if (i > AGX_IREE_HEADER_B) { /* a header that says so, too */
         uint32_t content_B = (uint32_t)(i - AGX_IREE_HEADER_B);
         memcpy(copy + 8, &content_B, 4);
         (void)read_all(copy, i, &error);
      }
      free(copy);
   }
   free(data);
}

/* Each word of the content, changed: what is taken must be read to its end without leaving it. */
static void damaged_files_are_refused_or_read(void **state)
{
   static const uint32_t values[] = {0, 1, 4, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
   size_t bytes;
   unsigned refused = 0;
   for (unsigned file = 0; file < 2; file++) {
      uint8_t *data = read_file(file ? "iree/one.bin" : "iree/pair.bin", &bytes);
      uint8_t *copy = malloc(bytes);
      for (size_t at = AGX_IREE_HEADER_B; at + 4 <= bytes; at++) {
         for (size_t i = 0; i < AGX_COUNT(values); i++) {
            struct agx_iree_error error = {""};
            memcpy(copy, data, bytes);
            memcpy(copy + at, &values[i], 4);
            if (read_all(copy, bytes, &error) != AGX_OK) {
               assert_true(error.text[0]);
               refused++;
            }
         }
      }
      free(copy);
      free(data);
   }
   assert_true(refused > 1000);
}

static void other_versions_are_named(void **state)
{
   struct agx_iree_container container;
   struct agx_iree_error error;
   size_t bytes;
   uint8_t *data = read_file("iree/one.bin", &bytes);
   data[4] = 1;
   assert_int_equal(agx_iree_container_open(data, bytes, &container, &error), AGX_INCOMPATIBLE);
   assert_string_equal(error.text, "version 1, known is 0");
   data[0] = 'X';
   assert_int_equal(agx_iree_container_open(data, bytes, &container, &error), AGX_INVALID_ARGUMENT);
   free(data);
}

/* One entry point of so many threads that reduces, meets others behind it or not, and shuffles over
 * a distance. */
static uint32_t lanes_of(uint32_t threads, bool meets, uint32_t distance, uint32_t declared)
{
   uint32_t words[64] = {0x07230203, 0x10300, 0, 9, 0}, count = 5;
   const uint32_t before[] = {
      4 << 16 | 15,
      5,
      1,
      0, /* OpEntryPoint */
      6 << 16 | 16,
      1,
      17,
      threads,
      1,
      1, /* OpExecutionMode LocalSize */
      4 << 16 | 16,
      1,
      declared ? 35 : 11,
      declared, /* SubgroupSize, else another */
      4 << 16 | 43,
      2,
      3,
      distance, /* OpConstant */
      6 << 16 | 349,
      2,
      4,
      3,
      0,
      3, /* OpGroupNonUniformIAdd Reduce */
   };
   memcpy(words + count, before, sizeof(before));
   count += AGX_COUNT(before);
   if (distance)
      memcpy(words + count, (uint32_t[]){6 << 16 | 346, 2, 5, 3, 4, 3}, 24), count += 6;
   if (meets)
      memcpy(words + count, (uint32_t[]){4 << 16 | 224, 3, 3, 3}, 16), count += 4;
   return agx_iree_visible_lanes(words, count * 4);
}

static void code_shows_its_lanes(void **state)
{
   assert_int_equal(lanes_of(32, false, 0, 0), 0);
   assert_int_equal(lanes_of(64, true, 0, 0), 0);
   assert_int_equal(lanes_of(64, false, 0, 0), 64);
   assert_int_equal(lanes_of(48, true, 0, 0), 16);
   assert_int_equal(lanes_of(40, true, 0, 0), 8);
   assert_int_equal(lanes_of(64, true, 16, 0), 0);
   assert_int_equal(lanes_of(64, true, 32, 0), 64);
   assert_int_equal(lanes_of(64, true, 0, 16), 16);
   assert_int_equal(agx_iree_visible_lanes("", 0), 0);
   assert_int_equal(agx_iree_visible_lanes("\3\2\43\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24),
                    0); /* an instruction without words */
}

static const char *models[] = {"ampere/mlp_dispatch_2", "rdna3/mlp_dispatch_2",
                               "valhall4/mlp_dispatch_2"};

/* Of models that IREE's compiler made for targets of 32, 32 and 16 lanes. */
static void models_show_their_lanes(void **state)
{
   static const uint32_t lanes[] = {0, 0, 16};
   for (size_t i = 0; i < AGX_COUNT(models); i++) {
      char name[64];
      size_t bytes;
      snprintf(name, sizeof(name), "models/%s.spv", models[i]);
      uint8_t *data = read_file(name, &bytes);
      assert_int_equal(agx_iree_visible_lanes(data, bytes), lanes[i]);
      free(data);
   }
}

static agx_status parse(const char *path, const char *parameters, struct agx_iree_path *out,
                        struct agx_iree_error *error)
{
   struct agx_iree_pair pairs[4];
   size_t count = 0;
   for (const char *at = parameters; *at; count++) {
      size_t key_B = strcspn(at, "="), value_B = strcspn(at + key_B + 1, "&");
      pairs[count] = (struct agx_iree_pair){{at, key_B}, {at + key_B + 1, value_B}};
      at += key_B + 1 + value_B;
      at += *at == '&';
   }
   return agx_iree_path_parse((struct agx_iree_text){path, strlen(path)}, pairs, count, out, error);
}

static void paths_name_devices(void **state)
{
   struct agx_iree_path path;
   struct agx_iree_error error;
   assert_int_equal(parse("", "", &path, &error), AGX_OK);
   assert_string_equal(path.name, "auto");
   assert_int_equal(path.ordinal, AGX_IREE_NO_ORDINAL);
   assert_int_equal(parse("12", "queues=8", &path, &error), AGX_OK);
   assert_string_equal(path.name, "");
   assert_int_equal(path.ordinal, 12);
   assert_int_equal(path.queue_count, 8);
   assert_int_equal(parse("renderD128", "", &path, &error), AGX_OK);
   assert_string_equal(path.name, "/dev/dri/renderD128");
   assert_int_equal(parse("/dev/dri/renderD129", "", &path, &error), AGX_OK);
   assert_string_equal(path.name, "/dev/dri/renderD129");
   assert_int_equal(parse("virtual", "chip=g14s&capture=/tmp/a b&robust=zero", &path, &error), 0);
   assert_string_equal(path.name, "virtual:g14s");
   assert_string_equal(path.capture, "/tmp/a b");
   assert_false(path.captures_ranges);
   assert_int_equal(path.robustness, AGX_ROBUST_ZERO);
   assert_int_equal(parse("virtual:g14s", "", &path, &error), 0);
   assert_string_equal(path.name, "virtual:g14s");
   assert_int_equal(parse("virtual", "capture_ranges=/tmp/a", &path, &error), 0);
   assert_string_equal(path.capture, "/tmp/a");
   assert_true(path.captures_ranges);
}

static void what_names_no_device_is_refused(void **state)
{
   static const struct {
      const char *path, *parameters, *text;
   } cases[] = {
      {"gpu", "",
       "device 'gpu': it takes nothing, a number, renderD128, /dev/dri/renderD128, or "
       "virtual"},
      {"1234", "", NULL},
      {"renderD00000000000000000000000000000000000000000000000000000000000", "", NULL},
      {"", "chip=g13g",
       "parameter 'chip': it takes a virtual device only: agx://virtual?chip=g14s"},
      {"virtual", "chip=", NULL},
      {"virtual", "chip=g13g&chip=g13g", "parameter 'chip': it takes one value, not two"},
      {"virtual", "chip=g13gg13gg13gg13g", NULL},
      {"", "seed=1", "parameter 'seed': it takes chip, queues, capture, capture_ranges and robust"},
      {"", "queues=9", "queues '9': it takes 1 to 8"},
      {"", "queues=0", NULL},
      {"", "queues=", NULL},
      {"", "capture=", NULL},
      {"", "capture=/a&capture_ranges=/b", "capture '/b': it takes one file, not two"},
      {"", "robust=on", "robust 'on': it takes off, clamp or zero"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_iree_path path;
      struct agx_iree_error error = {""};
      assert_int_equal(parse(cases[i].path, cases[i].parameters, &path, &error),
                       AGX_INVALID_ARGUMENT);
      if (cases[i].text)
         assert_string_equal(error.text, cases[i].text);
      assert_true(error.text[0]);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(entry_points_of_descriptors),
      cmocka_unit_test(entry_points_of_addresses),
      cmocka_unit_test(short_files_are_refused),
      cmocka_unit_test(damaged_files_are_refused_or_read),
      cmocka_unit_test(other_versions_are_named),
      cmocka_unit_test(code_shows_its_lanes),
      cmocka_unit_test(models_show_their_lanes),
      cmocka_unit_test(paths_name_devices),
      cmocka_unit_test(what_names_no_device_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
