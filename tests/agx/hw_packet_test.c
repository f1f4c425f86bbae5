/* SPDX-License-Identifier: MIT
 *
 * The packet engine against hw_vectors.tsv (bytes made by independent packers and
 * recorded on an M1), the group encoding, and hostile bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/hw/packet.h"
#include "base/util.h"
#include "support.h"

union values {
   uint8_t bytes[AGX_HW_MAX_STRUCT_BYTES];
   uint64_t align;
};

#define ROW(id) &agx_hw_##id##_packet,
static const struct agx_hw_packet *const all_packets[] = {AGX_HW_PACKETS(ROW)};
#undef ROW

static const struct agx_hw_packet *find_packet(const char *name)
{
   for (size_t i = 0; i < AGX_COUNT(all_packets); i++)
      if (!strcmp(all_packets[i]->name, name))
         return all_packets[i];
   fail_msg("no packet %s", name);
   return NULL;
}

static const struct agx_hw_field *find_field(const struct agx_hw_packet *packet, const char *name)
{
   for (uint32_t i = 0; i < packet->field_count; i++)
      if (!strcmp(packet->fields[i].name, name))
         return &packet->fields[i];
   fail_msg("%s has no field %s", packet->name, name);
   return NULL;
}

static uint64_t value_of(const struct agx_hw_field *field, const char *text)
{
   if (field->values)
      for (uint32_t i = 0; i < field->values->count; i++)
         if (!strcmp(field->values->values[i].name, text))
            return field->values->values[i].value;
   if (field->kind == AGX_HW_FLOAT || field->kind == AGX_HW_HALF || field->kind == AGX_HW_LOD) {
      float number = strtof(text, NULL);
      return agx_load_u32(&number);
   }
   return strtoull(text, NULL, 0);
}

static void set_field(const struct agx_hw_packet *packet, union values *values, const char *name,
                      const char *text)
{
   const struct agx_hw_field *field = find_field(packet, name);
   uint64_t wide = value_of(field, text);
   uint32_t narrow = (uint32_t)wide;
   if (field->is_constant)
      assert_true(wide == field->constant);
   else if (field->size == 8)
      memcpy(values->bytes + field->offset, &wide, 8);
   else if (field->size == 4)
      memcpy(values->bytes + field->offset, &narrow, 4);
   else
      values->bytes[field->offset] = narrow != 0;
}

/* "Name=value; Name=value" over the packet's defaults, which zero bits stand for. */
static void set_fields(const struct agx_hw_packet *packet, union values *values, char *text)
{
   static const uint8_t zeros[AGX_HW_MAX_PACKET_BYTES];
   memset(values, 0, sizeof(*values));
   agx_status ignored = agx_hw_unpack(packet, zeros, values); /* constants are missing */
   (void)ignored;
   for (char *end, *at = strcmp(text, "-") ? text : NULL; at; at = end ? end + 2 : NULL) {
      end = strstr(at, "; ");
      if (end)
         *end = 0;
      char *equal = strchr(at, '=');
      assert_non_null(equal);
      *equal = 0;
      set_field(packet, values, at, equal + 1);
   }
}

static size_t from_hex(const char *hex, uint8_t *bytes)
{
   size_t count = strlen(hex) / 2;
   for (size_t i = 0; i < count; i++) {
      unsigned byte;
      assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
      bytes[i] = (uint8_t)byte;
   }
   return count;
}

static void check_vector(char *columns[4])
{
   const struct agx_hw_packet *packet = find_packet(columns[1]);
   union values values, again;
   uint8_t expected[AGX_HW_MAX_PACKET_BYTES], out[AGX_HW_MAX_PACKET_BYTES];
   set_fields(packet, &values, columns[3]);
   if (!strcmp(columns[2], "refused")) {
      memset(out, 0xa5, sizeof(out));
      agx_status status = agx_hw_pack(packet, &values, out);
      assert_true(status == AGX_OUT_OF_RANGE || status == AGX_INVALID_ARGUMENT);
      assert_int_equal(out[0], 0xa5);
      assert_non_null(strstr(agx_error_peek(), packet->name));
      return;
   }
   assert_int_equal(from_hex(columns[2], expected), packet->size_B);
   assert_ok(agx_hw_pack(packet, &values, out));
   if (memcmp(out, expected, packet->size_B))
      fail_msg("%s packs to other bytes", columns[0]);
   assert_ok(agx_hw_unpack(packet, expected, &again));
   memset(out, 0, sizeof(out));
   assert_ok(agx_hw_pack(packet, &again, out));
   assert_memory_equal(out, expected, packet->size_B);
}

static void test_vectors(void **state)
{
   char *path = agx_test_path("agx/hw_vectors.tsv");
   size_t size, count = 0;
   char *text = agx_test_read_file(path, &size);
   for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
      if (line[0] == '#')
         continue;
      char *columns[4] = {line};
      for (int i = 1; i < 4; i++) {
         columns[i] = strchr(columns[i - 1], '\t');
         assert_non_null(columns[i]);
         *columns[i]++ = 0;
      }
      check_vector(columns);
      count++;
   }
   assert_int_equal(count, 120);
   free(text);
   free(path);
}

/* The rounding of counts to groups, whose numbers differ only by unit and width. */
static void test_groups(void **state)
{
   static const struct {
      uint32_t value, unit, width, raw;
   } cases[] = {{0, 64, 3, 1},    {1, 64, 3, 1},        {64, 64, 3, 1},    {65, 64, 3, 2},
                {512, 64, 3, 0},  {0, 8, 5, 1},         {8, 8, 5, 1},      {9, 8, 5, 2},
                {104, 8, 5, 13},  {248, 8, 5, 31},      {256, 8, 5, 0},    {1, 1, 6, 1},
                {63, 1, 6, 63},   {64, 1, 6, 0},        {0, 16, 4, 1},     {16, 16, 4, 1},
                {240, 16, 4, 15}, {256, 16, 4, 0},      {0, 256, 8, 1},    {1, 256, 8, 1},
                {256, 256, 8, 1}, {32768, 256, 8, 128}, {65536, 256, 8, 0}};
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_hw_field field = {.name = "count",
                                   .encoding = AGX_HW_GROUPS,
                                   .width = cases[i].width,
                                   .parameter = cases[i].unit,
                                   .size = 4};
      struct agx_hw_packet packet = {"groups", 4, 4, &field, 1, (const uint8_t *)"\xff"};
      uint8_t out[4];
      uint32_t value = cases[i].value;
      assert_ok(agx_hw_pack(&packet, &value, out));
      assert_int_equal(out[0], cases[i].raw);
      value = (cases[i].unit << cases[i].width) + 1;
      assert_fails(agx_hw_pack(&packet, &value, out), AGX_OUT_OF_RANGE, "too large");
   }
}

static void test_error_names_value(void **state)
{
   struct agx_hw_usc_uniform uniform = agx_hw_usc_uniform_default();
   uint8_t out[AGX_HW_USC_UNIFORM_BYTES];
   uniform.start_halfs = 300;
   assert_fails(agx_hw_usc_uniform_pack(&uniform, out), AGX_OUT_OF_RANGE,
                "USC Uniform: Start (halfs): 300");
   struct agx_hw_cdm_launch_word_0 launch = agx_hw_cdm_launch_word_0_default();
   launch.sampler_state_register_count = 5;
   assert_fails(agx_hw_cdm_launch_word_0_pack(&launch, out), AGX_INVALID_ARGUMENT, "no name");
}

/* Words that no packer makes are reported, and read nevertheless. */
static void test_unpack_reports(void **state)
{
   struct agx_hw_cdm_launch_word_0 launch;
   assert_fails(agx_hw_cdm_launch_word_0_unpack("\x02\x00\x00\x20", &launch), AGX_DATA_LOSS,
                "Block Type: 1");
   assert_int_equal(launch.uniform_register_count, 64);
   assert_fails(agx_hw_cdm_launch_word_0_unpack("\x03\x00\x00\x00", &launch), AGX_DATA_LOSS,
                "bit 0");
   struct agx_hw_usc_preshader preshader;
   assert_fails(agx_hw_usc_preshader_unpack("\x38\x00\x80\xc1\0\0\0\0", &preshader), AGX_DATA_LOSS,
                "Unk");
}

static void test_print(void **state)
{
   char line[128];
   struct agx_hw_text text = {line, sizeof(line)};
   struct agx_hw_cdm_launch_word_0 launch = agx_hw_cdm_launch_word_0_default();
   launch.uniform_register_count = 64;
   launch.mode = AGX_HW_CDM_MODE_INDIRECT_LOCAL;
   agx_hw_cdm_launch_word_0_print(&launch, &text);
   assert_string_equal(line, "CDM Launch Word 0: Uniform register count=64, Texture state register "
                             "count=256, Preshader register count=256, Mode=Indirect loc");
   assert_true(text.length > sizeof(line)); /* goes on counting */
}

/* Any bytes: unpack and print never go astray, and what unpacks well packs back. */
static void test_random_bytes(void **state)
{
   struct agx_test_rng rng = {0x9e3779b97f4a7c15};
   for (size_t i = 0; i < AGX_COUNT(all_packets); i++) {
      const struct agx_hw_packet *packet = all_packets[i];
      assert_true(packet->size_B <= AGX_HW_MAX_PACKET_BYTES);
      assert_true(packet->struct_size <= AGX_HW_MAX_STRUCT_BYTES);
      for (int round = 0; round < 50; round++) {
         uint8_t bytes[AGX_HW_MAX_PACKET_BYTES], out[AGX_HW_MAX_PACKET_BYTES];
         union values values;
         char line[64];
         struct agx_hw_text text = {line, sizeof(line)};
         for (size_t j = 0; j < sizeof(bytes); j++)
            bytes[j] = (uint8_t)agx_test_random(&rng);
         agx_status unpacked = agx_hw_unpack(packet, bytes, &values);
         agx_hw_print(packet, &values, &text);
         agx_status packed = agx_hw_pack(packet, &values, out);
         if (unpacked == AGX_OK && packed == AGX_OK && !strstr(packet->name, "Sampler"))
            assert_memory_equal(out, bytes, packet->size_B);
      }
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_error_names_value),
      cmocka_unit_test(test_unpack_reports),
      cmocka_unit_test(test_print),
      cmocka_unit_test(test_random_bytes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
