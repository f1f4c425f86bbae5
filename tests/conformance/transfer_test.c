/* SPDX-License-Identifier: MIT
 *
 * Transfers and dispatches as operations of a queue: their bytes, their order, and that all they
 * need is captured in the call.
 */
#include "transfer_scene.h"

/* ---- fill ------------------------------------------------------------------ */

static void check_fill(void **state, uint64_t size, uint64_t offset, uint64_t length,
                       uint32_t pattern_B)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, *model = malloc(size);
   struct agx_buffer *buffer = make_buffer(f, size, GUARD, &bytes);
   assert_non_null(model);
   memset(model, GUARD, size);
   model_fill(model + offset, length, 0x9badcafe, pattern_B);
   run(f, fill_op(buffer, offset, length, 0x9badcafe, pattern_B));
   assert_memory_equal(bytes, model, size);
   agx_release(buffer);
   free(model);
}

static void fill_entire_buffer_1_byte(void **state)
{
   check_fill(state, 1000, 0, 1000, 1);
}

static void fill_entire_buffer_2_byte(void **state)
{
   check_fill(state, 1000, 0, 1000, 2);
}

static void fill_entire_buffer_4_byte(void **state)
{
   check_fill(state, 1000, 0, 1000, 4);
}

static void fill_subrange(void **state)
{
   check_fill(state, 1000, 100, 700, 4);
   check_fill(state, 1000, 333, 5, 1);
   check_fill(state, 1000, 999, 1, 1);
   check_fill(state, 1000, 500, 0, 4);
}

static void fill_large_buffer(void **state)
{
   check_fill(state, (4 << 20) + 7, 0, (4 << 20) + 7, 1);
}

static void fill_size_alignment_and_pattern_classes(void **state)
{
   static const uint32_t sizes[] = {1, 3, 4, 15, 16, 17, 31, 33, 64, 255, 4096, 4099};
   struct fixture *f = conformance_device(state);
   uint8_t *bytes, model[8192];
   struct agx_buffer *buffer = make_buffer(f, sizeof(model), GUARD, &bytes);
   memset(model, GUARD, sizeof(model));
   struct agx_semaphore *done = fixture_semaphore(f);
   uint64_t value = 0;
   for (uint32_t pattern_B = 1; pattern_B <= 4; pattern_B *= 2)
      for (size_t i = 0; i < AGX_COUNT(sizes); i++)
         for (uint32_t offset = 0; offset < 20; offset += 5) {
            uint64_t at = offset * pattern_B, length = (uint64_t)sizes[i] / pattern_B * pattern_B;
            uint32_t pattern = (uint32_t)(at * 77 + length * 0x01020305);
            assert_ok(submit(f, fill_op(buffer, at, length, pattern, pattern_B),
                             conformance_point(done, value), conformance_point(done, value + 1)));
            value++;
            model_fill(model + at, length, pattern, pattern_B);
         }
   assert_ok(fixture_wait(done, value));
   assert_memory_equal(bytes, model, sizeof(model));
   agx_release(done);
   agx_release(buffer);
}

/* ---- copy ------------------------------------------------------------------ */

static void check_copy(void **state, uint64_t size, uint64_t from, uint64_t to, uint64_t length)
{
   struct fixture *f = conformance_device(state);
   uint8_t *source_bytes, *bytes, *model = malloc(size);
   struct agx_buffer *source = make_buffer(f, size, 0, &source_bytes);
   struct agx_buffer *target = make_buffer(f, size, GUARD, &bytes);
   assert_non_null(model);
   scatter(source_bytes, size, 3);
   memset(model, GUARD, size);
   memcpy(model + to, source_bytes + from, length);
   run(f, copy_op(source, from, target, to, length));
   assert_memory_equal(bytes, model, size);
   agx_release(source);
   agx_release(target);
   free(model);
}

static void copy_entire_buffer(void **state)
{
   check_copy(state, 1001, 0, 0, 1001);
}

static void copy_with_offsets(void **state)
{
   check_copy(state, 1000, 256, 128, 512);
   check_copy(state, 1000, 3, 700, 299);
   check_copy(state, 1000, 1000, 1000, 0);
}

static void copy_large_buffer(void **state)
{
   check_copy(state, 2 << 20, 0, 0, 2 << 20);
   check_copy(state, 1 << 20, 1, 0, (1 << 20) - 1);
}

static void copy_size_and_alignment_classes(void **state)
{
   static const uint64_t sizes[] = {1, 2, 4, 7, 16, 17, 33, 64, 255, 4097};
   for (size_t i = 0; i < AGX_COUNT(sizes); i++)
      for (uint64_t from = 0; from < 6; from += 1 + i % 2)
         check_copy(state, 5000, from, (from * 7 + i) % 19, sizes[i]);
}

static void burst_copy_submit(void **state)
{
   enum {
      BURST = 64,
      EACH = 100
   };
   struct fixture *f = conformance_device(state);
   uint8_t *from, *to;
   struct agx_buffer *source = make_buffer(f, BURST * EACH, 0, &from);
   struct agx_buffer *target = make_buffer(f, BURST * EACH, GUARD, &to);
   struct agx_semaphore *done[BURST];
   scatter(from, BURST * EACH, 5);
   for (uint64_t i = 0; i < BURST; i++) {
      done[i] = fixture_semaphore(f);
      assert_ok(submit(f, copy_op(source, i * EACH, target, i * EACH, EACH), NO_POINT,
                       conformance_point(done[i], 1)));
   }
   for (int i = 0; i < BURST; i++) {
      assert_ok(fixture_wait(done[i], 1));
      agx_release(done[i]);
   }
   assert_memory_equal(to, from, BURST * EACH);
   agx_release(source);
   agx_release(target);
}

/* Two queues write neighbouring bytes at the same time. */
static void queues_fill_side_by_side(void **state)
{
   enum {
      FILLS = 120,
      EACH = 3
   };
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, FILLS * EACH, 0, &bytes);
   struct agx_semaphore *done[2] = {fixture_semaphore(f), fixture_semaphore(f)};
   for (uint64_t i = 0; i < FILLS; i++) {
      struct agx_op op = fill_op(buffer, i * EACH, EACH, (uint32_t)i + 1, 1);
      op.queues = 1ull << i % f->info.queue_count;
      assert_ok(submit(f, op, NO_POINT, conformance_point(done[i % 2], i / 2 + 1)));
      if (i % 10 == 9)
         assert_ok(fixture_wait(done[i % 2], i / 2 + 1));
   }
   assert_ok(fixture_wait(done[0], FILLS / 2));
   assert_ok(fixture_wait(done[1], FILLS / 2));
   for (uint32_t i = 0; i < FILLS * EACH; i++)
      assert_int_equal(bytes[i], i / EACH + 1);
   agx_release(done[0]);
   agx_release(done[1]);
   agx_release(buffer);
}

/* ---- chains ---------------------------------------------------------------- */

static void chained_fill_then_copy(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *from, *to;
   struct agx_buffer *source = make_buffer(f, 512, 0, &from), *target = make_buffer(f, 512, 0, &to);
   struct agx_semaphore *chain = fixture_semaphore(f);
   assert_ok(submit(f, fill_op(source, 0, 512, 0xab, 1), NO_POINT, conformance_point(chain, 1)));
   assert_ok(submit(f, copy_op(source, 7, target, 8, 500), conformance_point(chain, 1),
                    conformance_point(chain, 2)));
   assert_ok(fixture_wait(chain, 2));
   for (int i = 0; i < 512; i++)
      assert_int_equal(to[i], i >= 8 && i < 508 ? 0xab : 0);
   agx_release(chain);
   agx_release(source);
   agx_release(target);
}

static void chained_fill_copy_fill(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *from, *to;
   struct agx_buffer *source = make_buffer(f, 512, 0, &from), *target = make_buffer(f, 512, 0, &to);
   struct agx_semaphore *chain = fixture_semaphore(f);
   const struct agx_op ops[] = {fill_op(source, 0, 512, 0x1234, 2),
                                copy_op(source, 0, target, 0, 512),
                                fill_op(target, 100, 4, 0x99887766, 4)};
   /* Submitted backwards: each waits for what comes later. */
   for (uint64_t i = AGX_COUNT(ops); i-- > 0;)
      assert_ok(
         submit(f, ops[i], conformance_point(chain, i + 1), conformance_point(chain, i + 2)));
   assert_int_equal(from[0], 0);
   assert_ok(agx_semaphore_signal(chain, 1));
   assert_ok(fixture_wait(chain, 4));
   for (int i = 0; i < 512; i++)
      assert_int_equal(to[i], i >= 100 && i < 104 ? 0x66 + 0x11 * (i - 100) : i % 2 ? 0x12 : 0x34);
   agx_release(chain);
   agx_release(source);
   agx_release(target);
}

static void barrier_signals(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = fixture_semaphore(f);
   assert_ok(submit(f, (struct agx_op){.size = sizeof(struct agx_op)}, NO_POINT,
                    conformance_point(semaphore, 1)));
   assert_ok(fixture_wait(semaphore, 1));
   agx_release(semaphore);
}

static void barrier_preserves_ordering(void **state)
{
   struct fixture *f = conformance_device(state);
   uint8_t *bytes;
   struct agx_buffer *buffer = make_buffer(f, 64, 0, &bytes);
   struct agx_semaphore *chain = fixture_semaphore(f);
   assert_ok(submit(f, fill_op(buffer, 0, 64, 1, 1), NO_POINT, conformance_point(chain, 1)));
   assert_ok(submit(f, (struct agx_op){.size = sizeof(struct agx_op)}, conformance_point(chain, 1),
                    conformance_point(chain, 2)));
   assert_ok(submit(f, fill_op(buffer, 0, 32, 2, 1), conformance_point(chain, 2),
                    conformance_point(chain, 3)));
   assert_ok(fixture_wait(chain, 3));
   for (int i = 0; i < 64; i++)
      assert_int_equal(bytes[i], i < 32 ? 2 : 1);
   agx_release(chain);
   agx_release(buffer);
}

/* ---- profiling ------------------------------------------------------------- */

struct events {
   uint32_t fills, copies, others;
   bool are_right;
};

static void note_event(void *user, const struct agx_profile_record *record)
{
   struct events *events = user;
   if (record->kind != AGX_PROFILE_RECORD_QUEUE)
      return;
   bool is_fill = record->operation == AGX_OP_FILL, is_copy = record->operation == AGX_OP_COPY;
   events->fills += is_fill;
   events->copies += is_copy;
   events->others += !is_fill && !is_copy;
   events->are_right &= record->status == AGX_OK && record->submission > 0 &&
                        record->submitted_ns <= record->start_ns &&
                        record->start_ns <= record->end_ns &&
                        strcmp(record->name, is_fill ? "fill" : "copy") == 0;
}

static void fill_and_copy_host_queue_event_profiling(void **state)
{
   struct fixture *f = conformance_device(state);
   struct events events = {.are_right = true};
   const struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_QUEUE, .fn = note_event, .user = &events};
   uint8_t *from, *to;
   struct agx_buffer *source = make_buffer(f, 512, 0, &from), *target = make_buffer(f, 512, 0, &to);
   struct agx_semaphore *chain = fixture_semaphore(f);
   assert_ok(agx_profile_begin(f->device, &desc));
   assert_ok(submit(f, fill_op(source, 0, 512, 0x11, 1), NO_POINT, conformance_point(chain, 1)));
   assert_ok(submit(f, copy_op(source, 0, target, 0, 512), conformance_point(chain, 1),
                    conformance_point(chain, 2)));
   assert_ok(fixture_wait(chain, 2));
   assert_ok(agx_profile_end(f->device));
   assert_int_equal(events.fills, 1);
   assert_int_equal(events.copies, 1);
   assert_int_equal(events.others, 0);
   assert_true(events.are_right);
   assert_int_equal(to[511], 0x11);
   agx_release(chain);
   agx_release(source);
   agx_release(target);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(fill_entire_buffer_1_byte),
      cmocka_unit_test(fill_entire_buffer_2_byte),
      cmocka_unit_test(fill_entire_buffer_4_byte),
      cmocka_unit_test(fill_subrange),
      cmocka_unit_test(fill_large_buffer),
      cmocka_unit_test(fill_size_alignment_and_pattern_classes),
      cmocka_unit_test(copy_entire_buffer),
      cmocka_unit_test(copy_with_offsets),
      cmocka_unit_test(copy_large_buffer),
      cmocka_unit_test(copy_size_and_alignment_classes),
      cmocka_unit_test(burst_copy_submit),
      cmocka_unit_test(queues_fill_side_by_side),
      cmocka_unit_test(chained_fill_then_copy),
      cmocka_unit_test(chained_fill_copy_fill),
      cmocka_unit_test(barrier_signals),
      cmocka_unit_test(barrier_preserves_ordering),
      cmocka_unit_test(fill_and_copy_host_queue_event_profiling),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
