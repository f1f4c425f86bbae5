/* SPDX-License-Identifier: MIT
 *
 * Indirect dispatches: counts and arguments that the host wrote, that a queue's operation wrote,
 * and that an earlier dispatch of the same command buffer wrote; bound directly, and over tables.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>

#define OUT_B 65536u

struct indirect_case {
   struct fixture *f;
   struct agx_executable *indirect, *counts;
   struct agx_buffer *out, *parameters;
   uint32_t *words, *given;
   struct agx_semaphore *done;
   uint64_t value;
   bool has_table; /* out and parameters are slots 0 and 1 */
};

static struct agx_executable *load(struct fixture *f, const char *name)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable = NULL;
   char *path = agx_test_path(name);
   char *bytes = agx_test_read_file(path, &desc.data_B);
   desc.data = bytes;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   free(bytes);
   free(path);
   return executable;
}

static void open_indirect_case(void **state, struct indirect_case *s, bool has_table)
{
   s->f = conformance_device(state);
   s->indirect = load(s->f, "kernels/indirect.spv");
   s->counts = load(s->f, "kernels/counts.spv");
   s->out = fixture_buffer(s->f, OUT_B, &s->words);
   s->parameters = fixture_buffer(s->f, 256, &s->given);
   s->done = fixture_semaphore(s->f);
   s->value = 0;
   s->has_table = has_table;
   memset(s->words, 0xee, OUT_B);
}

static void close_indirect_case(struct indirect_case *s)
{
   agx_release(s->done);
   agx_release(s->parameters);
   agx_release(s->out);
   agx_release(s->counts);
   agx_release(s->indirect);
}

static struct agx_command_buffer *begin(struct indirect_case *s)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc),
                                                .table_slots = s->has_table ? 2 : 0};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s->f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   return commands;
}

static struct agx_buffer_ref ref_of(const struct indirect_case *s, uint32_t slot, uint64_t offset,
                                    uint64_t length)
{
   return (struct agx_buffer_ref){.buffer = s->has_table ? NULL
                                            : slot       ? s->parameters
                                                         : s->out,
                                  .offset_B = offset,
                                  .length_B = length,
                                  .table_slot = s->has_table ? slot + 1 : 0};
}

static void run(struct indirect_case *s, struct agx_command_buffer *commands)
{
   const struct agx_buffer_ref table[] = {{s->out, 0, AGX_WHOLE_LENGTH},
                                          {s->parameters, 0, AGX_WHOLE_LENGTH}};
   const struct agx_point signal = {s->done, ++s->value};
   const struct agx_op op = {
      .size = sizeof(op),
      .kind = AGX_OP_EXECUTE,
      .signals = &signal,
      .signal_count = 1,
      .u.execute = {commands, s->has_table ? table : NULL, s->has_table ? 2u : 0u}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   assert_ok(fixture_wait(s->done, s->value));
}

/* Of the kernel `indirect`; at_B: of counts in the parameters, UINT64_MAX: directly. */
static void dispatch(struct indirect_case *s, struct agx_command_buffer *commands,
                     const uint32_t workgroups[3], const uint32_t push[2], uint64_t counts_at,
                     uint64_t arguments_at)
{
   const struct agx_binding binding = {.ref = ref_of(s, 0, 0, AGX_WHOLE_LENGTH)};
   struct agx_dispatch it = {.size = sizeof(it),
                             .executable = s->indirect,
                             .binding_count = 1,
                             .bindings = &binding,
                             .push_B = 8};
   if (counts_at == UINT64_MAX)
      memcpy(it.workgroups, workgroups, sizeof(it.workgroups));
   else
      it.counts = ref_of(s, 1, counts_at, 12);
   if (arguments_at == UINT64_MAX)
      it.push = push;
   else
      it.arguments = ref_of(s, 1, arguments_at, 8);
   assert_ok(agx_cmd_dispatch(commands, &it));
}

static void expect(struct indirect_case *s, const uint32_t n[3], const uint32_t push[2])
{
   uint32_t count = n[0] * 4 * n[1] * 2 * n[2];
   assert_true(count < OUT_B / 4);
   for (uint32_t at = 0; at < count; at++)
      assert_int_equal(s->words[at],
                       push[0] + push[1] * at + (n[0] << 24) + (n[1] << 20) + (n[2] << 16));
   assert_int_equal(s->words[count], 0xeeeeeeee);
   memset(s->words, 0xee, OUT_B);
}

static void every_grid(struct indirect_case *s)
{
   static const uint32_t push[2] = {7, 3};
   struct agx_command_buffer *commands = begin(s);
   dispatch(s, commands, NULL, push, 16, UINT64_MAX);
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < 125; i++) {
      const uint32_t n[3] = {i % 5, i / 5 % 5, i / 25};
      memcpy(s->given + 4, n, sizeof(n));
      run(s, commands);
      expect(s, n, push);
   }
   agx_release(commands);
}

static void static_parameters_from_host(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct indirect_case s;
      open_indirect_case(state, &s, has_table);
      every_grid(&s);
      close_indirect_case(&s);
   }
}

static void arguments_from_host(void **state)
{
   static const uint32_t n[3] = {3, 2, 1};
   for (int has_table = 0; has_table < 2; has_table++) {
      struct indirect_case s;
      open_indirect_case(state, &s, has_table);
      struct agx_command_buffer *commands = begin(&s);
      dispatch(&s, commands, n, NULL, UINT64_MAX, 20);
      assert_ok(agx_command_buffer_end(commands));
      for (uint32_t i = 0; i < 10; i++) {
         const uint32_t push[2] = {i * 1000, 17 * i + 1};
         memcpy(s.given + 5, push, sizeof(push));
         run(&s, commands);
         expect(&s, n, push);
      }
      agx_release(commands);
      close_indirect_case(&s);
   }
}

/* Both made by a dispatch before, which a barrier stands behind. */
static void dynamic_parameters_from_dispatch(void **state)
{
   for (int has_table = 0; has_table < 2; has_table++) {
      struct indirect_case s;
      open_indirect_case(state, &s, has_table);
      for (uint32_t i = 1; i < 6; i++) {
         const uint32_t made[5] = {i, 2, 3, 100 * i, 5};
         const struct agx_binding binding = {.ref = ref_of(&s, 1, 32, AGX_WHOLE_LENGTH)};
         const struct agx_dispatch make = {.size = sizeof(make),
                                           .executable = s.counts,
                                           .workgroups = {1, 1, 1},
                                           .binding_count = 1,
                                           .bindings = &binding,
                                           .push = made,
                                           .push_B = sizeof(made)};
         struct agx_command_buffer *commands = begin(&s);
         memset(s.given, 0, 256);
         assert_ok(agx_cmd_dispatch(commands, &make));
         assert_ok(agx_cmd_barrier(commands, NULL));
         dispatch(&s, commands, NULL, NULL, 32, 44);
         assert_ok(agx_command_buffer_end(commands));
         run(&s, commands);
         expect(&s, made, made + 3);
         agx_release(commands);
      }
      close_indirect_case(&s);
   }
}

static void dynamic_parameters_from_update_and_fill(void **state)
{
   static const uint32_t n[3] = {4, 1, 2}, twos[3] = {2, 2, 2}, push[2] = {1, 2}, two = 2;
   for (int has_table = 0; has_table < 2; has_table++) {
      struct indirect_case s;
      open_indirect_case(state, &s, has_table);
      struct agx_command_buffer *commands = begin(&s);
      assert_ok(agx_cmd_update(commands, n, ref_of(&s, 1, 64, 12)));
      assert_ok(agx_cmd_barrier(commands, NULL));
      dispatch(&s, commands, NULL, push, 64, UINT64_MAX);
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      expect(&s, n, push);
      assert_ok(agx_command_buffer_begin(commands));
      assert_ok(agx_cmd_fill(commands, ref_of(&s, 1, 64, 12), &two, 4));
      assert_ok(agx_cmd_barrier(commands, NULL));
      dispatch(&s, commands, NULL, push, 64, UINT64_MAX);
      assert_ok(agx_command_buffer_end(commands));
      run(&s, commands);
      expect(&s, twos, push);
      agx_release(commands);
      close_indirect_case(&s);
   }
}

static void queue_dispatches_take_parameters(void **state)
{
   static const uint32_t n[3] = {2, 3, 1}, push[2] = {9, 1};
   struct indirect_case s;
   open_indirect_case(state, &s, false);
   memcpy(s.given + 1, n, sizeof(n));
   memcpy(s.given + 8, push, sizeof(push));
   const struct agx_binding binding = {.ref = ref_of(&s, 0, 0, AGX_WHOLE_LENGTH)};
   const struct agx_dispatch it = {.size = sizeof(it),
                                   .executable = s.indirect,
                                   .binding_count = 1,
                                   .bindings = &binding,
                                   .push_B = 8,
                                   .counts = {s.parameters, 4, AGX_WHOLE_LENGTH},
                                   .arguments = {s.parameters, 32, AGX_WHOLE_LENGTH}};
   const struct agx_point signal = {s.done, ++s.value};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_DISPATCH,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.dispatch = {&it}};
   assert_ok(agx_submit(s.f->device, &op, 1, NULL));
   assert_ok(fixture_wait(s.done, s.value));
   expect(&s, n, push);
   close_indirect_case(&s);
}

/* The counts come from an operation of the queue before. */
static void static_parameters_from_queue_update(void **state)
{
   static const uint32_t n[3] = {3, 1, 2}, push[2] = {11, 4};
   for (int has_table = 0; has_table < 2; has_table++) {
      struct indirect_case s;
      open_indirect_case(state, &s, has_table);
      const struct agx_buffer_ref table[] = {{s.out, 0, AGX_WHOLE_LENGTH},
                                             {s.parameters, 0, AGX_WHOLE_LENGTH}};
      const struct agx_point points[] = {{s.done, 1}, {s.done, 2}};
      struct agx_command_buffer *commands = begin(&s);
      dispatch(&s, commands, NULL, push, 80, UINT64_MAX);
      assert_ok(agx_command_buffer_end(commands));
      const struct agx_op ops[] = {
         {.size = sizeof(ops[0]),
          .kind = AGX_OP_UPDATE,
          .signals = &points[0],
          .signal_count = 1,
          .u.update = {n, {s.parameters, 80, 12}}},
         {.size = sizeof(ops[0]),
          .kind = AGX_OP_EXECUTE,
          .waits = &points[0],
          .wait_count = 1,
          .signals = &points[1],
          .signal_count = 1,
          .u.execute = {commands, has_table ? table : NULL, has_table ? 2u : 0u}},
      };
      assert_ok(agx_submit(s.f->device, ops, 2, NULL));
      assert_ok(fixture_wait(s.done, 2));
      expect(&s, n, push);
      agx_release(commands);
      close_indirect_case(&s);
   }
}

/* A parameter buffer bound as a whole, and one that is part of a pool's memory. */
static void parameter_buffer(void **state, struct agx_buffer *(*make)(struct indirect_case *s))
{
   static const uint32_t n[3] = {2, 2, 3}, push[2] = {5, 5};
   struct indirect_case s;
   open_indirect_case(state, &s, false);
   struct agx_buffer *own = make(&s);
   struct agx_command_buffer *commands = begin(&s);
   const struct agx_binding binding = {.ref = {s.out, 0, AGX_WHOLE_LENGTH}};
   const struct agx_dispatch it = {.size = sizeof(it),
                                   .executable = s.indirect,
                                   .binding_count = 1,
                                   .bindings = &binding,
                                   .push = push,
                                   .push_B = 8,
                                   .counts = {own, 0, AGX_WHOLE_LENGTH}};
   assert_ok(agx_cmd_update(commands, n, (struct agx_buffer_ref){own, 0, 12}));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_dispatch(commands, &it));
   assert_ok(agx_command_buffer_end(commands));
   run(&s, commands);
   expect(&s, n, push);
   agx_release(commands);
   agx_release(own);
   close_indirect_case(&s);
}

static struct agx_buffer *make_plain(struct indirect_case *s)
{
   uint32_t *words;
   return fixture_buffer(s->f, 16, &words);
}

static struct agx_buffer *make_part(struct indirect_case *s)
{
   struct agx_buffer *parts[2] = {NULL};
   for (int i = 0; i < 2; i++) {
      const struct agx_point signal = {s->done, ++s->value};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_ALLOCA,
                                .signals = &signal,
                                .signal_count = 1,
                                .u.alloca = {.size_B = 16, .out_buffer = &parts[i]}};
      assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   }
   assert_ok(fixture_wait(s->done, s->value));
   agx_release(parts[0]);
   return parts[1];
}

static void whole_buffer_parameter_ref(void **state)
{
   parameter_buffer(state, make_plain);
}

static void sub_allocated_parameter_buffer(void **state)
{
   parameter_buffer(state, make_part);
}

static void drop_record(void *user, const struct agx_profile_record *record)
{
   ++*(uint32_t *)user;
}

static void while_profiling(void **state, bool is_dynamic)
{
   uint32_t records = 0;
   struct fixture *f = conformance_device(state);
   const struct agx_profile_desc desc = {.size = sizeof(desc),
                                         .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH,
                                         .fn = drop_record,
                                         .user = &records};
   assert_ok(agx_profile_begin(f->device, &desc));
   if (is_dynamic)
      dynamic_parameters_from_dispatch(state);
   else
      queue_dispatches_take_parameters(state);
   assert_ok(agx_profile_end(f->device));
   assert_true(records > 0);
}

static void static_parameters_while_profiling(void **state)
{
   while_profiling(state, false);
}

static void dynamic_parameters_while_profiling(void **state)
{
   while_profiling(state, true);
}

static void mistakes_are_named(void **state)
{
   struct indirect_case s;
   open_indirect_case(state, &s, false);
   const struct agx_buffer_desc plain_desc = {
      .size = sizeof(plain_desc), .size_B = 64, .usage = AGX_USAGE_STORAGE_READ};
   struct agx_buffer *plain = NULL;
   assert_ok(agx_buffer_create(s.f->device, &plain_desc, &plain));
   const struct {
      struct agx_buffer_ref counts, arguments;
      agx_status status;
      const char *text;
   } cases[] = {
      {{s.parameters, 2, 12}, {0}, AGX_INVALID_ARGUMENT, "offset 2"},
      {{s.parameters, 248, 12}, {0}, AGX_OUT_OF_RANGE, "offset 248"},
      {{s.parameters, 0, 8}, {0}, AGX_OUT_OF_RANGE, "it takes 12"},
      {{s.parameters, 248, AGX_WHOLE_LENGTH}, {0}, AGX_OUT_OF_RANGE, "it takes 12"},
      {{plain, 0, 12}, {0}, AGX_PERMISSION_DENIED, "INDIRECT_PARAMETERS"},
      {{NULL, 0, 12, 1}, {0}, AGX_INVALID_ARGUMENT, "slot 0"},
      {{0}, {s.parameters, 252, 8}, AGX_OUT_OF_RANGE, "arguments: offset 252"},
      {{0}, {s.parameters, 0, 4}, AGX_OUT_OF_RANGE, "it takes 8"},
   };
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      const struct agx_binding binding = {.ref = {s.out, 0, AGX_WHOLE_LENGTH}};
      const uint32_t push[2] = {0};
      const struct agx_dispatch it = {.size = sizeof(it),
                                      .executable = s.indirect,
                                      .workgroups = {1, 1, 1},
                                      .binding_count = 1,
                                      .bindings = &binding,
                                      .push = push,
                                      .push_B = 8,
                                      .counts = cases[i].counts,
                                      .arguments = cases[i].arguments};
      struct agx_command_buffer *commands = begin(&s);
      assert_fails(agx_cmd_dispatch(commands, &it), cases[i].status, cases[i].text);
      agx_release(commands);
   }
   agx_release(plain);
   close_indirect_case(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(static_parameters_from_host),
      cmocka_unit_test(arguments_from_host),
      cmocka_unit_test(dynamic_parameters_from_dispatch),
      cmocka_unit_test(dynamic_parameters_from_update_and_fill),
      cmocka_unit_test(queue_dispatches_take_parameters),
      cmocka_unit_test(static_parameters_from_queue_update),
      cmocka_unit_test(whole_buffer_parameter_ref),
      cmocka_unit_test(sub_allocated_parameter_buffer),
      cmocka_unit_test(static_parameters_while_profiling),
      cmocka_unit_test(dynamic_parameters_while_profiling),
      cmocka_unit_test(mistakes_are_named),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
