/* SPDX-License-Identifier: MIT
 *
 * Copies in command buffers: every size and both alignments, against memcpy, and never a byte
 * beside.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define GUARD 0xa5

struct pair {
   struct fixture *f;
   struct agx_buffer *source, *target;
   uint8_t *from, *to, *model;
   uint64_t size;
   struct agx_command_buffer *commands;
};

/* The source holds what tells places apart. */
static void pair_begin(struct pair *pair, void **state, uint64_t size)
{
   uint32_t *words, seed = 12345;
   *pair = (struct pair){.f = conformance_device(state), .size = size};
   pair->source = fixture_buffer(pair->f, size, &words);
   pair->from = (uint8_t *)words;
   pair->target = fixture_buffer(pair->f, size, &words);
   pair->to = (uint8_t *)words;
   pair->model = malloc(size);
   assert_non_null(pair->model);
   for (uint64_t i = 0; i < size; i++)
      pair->from[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
   memset(pair->to, GUARD, size);
   memset(pair->model, GUARD, size);
   pair->commands = fixture_begin(pair->f);
}

static void pair_copy(struct pair *pair, uint64_t from, uint64_t to, uint64_t length)
{
   assert_true(from + length <= pair->size && to + length <= pair->size);
   assert_ok(agx_cmd_copy(pair->commands, (struct agx_buffer_ref){pair->source, from, length},
                          (struct agx_buffer_ref){pair->target, to, length}));
   memcpy(pair->model + to, pair->from + from, length);
}

static void pair_end(struct pair *pair)
{
   conformance_run(pair->f, pair->commands);
   for (uint64_t i = 0; i < pair->size; i++)
      if (pair->to[i] != pair->model[i])
         fail_msg("byte %llu: %02x, expected %02x", (unsigned long long)i, pair->to[i],
                  pair->model[i]);
   agx_release(pair->commands);
   agx_release(pair->source);
   agx_release(pair->target);
   free(pair->model);
}

static void copy_whole_buffer(void **state)
{
   static const uint64_t sizes[] = {1, 4, 100, 4096, 65537};
   struct pair pair;
   for (size_t i = 0; i < AGX_COUNT(sizes); i++) {
      pair_begin(&pair, state, sizes[i]);
      pair_copy(&pair, 0, 0, sizes[i]);
      pair_end(&pair);
   }
}

static void copy_sub_buffer(void **state)
{
   struct pair pair;
   pair_begin(&pair, state, 1000);
   pair_copy(&pair, 100, 500, 300);
   pair_copy(&pair, 401, 7, 77);
   pair_end(&pair);
}

/* Guards of one byte between neighbours, and no barrier orders them. */
static void copy_size_and_alignment_classes(void **state)
{
   static const uint32_t longer[] = {127, 128, 255, 257, 1024, 4095, 4096, 4097, 4115, 8192, 8215};
   struct pair pair;
   for (uint64_t from = 0; from < 18; from++) {
      uint64_t at = 0;
      pair_begin(&pair, state, 128 << 10);
      for (uint64_t length = 0; length <= 70; length += 1 + length / 24)
         for (uint64_t to = 0; to <= 17; to += 1 + length % 3) {
            at = (at + 31) / 32 * 32 + to;
            pair_copy(&pair, from + (at * 7 & ~31ull) % 4096, at, length);
            at += length + 1;
         }
      for (size_t i = 0; i < AGX_COUNT(longer); i++) {
         at = (at + 31) / 32 * 32 + (from * 5 + i * 3) % 18;
         pair_copy(&pair, from + 32 * i, at, longer[i]);
         at += longer[i] + 1;
      }
      pair_end(&pair);
   }
}

/* Commands without a barrier between them write what lies side by side. */
static void neighbours_may_be_written_at_once(void **state)
{
   struct pair pair;
   uint64_t length = 1;
   pair_begin(&pair, state, 24000);
   for (uint64_t at = 0; at < pair.size; at += length) {
      length = at % 7919 == 1 ? 5000 : 1 + (at * 31 + 7) % 53;
      length = at + length > pair.size ? pair.size - at : length;
      pair_copy(&pair, (at * 17 + 3) % (pair.size - length + 1), at, length);
   }
   pair_end(&pair);
}

static void within_one_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   uint8_t *bytes = (uint8_t *)words;
   for (int i = 0; i < 100; i++)
      bytes[i] = (uint8_t)(i + 1);
   assert_ok(agx_cmd_copy(commands, (struct agx_buffer_ref){buffer, 0, 100},
                          (struct agx_buffer_ref){buffer, 100, 100}));
   conformance_run(f, commands);
   for (int i = 0; i < 256; i++)
      assert_int_equal(bytes[i], i < 200 ? i % 100 + 1 : 0);
   agx_release(commands);
   agx_release(buffer);
}

static void refusals_name_what_is_wrong(void **state)
{
   struct fixture *f = conformance_device(state), other;
   conformance_open_another(&other);
   uint32_t *words;
   struct agx_buffer *a = fixture_buffer(f, 64, &words), *b = fixture_buffer(f, 64, &words),
                     *theirs = fixture_buffer(&other, 64, &words), *fixed = NULL, *output = NULL;
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 64, .flags = AGX_BUFFER_GPU_READ_ONLY, .label = "constants"};
   assert_ok(agx_buffer_create(f->device, &desc, &fixed));
   desc = (struct agx_buffer_desc){
      .size = sizeof(desc), .size_B = 64, .usage = AGX_USAGE_TRANSFER_TARGET, .label = "output"};
   assert_ok(agx_buffer_create(f->device, &desc, &output));
   const struct {
      struct agx_buffer_ref source, target;
      agx_status status;
      const char *text;
   } cases[] = {
      {{a, 0, 65}, {b, 0, 64}, AGX_OUT_OF_RANGE, "length 65"},
      {{a, 0, 64}, {b, 1, 64}, AGX_OUT_OF_RANGE, "offset 1"},
      {{a, 0, 8}, {b, 0, 9}, AGX_INVALID_ARGUMENT, "8 bytes to a range of 9"},
      {{a, 0, 8}, {a, 7, 8}, AGX_INVALID_ARGUMENT, "overlap"},
      {{a, 7, 8}, {a, 0, 8}, AGX_INVALID_ARGUMENT, "overlap"},
      {{a, 0, 64}, {a, 0, 64}, AGX_INVALID_ARGUMENT, "overlap"},
      {{NULL, 0, 8}, {a, 0, 8}, AGX_INVALID_ARGUMENT, "NULL"},
      {{a, 0, 8}, {NULL, 0, 8}, AGX_INVALID_ARGUMENT, "NULL"},
      {{theirs, 0, 8}, {a, 0, 8}, AGX_INVALID_ARGUMENT, "another device"},
      {{a, 0, 8}, {theirs, 0, 8}, AGX_INVALID_ARGUMENT, "another device"},
      {{a, 0, 8}, {fixed, 0, 8}, AGX_INVALID_ARGUMENT, "constants is read-only"},
      {{output, 0, 8},
       {a, 0, 8},
       AGX_PERMISSION_DENIED,
       "output was made without AGX_USAGE_TRANSFER_SOURCE"},
   };
   struct agx_command_buffer *commands = fixture_begin(f);
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      assert_fails(agx_cmd_copy(commands, cases[i].source, cases[i].target), cases[i].status,
                   cases[i].text);
      assert_fails(agx_command_buffer_end(commands), cases[i].status, "earlier");
      assert_ok(agx_command_buffer_begin(commands));
   }
   /* Side by side, nothing at all, and out of read-only memory. */
   assert_ok(
      agx_cmd_copy(commands, (struct agx_buffer_ref){a, 0, 8}, (struct agx_buffer_ref){a, 8, 8}));
   assert_ok(
      agx_cmd_copy(commands, (struct agx_buffer_ref){a, 64, 0}, (struct agx_buffer_ref){a, 64, 0}));
   assert_ok(agx_cmd_copy(commands, (struct agx_buffer_ref){fixed, 0, 64},
                          (struct agx_buffer_ref){b, 0, AGX_WHOLE_LENGTH}));
   conformance_run(f, commands);
   assert_fails(
      agx_cmd_copy(commands, (struct agx_buffer_ref){a, 0, 8}, (struct agx_buffer_ref){b, 0, 8}),
      AGX_FAILED_PRECONDITION, "copy outside");
   agx_release(commands);
   agx_release(a);
   agx_release(b);
   agx_release(fixed);
   agx_release(output);
   agx_release(theirs);
   fixture_close(&other);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(copy_whole_buffer),
      cmocka_unit_test(copy_sub_buffer),
      cmocka_unit_test(copy_size_and_alignment_classes),
      cmocka_unit_test(neighbours_may_be_written_at_once),
      cmocka_unit_test(within_one_buffer),
      cmocka_unit_test(refusals_name_what_is_wrong),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
