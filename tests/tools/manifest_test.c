/* SPDX-License-Identifier: MIT
 *
 * Manifests of kernels: each directive, and what is refused.
 */
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "manifest.h"

static agx_status parse(const char *text, struct agx_manifest *manifest)
{
   return agx_manifest_parse("m", text, strlen(text), manifest);
}

static void every_directive(void **state)
{
   struct agx_manifest m;
   assert_ok(parse("# comment\n"
                   "spec 3 f32 1.5\nspec 4 bool 1\n"
                   "push u32 7 8 # two\npush f32 -2\npush u64 0x100000000\npush addr 9\n"
                   "buf 9 1 2 ssbo 64 rand_f32 5 -1 1 out\n"
                   "buf 10 0 0 addr 16 addrs 9\n"
                   "img 11 0 1 sampled rgba8 16 8 3 linear rand_u8 4\n"
                   "volume 12 0 2 storage r32f 16 8 4 nearest zero out\n"
                   "dispatch 4 5 6\ncmp f32 1e-3 1e-4",
                   &m));
   assert_int_equal(m.spec_count, 2);
   assert_int_equal(m.specs[0].value, 0x3fc00000);
   assert_int_equal(m.push_B, 4 + 4 + 4 + 8 + 8);
   assert_int_equal(agx_load_u32(m.push + 8), 0xc0000000);
   assert_true(agx_load_u64(m.push + 12) == 0x100000000ull);
   assert_int_equal(m.fixups[0].offset_B, 20);
   assert_int_equal(m.fixups[0].id, 9);
   assert_true(m.resources[0].is_output);
   assert_int_equal(m.resources[0].set, 1);
   assert_int_equal(m.resources[2].levels, 3);
   assert_int_equal(agx_manifest_image_bytes(&m.resources[2], 4), 4 * (16 * 8 + 8 * 4 + 4 * 2));
   assert_int_equal(m.resources[3].depth, 4);
   assert_int_equal(agx_manifest_image_bytes(&m.resources[3], 4), 4 * 16 * 8 * 4);
   assert_int_equal(m.workgroups[2], 6);
   assert_int_equal(m.compare, AGX_COMPARE_F32);
}

static void records_describe_structures(void **state)
{
   struct agx_manifest m;
   uint8_t data[40];
   assert_ok(parse("buf 0 0 0 ssbo 40 records 7 4 10 0:u16:2=300 4:f16:1=0.5 6:u8:8\n"
                   "buf 1 0 1 ubo 16 records 7 0 16 0:u32:2=-2 8:f64:1=0.5\n"
                   "buf 2 0 2 ssbo 40 records 7 0 4 0:f32:1",
                   &m));
   agx_manifest_fill(&m.resources[0].init, data, sizeof(data), NULL, NULL);
   assert_int_equal(agx_load_u32(data), 300 << 16 | 300);
   for (size_t at = 4; at + 2 <= sizeof(data); at += 10) {
      assert_int_equal(data[at], 0);
      assert_int_equal(data[at + 1], 0x38); /* half of 0.5 */
   }
   assert_memory_not_equal(data + 6, data + 16, 8);
   agx_manifest_fill(&m.resources[1].init, data, 16, NULL, NULL);
   assert_true(agx_load_u64(data) == 0xfffffffefffffffeull);
   assert_true(agx_load_u64(data + 8) == 0x3fe0000000000000ull);
   agx_manifest_fill(&m.resources[2].init, data, sizeof(data), NULL, NULL);
   for (size_t at = 0; at < sizeof(data); at += 4) {
      float value;
      memcpy(&value, data + at, sizeof(value));
      assert_true(value >= 0.25f && value < 1.25f);
   }
}

static uint64_t address_of_ten(void *user, uint32_t id)
{
   return id * 0x1000ull;
}

/* Behind a file's end a buffer is zero; addresses stand where points say. */
static void files_and_points_fill_buffers(void **state)
{
   struct agx_manifest m;
   char path[] = "/tmp/agx-manifest-XXXXXX", text[400];
   uint64_t data[3] = {7, 7, 7};
   int fd = mkstemp(path);
   assert_int_equal(write(fd, "12345678", 8), 8);
   close(fd);
   snprintf(text, sizeof(text),
            "buf 4 0 0 ssbo 24 file %s out\nbuf 9 0 1 addr 8 zero\npoint 4 8 9 3", path);
   assert_ok(parse(text, &m));
   assert_true(m.resources[0].is_output);
   assert_ok(
      agx_manifest_fill_resource(&m, &m.resources[0], data, sizeof(data), address_of_ten, NULL));
   assert_memory_equal(data, "12345678", 8);
   assert_true(data[1] == 0x9003 && data[2] == 0);
   assert_int_equal(agx_manifest_fill_resource(&m, &m.resources[0], data, 4, NULL, NULL),
                    AGX_INVALID_ARGUMENT); /* the file is larger */
   unlink(path);
   assert_true(agx_manifest_fill_resource(&m, &m.resources[0], data, 24, NULL, NULL) != AGX_OK);
   assert_non_null(strstr(agx_error_peek(), path));
   static const char *const wrong[] = {
      "buf 4 0 0 ssbo 24 zero\npoint 4 17 4 0", "buf 4 0 0 ssbo 24 zero\npoint 4 0 5 0",
      "buf 4 0 0 ssbo 24 zero\npoint 5 0 4 0", "point 4 0 5", "buf 4 0 0 ssbo 24 file"};
   for (size_t i = 0; i < AGX_COUNT(wrong); i++)
      assert_true(parse(wrong[i], &m) != AGX_OK);
}

static void slots_have_a_kind_and_a_count(void **state)
{
   struct agx_manifest m;
   assert_ok(parse("slot 1 2 storage 0\nslot 0 3 sampler 4", &m));
   assert_int_equal(m.slot_count, 2);
   assert_int_equal(m.slots[0].set, 1);
   assert_int_equal(m.slots[0].binding, 2);
   assert_int_equal(m.slots[0].count, 0);
   assert_string_equal(m.slots[1].kind, "sampler");
}

static void what_is_wrong_is_named(void **state)
{
   static const struct {
      const char *text, *message;
   } cases[] = {
      {"\nbuf 0 0 0 ssbo 4 zero\nfoo 1", "m:3: unknown directive 'foo'"},
      {"buf 0 0 0 ssbo 4 zero\nbuf 0 0 1 ssbo 4 zero", "id 0 is used twice"},
      {"buf 0 0 0 heap 4 zero", "'heap' is not one of"},
      {"buf 0 0 0 ssbo 0 zero", "a buffer of 0 bytes"},
      {"buf 0 0 0 ssbo 2000000000 zero", "is not a number of 0 to 1073741824"},
      {"buf 0 0 0 ssbo 4 what", "unknown initialisation 'what'"},
      {"buf 0 0 0 ssbo 4 rand_f32 1 2", "rand_f32 lacks a parameter"},
      {"buf 0 0 0 ssbo 4 zero 3", "zero does not take '3'"},
      {"buf 0 0 0 ssbo 4 out", "the initialisation is missing"},
      {"buf 0 0 0 ssbo 4 addrs 0", "1 addresses don't fit into 4 bytes"},
      {"push addr 3", "push addr 3: no such buffer"},
      {"push u32 -1", "'-1' is not a u32"},
      {"push i32 2147483648", "'2147483648' is not a i32"},
      {"spec 1 bool 2", "'2' is not a bool"},
      {"spec 1 u32 2\nspec 1 u32 3", "specialization constant 1 is given twice"},
      {"dispatch 1 2", "dispatch takes X Y Z"},
      {"dispatch 1 2 x", "'x' is not a number"},
      {"cmp f32 1", "cmp f32 takes 2 numbers"},
      {"cmp f32 -1 0", "'-1' is not a tolerance"},
      {"cmp", "cmp takes"},
      {"img 0 0 0 storage r32f 1 1 1 cubic zero", "'cubic' is neither"},
      {"img 0 0 0 storage r32f 1 1 0 nearest zero", "an image without texels"},
      {"volume 0 0 0 storage r32f 1 1 0 nearest zero", "an image without texels"},
      {"volume 0 0 0 storage", "volume takes ID SET BINDING storage|sampled FORMAT W H D"},
      {"attribute 0 R8_UINT", "attribute takes"},
      {"attribute 0 R8_UINT_OF_A_NAME_THAT_HAS_NO_END 4", "is too long"},
      {"attribute 0 R8_UINT 4 x", "'x' is not a number"},
      {"draw 0 1 2 3", "draw takes"},
      {"draw 0 1 2147483648 0 1", "is not a i32"},
      {"buf 0 0 0 ssbo 8 records 1 0", "records takes SEED HEAD STRIDE and fields"},
      {"buf 0 0 0 ssbo 8 records 1 0 0 0:u8:1", "records of 0 bytes"},
      {"buf 0 0 0 ssbo 8 records 1 0 4 0:u9:1", "'0:u9:1' is not a field"},
      {"buf 0 0 0 ssbo 8 records 1 0 4 0:u8:0", "'0:u8:0' is not a field"},
      {"buf 0 0 0 ssbo 8 records 1 0 4 0:u8:1,2", "'0:u8:1,2' is not a field"},
      {"buf 0 0 0 ssbo 8 records 1 0 4 0:u8:1=x", "'x' is not a number"},
      {"buf 0 0 0 ssbo 8 records 1 0 4 2:u32:1", "field '2:u32:1' goes beyond its record"},
      {"buf 0 0 0 ssbo 8 records 1 4 4 2:u32:1", "field '2:u32:1' goes beyond its record"},
      {"slot 0 0 ssbo", "slot takes SET BINDING KIND COUNT"},
      {"slot 0 0 heap 1", "'heap' is not a kind of slot"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_manifest m;
      assert_fails(parse(cases[i].text, &m), AGX_INVALID_ARGUMENT, cases[i].message);
   }
}

static void limits_hold(void **state)
{
   struct agx_manifest m;
   char text[8192] = "";
   for (int i = 0; i < 33; i++)
      strcat(text, "push u64 1\n");
   assert_fails(parse(text, &m), AGX_INVALID_ARGUMENT, "more than 256 bytes of push constants");
   memset(text, ' ', 2000);
   text[2000] = 0;
   assert_fails(parse(text, &m), AGX_INVALID_ARGUMENT, "a line of 2000 bytes");
}

/* The corpus' own hashes of what the generators must produce; addresses and images
 * differ from run to run or need a format table. */
static void generators_match_the_corpus(void **state)
{
   char *path = agx_test_path("corpus/hashes.tsv");
   char *text = agx_test_read_file(path, NULL);
   int checked = 0;
   char *save = NULL;
   for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
      char kernel[64], file[128];
      uint64_t want;
      if (sscanf(line, "%63s %*s %*s %" SCNx64, kernel, &want) != 2)
         continue;
      snprintf(file, sizeof(file), "corpus/%s.txt", kernel);
      char *manifest_path = agx_test_path(file);
      struct agx_manifest m;
      assert_ok(agx_manifest_load(manifest_path, &m));
      free(manifest_path);
      uint64_t hash = AGX_FNV_START;
      bool has_image = false;
      for (uint32_t i = 0; i < m.resource_count; i++) {
         const struct agx_manifest_resource *r = &m.resources[i];
         has_image |= r->type >= AGX_MANIFEST_STORAGE_IMAGE;
         if (has_image || r->init.kind == AGX_INIT_ADDRS)
            continue;
         void *data = malloc(r->size_B);
         assert_non_null(data);
         agx_manifest_fill(&r->init, data, r->size_B, NULL, NULL);
         hash = (hash ^ agx_fnv1a(AGX_FNV_START, data, r->size_B)) * 0x100000001b3ull;
         free(data);
      }
      if (has_image)
         continue;
      if (hash != want)
         fail_msg("%s: inputs hash to %016" PRIx64 ", want %016" PRIx64, kernel, hash, want);
      checked++;
   }
   assert_true(checked > 40);
   free(text);
   free(path);
}

static void comparison_says_where(void **state)
{
   struct agx_manifest m = {.compare = AGX_COMPARE_F32, .rtol = 0.1, .atol = 0};
   float got[] = {1, 2, 3.5f}, want[] = {1, 2.1f, 3};
   char text[200];
   assert_false(agx_manifest_compare(&m, got, want, sizeof(got), text, sizeof(text)));
   assert_string_equal(text, "1 elements beyond the tolerance, first [2]: 3.5, want 3");
   m.rtol = 0.2;
   assert_true(agx_manifest_compare(&m, got, want, sizeof(got), text, sizeof(text)));
   m.compare = AGX_COMPARE_EXACT;
   assert_false(agx_manifest_compare(&m, got, want, sizeof(got), text, sizeof(text)));
   assert_non_null(strstr(text, "first at byte 4"));
   m.compare = AGX_COMPARE_MOSTLY;
   m.rtol = 50;
   assert_false(agx_manifest_compare(&m, got, want, sizeof(got), text, sizeof(text)));
   m.rtol = 70;
   assert_true(agx_manifest_compare(&m, got, want, sizeof(got), text, sizeof(text)));
   float nan_got[] = {__builtin_nanf("")}, one[] = {1};
   m.compare = AGX_COMPARE_F32;
   assert_false(agx_manifest_compare(&m, nan_got, one, sizeof(one), text, sizeof(text)));
   assert_false(agx_manifest_compare(&m, one, nan_got, sizeof(one), text, sizeof(text)));
   float infinite[] = {__builtin_inff()};
   assert_false(agx_manifest_compare(&m, one, infinite, sizeof(one), text, sizeof(text)));
   assert_true(agx_manifest_compare(&m, infinite, infinite, sizeof(one), text, sizeof(text)));
}

static void random_text_never_crashes(void **state)
{
   static const char *const words[] = {"buf",      "push",     "img",  "spec",
                                       "cmp",      "dispatch", "0",    "1",
                                       "ssbo",     "addr",     "f32",  "u32",
                                       "zero",     "addrs",    "out",  "4",
                                       "\n",       "\n",       "-",    "99999999999999999999",
                                       "rand_f32", "records",  "slot", "0:u8:1"};
   struct agx_test_rng rng = {.state = 5};
   for (int i = 0; i < 20000; i++) {
      char text[400] = "";
      for (uint64_t n = agx_test_random_below(&rng, 20); n > 0; n--) {
         strcat(text, words[agx_test_random_below(&rng, AGX_COUNT(words))]);
         strcat(text, " ");
      }
      struct agx_manifest m;
      agx_status status = parse(text, &m);
      assert_true(status == AGX_OK || status == AGX_INVALID_ARGUMENT);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_directive),
      cmocka_unit_test(records_describe_structures),
      cmocka_unit_test(files_and_points_fill_buffers),
      cmocka_unit_test(slots_have_a_kind_and_a_count),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(limits_hold),
      cmocka_unit_test(generators_match_the_corpus),
      cmocka_unit_test(comparison_says_where),
      cmocka_unit_test(random_text_never_crashes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
