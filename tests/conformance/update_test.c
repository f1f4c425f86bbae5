/* SPDX-License-Identifier: MIT
 *
 * Updates: bytes of the host's that command buffers and queues take along.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define GUARD 0xa5

/* What tells places apart. */
static uint8_t *scattered(uint64_t size, uint32_t seed)
{
   uint8_t *bytes = malloc(size);
   assert_non_null(bytes);
   for (uint64_t i = 0; i < size; i++)
      bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
   return bytes;
}

static struct agx_buffer *make_buffer(struct fixture *f, uint64_t size, uint8_t **out_bytes)
{
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, size, &words);
   memset(words, GUARD, size);
   *out_bytes = (uint8_t *)words;
   return buffer;
}

/* size bytes with `length` of data at offset, and guards elsewhere. */
static void assert_updated(const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t length,
                           const uint8_t *data)
{
   for (uint64_t i = 0; i < size; i++) {
      uint8_t expected = i >= offset && i - offset < length ? data[i - offset] : GUARD;
      if (bytes[i] != expected)
         fail_msg("byte %llu: %02x, expected %02x", (unsigned long long)i, bytes[i], expected);
   }
}

/* ---- command buffers --------------------------------------------------------- */

static void check_update(void **state, uint64_t size, uint64_t offset, uint64_t length)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *data = scattered(length + 1, 7);
   struct agx_buffer *buffer = make_buffer(f, size, &bytes);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(agx_cmd_update(commands, data, (struct agx_buffer_ref){buffer, offset, length}));
   assert_ok(agx_command_buffer_end(commands));
   uint8_t *kept = scattered(length + 1, 7);
   memset(data, 0, length + 1); /* it was captured */
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(fixture_submit(f, commands, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_updated(bytes, size, offset, length, kept);
   agx_release(done);
   agx_release(commands);
   agx_release(buffer);
   free(kept);
   free(data);
}

static void whole_buffer(void **state)
{
   check_update(state, 8, 0, 8);
   check_update(state, 1001, 0, 1001);
}

static void larger_payload(void **state)
{
   check_update(state, 70000, 0, 65536);
   check_update(state, 70000, 4463, 65536);
   check_update(state, 65535, 0, 65535);
}

static void with_offsets(void **state)
{
   check_update(state, 256, 64, 32);
   check_update(state, 256, 3, 77);
   check_update(state, 256, 255, 1);
}

static void subspan(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *data = scattered(100, 7);
   struct agx_buffer *buffer = make_buffer(f, 64, &bytes);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(agx_cmd_update(commands, data + 13, (struct agx_buffer_ref){buffer, 5, 40}));
   assert_ok(agx_cmd_update(commands, NULL, (struct agx_buffer_ref){buffer, 64, 0}));
   conformance_run(f, commands);
   assert_updated(bytes, 64, 5, 40, data + 13);
   agx_release(commands);
   agx_release(buffer);
   free(data);
}

/* All in one command buffer, side by side but for a byte, and submitted twice. */
static void sizes_and_alignments(void **state)
{
   enum {
      SIZE = 512 << 10
   };
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *data = scattered(8192, 11), *model = malloc(SIZE);
   struct agx_buffer *buffer = make_buffer(f, SIZE, &bytes);
   struct agx_command_buffer *commands = fixture_begin(f);
   uint64_t at = 0;
   assert_non_null(model);
   memset(model, GUARD, SIZE);
   for (uint64_t length = 1; length < 5000; length += length < 40 ? 1 : 973)
      for (uint64_t offset = 0; offset < 18; offset += 1 + length % 4) {
         const uint8_t *from = data + (length * 3 + offset) % 64;
         at = (at + 31) / 32 * 32 + offset;
         assert_true(at + length < SIZE);
         assert_ok(agx_cmd_update(commands, from, (struct agx_buffer_ref){buffer, at, length}));
         memcpy(model + at, from, length);
         at += length + 1;
      }
   conformance_run(f, commands);
   assert_memory_equal(bytes, model, SIZE);
   memset(bytes, GUARD, SIZE);
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(fixture_submit(f, commands, NO_POINT, conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_memory_equal(bytes, model, SIZE);
   agx_release(done);
   agx_release(commands);
   agx_release(buffer);
   free(model);
   free(data);
}

static void refusals_name_what_is_wrong(void **state)
{
   static const uint8_t data[65537];
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 70000, &bytes), *fixed = NULL;
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 64, .flags = AGX_BUFFER_GPU_READ_ONLY, .label = "constants"};
   assert_ok(agx_buffer_create(f->device, &desc, &fixed));
   const struct {
      const void *data;
      struct agx_buffer_ref target;
      agx_status status;
      const char *text;
   } cases[] = {
      {data, {buffer, 0, 65537}, AGX_OUT_OF_RANGE, "65537 bytes; the limit is 65536"},
      {data, {buffer, 70000, 1}, AGX_OUT_OF_RANGE, "length 1"},
      {NULL, {buffer, 0, 1}, AGX_INVALID_ARGUMENT, "NULL"},
      {data, {NULL, 0, 1}, AGX_INVALID_ARGUMENT, "NULL"},
      {data, {fixed, 0, 1}, AGX_INVALID_ARGUMENT, "constants is read-only"},
   };
   struct agx_command_buffer *commands = fixture_begin(f);
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      assert_fails(agx_cmd_update(commands, cases[i].data, cases[i].target), cases[i].status,
                   cases[i].text);
      assert_fails(agx_command_buffer_end(commands), cases[i].status, "earlier");
      assert_ok(agx_command_buffer_begin(commands));
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_fails(agx_cmd_update(commands, data, (struct agx_buffer_ref){buffer, 0, 1}),
                AGX_FAILED_PRECONDITION, "update outside");
   agx_release(commands);
   agx_release(buffer);
   agx_release(fixed);
}

/* ---- queues ------------------------------------------------------------------ */

static agx_status submit(struct fixture *f, const void *data, struct agx_buffer_ref target,
                         struct agx_point wait, struct agx_point signal)
{
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_UPDATE,
                       .waits = &wait,
                       .signals = &signal,
                       .wait_count = wait.semaphore != NULL,
                       .signal_count = signal.semaphore != NULL,
                       .u.update = {data, target}};
   return agx_submit(f->device, &op, 1, NULL);
}

static void check_queue(void **state, uint64_t size, uint64_t offset, uint64_t length,
                        uint64_t from)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *data = scattered(from + length + 1, 5);
   struct agx_buffer *buffer = make_buffer(f, size, &bytes);
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(submit(f, data + from, (struct agx_buffer_ref){buffer, offset, length}, NO_POINT,
                    conformance_point(done, 1)));
   assert_ok(fixture_wait(done, 1));
   assert_updated(bytes, size, offset, length, data + from);
   agx_release(done);
   agx_release(buffer);
   free(data);
}

static void update_entire_buffer(void **state)
{
   check_queue(state, 512, 0, 512, 0);
}

static void update_subrange(void **state)
{
   check_queue(state, 512, 100, 200, 0);
   check_queue(state, 512, 511, 1, 0);
   check_queue(state, 512, 512, 0, 0);
}

static void update_with_source_offset(void **state)
{
   check_queue(state, 512, 64, 100, 37);
}

static void update_larger_than_command_buffer_limit(void **state)
{
   check_queue(state, 65537, 0, 65537, 0);
   check_queue(state, 2 << 20, 3, (2 << 20) - 7, 1);
}

static void update_size_and_alignment_classes(void **state)
{
   static const uint64_t sizes[] = {1, 2, 3, 4, 15, 16, 17, 63, 64, 65, 4095, 4096, 4097};
   for (size_t i = 0; i < AGX_COUNT(sizes); i++)
      for (uint64_t offset = 0; offset < 17; offset += 1 + i % 4)
         check_queue(state, 5000, offset, sizes[i], i);
}

static void update_captures_source_before_wait_resolves(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *data = scattered(100000, 5), *kept = scattered(100000, 5);
   struct agx_buffer *buffer = make_buffer(f, 100000, &bytes);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   assert_ok(submit(f, data, (struct agx_buffer_ref){buffer, 0, 100000}, conformance_point(go, 1),
                    conformance_point(done, 1)));
   memset(data, 0xee, 100000);
   free(data);
   assert_int_equal(bytes[0], GUARD);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   assert_memory_equal(bytes, kept, 100000);
   agx_release(go);
   agx_release(done);
   agx_release(buffer);
   free(kept);
}

static void chained_update_then_copy(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *from, *to, *data = scattered(300, 5);
   struct agx_buffer *source = make_buffer(f, 300, &from), *target = make_buffer(f, 300, &to);
   struct agx_semaphore *chain = fixture_semaphore(f);
   struct agx_point wait = conformance_point(chain, 1), signal = conformance_point(chain, 2);
   const struct agx_op copy = {.size = sizeof(copy),
                               .kind = AGX_OP_COPY,
                               .waits = &wait,
                               .signals = &signal,
                               .wait_count = 1,
                               .signal_count = 1,
                               .u.copy = {{source, 1, 200}, {target, 50, 200}}};
   assert_ok(submit(f, data, (struct agx_buffer_ref){source, 0, AGX_WHOLE_LENGTH}, NO_POINT, wait));
   assert_ok(agx_submit(f->device, &copy, 1, NULL));
   assert_ok(fixture_wait(chain, 2));
   assert_updated(to, 300, 50, 200, data + 1);
   agx_release(chain);
   agx_release(source);
   agx_release(target);
   free(data);
}

/* One behind the other without waiting, from memory that is used again at once. */
static void bursts_of_updates(void **state)
{
   enum {
      BURST = 100,
      EACH = 41
   };
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *all = scattered(BURST * EACH, 17), data[EACH];
   struct agx_buffer *buffer = make_buffer(f, BURST * EACH, &bytes);
   struct agx_semaphore *done[BURST];
   for (uint64_t i = 0; i < BURST; i++) {
      memcpy(data, all + i * EACH, EACH);
      done[i] = fixture_semaphore(f);
      assert_ok(submit(f, data, (struct agx_buffer_ref){buffer, i * EACH, EACH}, NO_POINT,
                       conformance_point(done[i], 1)));
   }
   for (int i = 0; i < BURST; i++) {
      assert_ok(fixture_wait(done[i], 1));
      agx_release(done[i]);
   }
   assert_memory_equal(bytes, all, BURST * EACH);
   agx_release(buffer);
   free(all);
}

static void queues_refuse_as_well(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 64, &bytes);
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_fails(
      submit(f, NULL, (struct agx_buffer_ref){buffer, 0, 4}, NO_POINT, conformance_point(done, 1)),
      AGX_INVALID_ARGUMENT, "NULL");
   assert_fails(submit(f, bytes, (struct agx_buffer_ref){buffer, 61, 4}, NO_POINT,
                       conformance_point(done, 1)),
                AGX_OUT_OF_RANGE, "offset 61");
   agx_release(done);
   agx_release(buffer);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_buffer),
      cmocka_unit_test(larger_payload),
      cmocka_unit_test(with_offsets),
      cmocka_unit_test(subspan),
      cmocka_unit_test(sizes_and_alignments),
      cmocka_unit_test(refusals_name_what_is_wrong),
      cmocka_unit_test(update_entire_buffer),
      cmocka_unit_test(update_subrange),
      cmocka_unit_test(update_with_source_offset),
      cmocka_unit_test(update_larger_than_command_buffer_limit),
      cmocka_unit_test(update_size_and_alignment_classes),
      cmocka_unit_test(update_captures_source_before_wait_resolves),
      cmocka_unit_test(chained_update_then_copy),
      cmocka_unit_test(bursts_of_updates),
      cmocka_unit_test(queues_refuse_as_well),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
