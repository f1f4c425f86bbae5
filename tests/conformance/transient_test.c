/* SPDX-License-Identifier: MIT
 *
 * Work on buffers whose memory comes with the queue. The first tests are named after the cases of
 * TransientBufferTest and AsyncTransientBufferTest.
 */
#include "conformance.h"

#include <string.h>

#define SIZE_B 1000u

/* ---- helpers ---------------------------------------------------------------- */

/* A buffer that has memory when the timeline is at 1; NULL: it goes without a wait. */
static struct agx_buffer *allocate(struct fixture *f, struct agx_semaphore *go,
                                   struct agx_semaphore *timeline)
{
   struct agx_buffer *buffer = NULL;
   const struct agx_point wait = {go, 1}, signal = {timeline, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .waits = &wait,
                             .signals = &signal,
                             .wait_count = go != NULL,
                             .signal_count = 1,
                             .u.alloca = {.size_B = SIZE_B, .out_buffer = &buffer}};
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   assert_non_null(buffer);
   return buffer;
}

static void give_back(struct fixture *f, struct agx_buffer *buffer, struct agx_semaphore *timeline,
                      uint64_t value)
{
   const struct agx_point wait = {timeline, value}, signal = {timeline, value + 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_DEALLOCA,
                             .waits = &wait,
                             .signals = &signal,
                             .wait_count = 1,
                             .signal_count = 1,
                             .u.dealloca.buffer = buffer};
   assert_ok(agx_submit(f->device, &op, 1, NULL));
}

static struct agx_buffer_ref part(struct agx_buffer *buffer, uint64_t offset_B, uint64_t length_B)
{
   return (struct agx_buffer_ref){buffer, offset_B, length_B};
}

static struct agx_buffer_ref whole(struct agx_buffer *buffer)
{
   return part(buffer, 0, AGX_WHOLE_LENGTH);
}

/* One operation of the kind that op says, in the timeline's next step. */
static void run(struct fixture *f, struct agx_semaphore *timeline, uint64_t value, struct agx_op op)
{
   const struct agx_point wait = {timeline, value}, signal = {timeline, value + 1};
   op.size = sizeof(op);
   op.waits = &wait;
   op.signals = &signal;
   op.wait_count = op.signal_count = 1;
   assert_ok(agx_submit(f->device, &op, 1, NULL));
}

static void fill(struct fixture *f, struct agx_semaphore *timeline, uint64_t value,
                 struct agx_buffer_ref target, uint8_t byte)
{
   run(f, timeline, value,
       (struct agx_op){.kind = AGX_OP_FILL,
                       .u.fill = {.target = target, .pattern = {byte}, .pattern_B = 1}});
}

static void copy(struct fixture *f, struct agx_semaphore *timeline, uint64_t value,
                 struct agx_buffer_ref source, struct agx_buffer_ref target)
{
   run(f, timeline, value,
       (struct agx_op){.kind = AGX_OP_COPY, .u.copy = {.source = source, .target = target}});
}

static void assert_bytes(const void *memory, uint64_t begin, uint64_t end, uint8_t byte)
{
   for (uint64_t i = begin; i < end; i++)
      assert_int_equal(((const uint8_t *)memory)[i], byte);
}

/* Fills the whole with 0x11, a part with 0x22, copies it out and looks. */
static void fill_and_look(struct fixture *f, uint64_t offset_B, uint64_t length_B)
{
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   uint32_t *words;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   fill(f, timeline, 1, whole(transient), 0x11);
   fill(f, timeline, 2, part(transient, offset_B, length_B), 0x22);
   copy(f, timeline, 3, whole(transient), whole(seen));
   give_back(f, transient, timeline, 4);
   assert_ok(fixture_wait(timeline, 5));
   assert_bytes(words, 0, offset_B, 0x11);
   assert_bytes(words, offset_B, offset_B + length_B, 0x22);
   assert_bytes(words, offset_B + length_B, SIZE_B, 0x11);
   agx_release(seen);
   agx_release(transient);
   agx_release(timeline);
}

/* ---- TransientBufferTest ------------------------------------------------------- */

static void fill_transient_buffer(void **state)
{
   fill_and_look(conformance_device(state), 0, SIZE_B);
}

static void fill_transient_buffer_subrange(void **state)
{
   fill_and_look(conformance_device(state), 100, 501);
}

static void fill_transient_buffer_1_byte(void **state)
{
   fill_and_look(conformance_device(state), 999, 1);
}

static void copy_to_transient_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   uint32_t *source_words, *words;
   struct agx_buffer *source = fixture_buffer(f, SIZE_B, &source_words),
                     *seen = fixture_buffer(f, SIZE_B, &words);
   for (uint32_t i = 0; i < SIZE_B / 4; i++)
      source_words[i] = i * 2654435761u;
   copy(f, timeline, 1, whole(source), whole(transient));
   copy(f, timeline, 2, whole(transient), whole(seen));
   assert_ok(fixture_wait(timeline, 3));
   assert_memory_equal(words, source_words, SIZE_B);
   agx_release(transient);
   agx_release(source);
   agx_release(seen);
   agx_release(timeline);
}

static void copy_from_transient_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   uint32_t *words;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   fill(f, timeline, 1, whole(transient), 0x77);
   copy(f, timeline, 2, part(transient, 13, 400), part(seen, 21, 400));
   assert_ok(fixture_wait(timeline, 3));
   assert_bytes(words, 0, 21, 0);
   assert_bytes(words, 21, 421, 0x77);
   assert_bytes(words, 421, SIZE_B, 0);
   agx_release(transient);
   agx_release(seen);
   agx_release(timeline);
}

static void record_fill_and_copy(struct agx_command_buffer *commands, struct agx_buffer *transient,
                                 struct agx_buffer *seen, uint8_t byte)
{
   assert_ok(agx_cmd_fill(commands, whole(transient), &byte, 1));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_copy(commands, whole(transient), whole(seen)));
   assert_ok(agx_command_buffer_end(commands));
}

static void fill_then_copy_in_single_command_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   uint32_t *words;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   record_fill_and_copy(commands, transient, seen, 0x5a);
   assert_ok(
      fixture_submit(f, commands, conformance_point(timeline, 1), conformance_point(timeline, 2)));
   assert_ok(fixture_wait(timeline, 2));
   assert_bytes(words, 0, SIZE_B, 0x5a);
   agx_release(commands);
   agx_release(transient);
   agx_release(seen);
   agx_release(timeline);
}

static void update_transient_buffer(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   uint32_t *words;
   uint8_t bytes[300];
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   for (uint32_t i = 0; i < sizeof(bytes); i++)
      bytes[i] = (uint8_t)(i * 7);
   fill(f, timeline, 1, whole(transient), 0x33);
   run(f, timeline, 2,
       (struct agx_op){.kind = AGX_OP_UPDATE,
                       .u.update = {.data = bytes, .target = part(transient, 8, sizeof(bytes))}});
   copy(f, timeline, 3, whole(transient), whole(seen));
   assert_ok(fixture_wait(timeline, 4));
   assert_bytes(words, 0, 8, 0x33);
   assert_memory_equal((uint8_t *)words + 8, bytes, sizeof(bytes));
   assert_bytes(words, 8 + sizeof(bytes), SIZE_B, 0x33);
   agx_release(transient);
   agx_release(seen);
   agx_release(timeline);
}

/* Its pool leaves open what may be done with it: then all may be. */
static void fill_transient_with_zero_access_flags(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(transient, &info);
   assert_int_equal(info.access, AGX_ACCESS_ALL);
   agx_release(transient);
   agx_release(timeline);
   fill_and_look(f, 4, 4);
}

/* ---- AsyncTransientBufferTest ---------------------------------------------------- */

static void static_ref_recorded_before_alloca_commit_executes(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, go, timeline);
   struct agx_buffer_info info = {.size = sizeof(info)};
   uint32_t *words;
   uint64_t value;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   agx_buffer_get_info(transient, &info);
   assert_int_equal(info.state, AGX_BUFFER_RESERVED);
   record_fill_and_copy(commands, transient, seen, 0x66);
   assert_ok(
      fixture_submit(f, commands, conformance_point(timeline, 1), conformance_point(timeline, 2)));
   assert_ok(agx_semaphore_query(timeline, &value));
   assert_int_equal(value, 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(timeline, 2));
   assert_bytes(words, 0, SIZE_B, 0x66);
   agx_release(commands);
   agx_release(transient);
   agx_release(seen);
   agx_release(go);
   agx_release(timeline);
}

/* Recorded with slots, which a table fills in when the memory has come, or before. */
static void indirect_ref_resolved_after_alloca_commit(void **state)
{
   struct fixture *f = conformance_device(state);
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .table_slots = 2};
   struct agx_semaphore *go = fixture_semaphore(f), *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, go, timeline);
   uint32_t *words;
   const uint8_t byte = 0x29;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   const struct agx_buffer_ref table[] = {whole(transient), whole(seen)};
   const struct agx_buffer_ref slots[] = {{.length_B = SIZE_B, .table_slot = 1},
                                          {.length_B = SIZE_B, .table_slot = 2}};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_fill(commands, slots[0], &byte, 1));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_copy(commands, slots[0], slots[1]));
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_op op = {.kind = AGX_OP_EXECUTE,
                             .u.execute = {.commands = commands, .table = table, .table_count = 2}};
   struct agx_semaphore *early = fixture_semaphore(f);
   run(f, early, 0, op); /* it does not wait for the allocation */
   assert_fails(fixture_wait(early, 1), AGX_FAILED_PRECONDITION, "before its allocation");
   run(f, timeline, 1, op);
   assert_bytes(words, 0, SIZE_B, 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(timeline, 2));
   assert_bytes(words, 0, SIZE_B, byte);
   give_back(f, transient, timeline, 2);
   struct agx_semaphore *late = fixture_semaphore(f);
   assert_ok(fixture_wait(timeline, 3));
   run(f, late, 0, op);
   assert_fails(fixture_wait(late, 1), AGX_FAILED_PRECONDITION, "given back");
   agx_release(commands);
   agx_release(transient);
   agx_release(seen);
   agx_release(go);
   agx_release(early);
   agx_release(late);
   agx_release(timeline);
}

/* ---- beyond ------------------------------------------------------------------------ */

/* What would touch memory that is not there, or not any more, fails instead, on every way. */
static void assert_not_used(struct fixture *f, struct agx_buffer *transient,
                            const char *part_of_text)
{
   uint32_t *words;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *over[3] = {fixture_semaphore(f), fixture_semaphore(f),
                                    fixture_semaphore(f)};
   record_fill_and_copy(commands, transient, seen, 0x44);
   assert_ok(fixture_submit(f, commands, NO_POINT, conformance_point(over[0], 1)));
   fill(f, over[1], 0, whole(transient), 0x44);
   copy(f, over[2], 0, whole(transient), whole(seen));
   for (int i = 0; i < 3; i++) {
      assert_fails(fixture_wait(over[i], 1), AGX_FAILED_PRECONDITION, part_of_text);
      agx_release(over[i]);
   }
   assert_bytes(words, 0, SIZE_B, 0);
   agx_release(commands);
   agx_release(seen);
}

static void use_before_the_memory_fails(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, go, timeline);
   assert_not_used(f, transient, "before its allocation");
   assert_ok(agx_semaphore_signal(go, 1));
   fill(f, timeline, 1, whole(transient), 1); /* and works, once it is waited for */
   assert_ok(fixture_wait(timeline, 2));
   agx_release(transient);
   agx_release(go);
   agx_release(timeline);
}

static void use_after_dealloca_fails(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   fill(f, timeline, 1, whole(transient), 1);
   give_back(f, transient, timeline, 2);
   assert_ok(fixture_wait(timeline, 3));
   assert_not_used(f, transient, "after its memory was given back");
   agx_release(transient);
   agx_release(timeline);
}

/* A reusable command buffer outlives the memory that it was recorded with. */
static void a_recording_fails_once_its_memory_is_gone(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f), *late = fixture_semaphore(f);
   struct agx_buffer *transient = allocate(f, NULL, timeline);
   uint32_t *words;
   struct agx_buffer *seen = fixture_buffer(f, SIZE_B, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   record_fill_and_copy(commands, transient, seen, 0x12);
   for (uint64_t i = 1; i < 4; i++)
      assert_ok(fixture_submit(f, commands, conformance_point(timeline, i),
                               conformance_point(timeline, i + 1)));
   give_back(f, transient, timeline, 4);
   assert_ok(
      fixture_submit(f, commands, conformance_point(timeline, 5), conformance_point(late, 1)));
   assert_fails(fixture_wait(late, 1), AGX_FAILED_PRECONDITION, "given back");
   assert_ok(fixture_wait(timeline, 5));
   assert_bytes(words, 0, SIZE_B, 0x12);
   agx_release(commands);
   agx_release(transient);
   agx_release(seen);
   agx_release(late);
   agx_release(timeline);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(fill_transient_buffer),
      cmocka_unit_test(fill_transient_buffer_subrange),
      cmocka_unit_test(fill_transient_buffer_1_byte),
      cmocka_unit_test(copy_to_transient_buffer),
      cmocka_unit_test(copy_from_transient_buffer),
      cmocka_unit_test(fill_then_copy_in_single_command_buffer),
      cmocka_unit_test(update_transient_buffer),
      cmocka_unit_test(fill_transient_with_zero_access_flags),
      cmocka_unit_test(static_ref_recorded_before_alloca_commit_executes),
      cmocka_unit_test(indirect_ref_resolved_after_alloca_commit),
      cmocka_unit_test(use_before_the_memory_fails),
      cmocka_unit_test(use_after_dealloca_fails),
      cmocka_unit_test(a_recording_fails_once_its_memory_is_gone),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
