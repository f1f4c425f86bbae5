/* SPDX-License-Identifier: MIT
 *
 * Fills in command buffers: every size, place and pattern, against memset's model, and never a
 * byte beside.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 0xa5

static void fill(struct agx_command_buffer *commands, struct agx_buffer *buffer, uint64_t offset,
                 uint64_t length, uint32_t pattern, uint32_t pattern_B)
{
   assert_ok(
      agx_cmd_fill(commands, (struct agx_buffer_ref){buffer, offset, length}, &pattern, pattern_B));
}

static void model_fill(uint8_t *bytes, uint64_t length, uint32_t pattern, uint32_t pattern_B)
{
   for (uint64_t i = 0; i < length; i++)
      bytes[i] = (uint8_t)(pattern >> i % pattern_B * 8);
}

/* One fill in a buffer of `size` bytes. */
static void check_one(void **state, uint32_t pattern, uint32_t pattern_B, uint64_t size,
                      uint64_t offset, uint64_t length)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   uint8_t model[64];
   struct agx_buffer *buffer = fixture_buffer(f, size, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   memset(words, GUARD, size);
   memset(model, GUARD, sizeof(model));
   model_fill(model + offset, length, pattern, pattern_B);
   fill(commands, buffer, offset, length, pattern, pattern_B);
   conformance_run(f, commands);
   assert_memory_equal(words, model, size);
   agx_release(commands);
   agx_release(buffer);
}

/* Buffers are as large as the fill needs, at least. */
#define CASE(pattern_B, size, offset, length)                                                      \
   static void pattern##pattern_B##_size##size##_offset##offset##_length##length(void **state)     \
   {                                                                                               \
      check_one(state, 0x07a35c19, pattern_B, size > offset + length ? size : offset + length,     \
                offset, length);                                                                   \
   }
CASE(1, 1, 0, 1)
CASE(1, 5, 0, 5)
CASE(1, 16, 0, 1)
CASE(1, 16, 0, 3)
CASE(1, 16, 0, 8)
CASE(1, 16, 2, 8)
CASE(2, 2, 0, 2)
CASE(2, 16, 0, 8)
CASE(2, 16, 0, 10)
CASE(2, 16, 2, 8)
CASE(4, 4, 0, 4)
CASE(4, 4, 16, 4)
CASE(4, 16, 0, 8)
CASE(4, 16, 8, 8)

/* ---- sweeps -------------------------------------------------------------- */

struct sweep {
   struct fixture *f;
   struct agx_buffer *buffer;
   uint8_t *bytes, *model;
   uint64_t used, size;
   struct agx_command_buffer *commands;
};

static void sweep_begin(struct sweep *sweep, struct fixture *f, uint64_t size)
{
   uint32_t *words;
   *sweep = (struct sweep){.f = f, .size = size};
   sweep->buffer = fixture_buffer(f, size, &words);
   sweep->bytes = (uint8_t *)words;
   sweep->model = malloc(size);
   assert_non_null(sweep->model);
   memset(sweep->bytes, GUARD, size);
   memset(sweep->model, GUARD, size);
   sweep->commands = fixture_begin(f);
}

/* One fill more, in a place of its own with guards around, at `offset` modulo 32. */
static void sweep_fill(struct sweep *sweep, uint64_t offset, uint64_t length, uint32_t pattern_B)
{
   uint32_t pattern = (uint32_t)sweep->used * 2654435761u + 0x01020304;
   uint64_t at = (sweep->used + 31) / 32 * 32 + offset;
   assert_true(at + length + 8 <= sweep->size);
   fill(sweep->commands, sweep->buffer, at, length, pattern, pattern_B);
   model_fill(sweep->model + at, length, pattern, pattern_B);
   sweep->used = at + length + 1;
}

static void sweep_end(struct sweep *sweep)
{
   conformance_run(sweep->f, sweep->commands);
   for (uint64_t i = 0; i < sweep->size; i++)
      if (sweep->bytes[i] != sweep->model[i])
         fail_msg("byte %llu: %02x, expected %02x", (unsigned long long)i, sweep->bytes[i],
                  sweep->model[i]);
   agx_release(sweep->commands);
   agx_release(sweep->buffer);
   free(sweep->model);
}

/* Guards of one byte between neighbours: a store of anything but the fill's own bytes would hit
 * another, and no barrier orders them. */
static void fill_size_alignment_and_pattern_classes(void **state)
{
   static const uint32_t boundaries[] = {127,  128,  129,  255,  257,  1023, 1040, 4095,
                                         4096, 4097, 4111, 4112, 8191, 8209, 12345};
   struct fixture *f = conformance_device(state);
   struct sweep sweep;
   for (uint32_t pattern_B = 1; pattern_B <= 4; pattern_B *= 2) {
      sweep_begin(&sweep, f, 512 << 10);
      for (uint64_t length = 0; length <= 70; length += pattern_B)
         for (uint64_t offset = 0; offset <= 17; offset += pattern_B)
            sweep_fill(&sweep, offset, length, pattern_B);
      for (size_t i = 0; i < sizeof(boundaries) / sizeof(boundaries[0]); i++)
         for (uint64_t offset = 0; offset <= 17; offset += pattern_B * 3)
            sweep_fill(&sweep, offset, boundaries[i] / pattern_B * pattern_B, pattern_B);
      sweep_end(&sweep);
   }
}

/* Commands without a barrier between them fill what lies side by side, down to single bytes. */
static void neighbours_may_be_filled_at_once(void **state)
{
   enum {
      SIZE = 24000
   };
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   static uint8_t model[SIZE];
   struct agx_buffer *buffer = fixture_buffer(f, SIZE, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   uint64_t length = 1;
   for (uint64_t at = 0; at < SIZE; at += length) {
      length = at % 7919 == 1 ? 5000 : (at * 31 + 7) % 53;
      length = at + length > SIZE ? SIZE - at : length ? length : 1;
      fill(commands, buffer, at, length, (uint32_t)(at * 13 + 5), 1);
      model_fill(model + at, length, (uint32_t)(at * 13 + 5), 1);
   }
   conformance_run(f, commands);
   assert_memory_equal(words, model, SIZE);
   agx_release(commands);
   agx_release(buffer);
}

static void whole_buffers_and_views_of_zero_bytes(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 4099, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   fill(commands, buffer, 1, AGX_WHOLE_LENGTH, 0x42, 1);
   fill(commands, buffer, 4099, 0, 1, 1);
   fill(commands, buffer, 4099, AGX_WHOLE_LENGTH, 1, 1);
   conformance_run(f, commands);
   assert_int_equal(((uint8_t *)words)[0], 0);
   for (int i = 1; i < 4099; i++)
      assert_int_equal(((uint8_t *)words)[i], 0x42);
   agx_release(commands);
   agx_release(buffer);
}

/* Behind what 32 bits count. The virtual device gives memory when it is touched. */
static void behind_four_gigabytes(void **state)
{
   const uint64_t size = (5ull << 30) + 3, at = (4ull << 30) + 5;
   struct fixture *f = conformance_device(state);
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size};
   struct agx_buffer *buffer = NULL;
   void *memory = NULL;
   if (agx_buffer_create(f->device, &desc, &buffer) != AGX_OK ||
       agx_buffer_map(buffer, &memory) != AGX_OK) {
      agx_release(buffer);
      skip();
   }
   const uint8_t *bytes = memory;
   struct agx_command_buffer *commands = fixture_begin(f);
   fill(commands, buffer, at, 40, 0x11223344, 1);
   fill(commands, buffer, size - 2, 2, 0x55, 1);
   fill(commands, buffer, (1ull << 32) - 3, 6, 0x66, 1);
   conformance_run(f, commands);
   assert_int_equal(bytes[at - 1], 0);
   assert_int_equal(bytes[at], 0x44);
   assert_int_equal(bytes[at + 39], 0x44);
   assert_int_equal(bytes[at + 40], 0);
   assert_int_equal(bytes[size - 3], 0);
   assert_int_equal(bytes[size - 1], 0x55);
   assert_int_equal(bytes[(1ull << 32) - 4], 0);
   assert_int_equal(bytes[(1ull << 32) - 3], 0x66);
   assert_int_equal(bytes[(1ull << 32) + 2], 0x66);
   assert_int_equal(bytes[(1ull << 32) + 3], 0);
   agx_release(commands);
   agx_release(buffer);
}

static void refusals_name_what_is_wrong(void **state)
{
   struct fixture *f = conformance_device(state), other;
   conformance_open_another(&other);
   uint32_t *words;
   const uint32_t pattern = 1;
   struct agx_buffer *buffer = fixture_buffer(f, 64, &words),
                     *theirs = fixture_buffer(&other, 64, &words), *fixed = NULL, *input = NULL;
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 64, .flags = AGX_BUFFER_GPU_READ_ONLY, .label = "constants"};
   assert_ok(agx_buffer_create(f->device, &desc, &fixed));
   desc = (struct agx_buffer_desc){
      .size = sizeof(desc), .size_B = 64, .usage = AGX_USAGE_TRANSFER_SOURCE, .label = "input"};
   assert_ok(agx_buffer_create(f->device, &desc, &input));
   const struct {
      struct agx_buffer_ref target;
      const void *pattern;
      uint32_t pattern_B;
      agx_status status;
      const char *text;
   } cases[] = {
      {{buffer, 0, 65}, &pattern, 1, AGX_OUT_OF_RANGE, "length 65"},
      {{buffer, 65, 0}, &pattern, 1, AGX_OUT_OF_RANGE, "offset 65"},
      {{buffer, 65, AGX_WHOLE_LENGTH}, &pattern, 1, AGX_OUT_OF_RANGE, "offset 65"},
      {{buffer, UINT64_MAX - 1, 8}, &pattern, 1, AGX_OUT_OF_RANGE, "64 bytes"},
      {{buffer, 0, 8}, &pattern, 3, AGX_INVALID_ARGUMENT, "pattern of 3 bytes"},
      {{buffer, 0, 8}, &pattern, 8, AGX_INVALID_ARGUMENT, "pattern of 8 bytes"},
      {{buffer, 0, 8}, &pattern, 0, AGX_INVALID_ARGUMENT, "pattern of 0 bytes"},
      {{buffer, 0, 8}, NULL, 1, AGX_INVALID_ARGUMENT, "pattern"},
      {{buffer, 2, 8}, &pattern, 4, AGX_INVALID_ARGUMENT, "offset 2"},
      {{buffer, 0, 7}, &pattern, 2, AGX_INVALID_ARGUMENT, "length 7"},
      {{NULL, 0, 8}, &pattern, 1, AGX_INVALID_ARGUMENT, "NULL"},
      {{theirs, 0, 8}, &pattern, 1, AGX_INVALID_ARGUMENT, "another device"},
      {{fixed, 0, 8}, &pattern, 1, AGX_INVALID_ARGUMENT, "constants is read-only"},
      {{input, 0, 8},
       &pattern,
       1,
       AGX_PERMISSION_DENIED,
       "input was made without AGX_USAGE_TRANSFER_TARGET"},
   };
   struct agx_command_buffer *commands = fixture_begin(f);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      assert_fails(agx_cmd_fill(commands, cases[i].target, cases[i].pattern, cases[i].pattern_B),
                   cases[i].status, cases[i].text);
      assert_fails(agx_command_buffer_end(commands), cases[i].status, "earlier");
      assert_ok(agx_command_buffer_begin(commands));
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_fails(agx_cmd_fill(commands, (struct agx_buffer_ref){buffer, 0, 8}, &pattern, 1),
                AGX_FAILED_PRECONDITION, "fill outside");
   agx_release(commands);
   agx_release(buffer);
   agx_release(fixed);
   agx_release(input);
   agx_release(theirs);
   fixture_close(&other);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(pattern1_size1_offset0_length1),
      cmocka_unit_test(pattern1_size5_offset0_length5),
      cmocka_unit_test(pattern1_size16_offset0_length1),
      cmocka_unit_test(pattern1_size16_offset0_length3),
      cmocka_unit_test(pattern1_size16_offset0_length8),
      cmocka_unit_test(pattern1_size16_offset2_length8),
      cmocka_unit_test(pattern2_size2_offset0_length2),
      cmocka_unit_test(pattern2_size16_offset0_length8),
      cmocka_unit_test(pattern2_size16_offset0_length10),
      cmocka_unit_test(pattern2_size16_offset2_length8),
      cmocka_unit_test(pattern4_size4_offset0_length4),
      cmocka_unit_test(pattern4_size4_offset16_length4),
      cmocka_unit_test(pattern4_size16_offset0_length8),
      cmocka_unit_test(pattern4_size16_offset8_length8),
      cmocka_unit_test(fill_size_alignment_and_pattern_classes),
      cmocka_unit_test(neighbours_may_be_filled_at_once),
      cmocka_unit_test(whole_buffers_and_views_of_zero_bytes),
      cmocka_unit_test(behind_four_gigabytes),
      cmocka_unit_test(refusals_name_what_is_wrong),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
