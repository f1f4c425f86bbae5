/* SPDX-License-Identifier: MIT
 *
 * Parts of buffers: what is reserved in them is refused, and AGX_DEBUG=bounds takes each for as
 * long as it is said to be.
 */
#include "fixture.h"

#include <stdlib.h>

#define USAGE (AGX_USAGE_DISPATCH | AGX_USAGE_INDIRECT_PARAMETERS | AGX_USAGE_TRANSFER)

/* The kernel add reads 128 bytes of binding 0, and writes as many of binding 1. */
struct bounded {
   struct work w;
   struct agx_buffer *source;
};

static void bounded_open(struct bounded *it)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 256, .usage = USAGE};
   work_open(&it->w, "virtual");
   assert_ok(agx_buffer_create(it->w.f->device, &desc, &it->source));
}

static void bounded_close(struct bounded *it)
{
   agx_release(it->source);
   work_close(&it->w);
}

/* Binding 0 is the first 64 bytes, and the push constant comes from behind. */
static agx_status run_with_arguments(struct bounded *it, uint64_t length_B)
{
   const struct agx_binding bindings[2] = {
      {.binding = 0, .ref = {it->source, 0, 64}},
      {.binding = 1, .ref = {it->w.buffers[1], 0, AGX_WHOLE_LENGTH}},
   };
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = it->w.add,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 2,
                                         .bindings = bindings,
                                         .push_B = 4,
                                         .arguments = {it->source, 64, length_B}};
   struct agx_command_buffer *commands = fixture_begin(it->w.f);
   struct agx_semaphore *done = fixture_semaphore(it->w.f);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(it->w.f, commands, NO_POINT, (struct agx_point){done, 1}));
   agx_status status = fixture_wait(done, 1);
   agx_release(commands);
   agx_release(done);
   return status;
}

static void parameters_are_as_long_as_they_are_said_to_be(void **state)
{
   struct bounded it;
   setenv("AGX_DEBUG", "bounds", 1);
   bounded_open(&it);
   /* What is bound for anything counts for all that the dispatch does. */
   assert_ok(run_with_arguments(&it, AGX_WHOLE_LENGTH));
   assert_ok(run_with_arguments(&it, 64));
   assert_fails(run_with_arguments(&it, 60), AGX_DATA_LOSS, "load of 4 bytes");
   bounded_close(&it);
   bounded_open(&it); /* the queue is lost */
   assert_fails(run_with_arguments(&it, 4), AGX_DATA_LOSS, "load of 4 bytes");
   bounded_close(&it);
   unsetenv("AGX_DEBUG");
}

static void refuse(struct bounded *it, const struct agx_dispatch *dispatch)
{
   struct agx_command_buffer *commands = fixture_begin(it->w.f);
   assert_fails(agx_cmd_dispatch(commands, dispatch), AGX_INVALID_ARGUMENT, "reserved is 9");
   assert_fails(agx_command_buffer_end(commands), AGX_INVALID_ARGUMENT, "earlier");
   agx_release(commands);
}

static void dispatches_reserve(struct bounded *it)
{
   const uint32_t push = 1;
   struct agx_binding bindings[2] = {
      {.binding = 0, .ref = {it->source, 0, 128}},
      {.binding = 1, .ref = {it->w.buffers[1], 0, 128}},
   };
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = it->w.add,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = 4};
   for (unsigned i = 0; i < 2; i++) {
      bindings[i].ref.reserved = 9;
      refuse(it, &dispatch);
      bindings[i].ref.reserved = 0;
   }
   dispatch.counts = (struct agx_buffer_ref){it->source, 0, 12, .reserved = 9};
   refuse(it, &dispatch);
   dispatch.counts = (struct agx_buffer_ref){0};
   dispatch.arguments = (struct agx_buffer_ref){it->source, 0, 12, .reserved = 9};
   refuse(it, &dispatch);
}

static void what_is_reserved_is_zero(void **state)
{
   struct bounded it;
   bounded_open(&it);
   dispatches_reserve(&it);
   const uint32_t word = 5;
   const struct agx_buffer_ref good = {it.w.buffers[1], 0, 8},
                               bad = {it.w.buffers[1], 0, 8, .reserved = 9};
   const struct agx_buffer_ref other = {it.source, 0, 8};
   struct agx_command_buffer *commands = fixture_begin(it.w.f);
   assert_fails(agx_cmd_fill(commands, bad, &word, 4), AGX_INVALID_ARGUMENT, "reserved is 9");
   assert_fails(agx_cmd_update(commands, &word, bad), AGX_INVALID_ARGUMENT, "reserved is 9");
   assert_fails(agx_cmd_copy(commands, bad, other), AGX_INVALID_ARGUMENT, "reserved is 9");
   assert_fails(agx_cmd_copy(commands, other, bad), AGX_INVALID_ARGUMENT, "reserved is 9");
   agx_release(commands);
   const struct agx_command_buffer_desc with_table = {.size = sizeof(with_table), .table_slots = 1};
   const struct agx_buffer_ref slot = {.length_B = AGX_WHOLE_LENGTH, .table_slot = 1};
   assert_ok(agx_command_buffer_create(it.w.f->device, &with_table, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_fill(commands, slot, &word, 4));
   assert_ok(agx_command_buffer_end(commands));
   struct agx_op op = {.size = sizeof(op), .kind = AGX_OP_EXECUTE};
   op.u.execute.commands = commands;
   op.u.execute.table = &bad;
   op.u.execute.table_count = 1;
   assert_fails(agx_submit(it.w.f->device, &op, 1, NULL), AGX_INVALID_ARGUMENT, "reserved is 9");
   op.u.execute.table = &good;
   assert_ok(agx_submit(it.w.f->device, &op, 1, NULL));
   agx_release(commands);
   bounded_close(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_are_as_long_as_they_are_said_to_be),
      cmocka_unit_test(what_is_reserved_is_zero),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
