/* SPDX-License-Identifier: MIT
 *
 * What tests of dispatches have in common.
 */
#pragma once

#include "conformance.h"

#include <string.h>

struct dispatches {
   struct fixture *f;
   struct agx_executable *count, *add, *grid;
   struct agx_semaphore *done;
   uint64_t value;
   bool has_table;
   struct agx_buffer_ref table[4];
   uint32_t slots;
};

static inline void open_dispatches(void **state, struct dispatches *s, bool has_table)
{
   *s = (struct dispatches){.f = conformance_device(state), .has_table = has_table};
   s->count = fixture_kernel(s->f, &agx_test_count);
   s->add = fixture_kernel(s->f, &agx_test_add);
   s->grid = fixture_kernel(s->f, &conformance_grid);
   s->done = fixture_semaphore(s->f);
}

static inline void close_dispatches(struct dispatches *s)
{
   agx_release(s->done);
   agx_release(s->grid);
   agx_release(s->add);
   agx_release(s->count);
}

static inline struct agx_command_buffer *begin(struct dispatches *s)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc),
                                                .table_slots = s->has_table ? 4 : 0};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(s->f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   memset(s->table, 0, sizeof(s->table));
   s->slots = 0;
   return commands;
}

/* The range, or a new slot that stands for it. */
static inline struct agx_buffer_ref bind(struct dispatches *s, struct agx_buffer *buffer,
                                         uint64_t offset, uint64_t length)
{
   const struct agx_buffer_ref ref = {buffer, offset, length};
   if (!s->has_table)
      return ref;
   s->table[s->slots] = ref;
   return (struct agx_buffer_ref){.length_B = AGX_WHOLE_LENGTH, .table_slot = ++s->slots};
}

static inline agx_status try_submit(struct dispatches *s, struct agx_command_buffer *commands,
                                    struct agx_point wait, uint64_t value)
{
   const struct agx_point signal = {s->done, value};
   const struct agx_op op = {
      .size = sizeof(op),
      .kind = AGX_OP_EXECUTE,
      .waits = &wait,
      .wait_count = wait.semaphore != NULL,
      .signals = &signal,
      .signal_count = 1,
      .u.execute = {commands, s->has_table ? s->table : NULL, s->has_table ? 4u : 0u}};
   return agx_submit(s->f->device, &op, 1, NULL);
}

static inline void run(struct dispatches *s, struct agx_command_buffer *commands)
{
   assert_ok(try_submit(s, commands, NO_POINT, ++s->value));
   assert_ok(fixture_wait(s->done, s->value));
}

static inline struct agx_dispatch make(struct agx_executable *executable, uint32_t workgroups,
                                       const struct agx_binding *bindings, uint32_t count,
                                       const uint32_t *push, uint32_t push_B)
{
   return (struct agx_dispatch){.size = sizeof(struct agx_dispatch),
                                .executable = executable,
                                .workgroups = {workgroups, 1, 1},
                                .binding_count = count,
                                .bindings = bindings,
                                .push = push,
                                .push_B = push_B};
}

/* y = x + push, 32 words. */
static inline void add(struct dispatches *s, struct agx_command_buffer *commands,
                       struct agx_buffer_ref x, struct agx_buffer_ref y, uint32_t push)
{
   const struct agx_binding bindings[] = {{.binding = 0, .ref = x}, {.binding = 1, .ref = y}};
   const struct agx_dispatch dispatch = make(s->add, 1, bindings, 2, &push, sizeof(push));
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
}

static inline void barrier(struct agx_command_buffer *commands)
{
   assert_ok(agx_cmd_barrier(commands, NULL));
}

/* ALLOCA, a command buffer that was recorded over what it gave, DEALLOCA: all submitted at once. */
struct transient {
   struct agx_buffer *buffer;
   struct agx_command_buffer *commands;
};

static inline struct transient submit_transient(struct dispatches *s, struct agx_buffer *out,
                                                uint32_t push)
{
   struct transient t = {0};
   struct agx_point points[4];
   for (uint64_t i = 0; i < 4; i++)
      points[i] = (struct agx_point){s->done, s->value + i};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_ALLOCA,
                       .waits = &points[0],
                       .wait_count = s->value != 0,
                       .signals = &points[1],
                       .signal_count = 1,
                       .u.alloca = {.size_B = 128, .out_buffer = &t.buffer}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   t.commands = fixture_begin(s->f);
   assert_ok(agx_cmd_fill(t.commands, (struct agx_buffer_ref){t.buffer, 0, 128}, &push, 4));
   barrier(t.commands);
   add(s, t.commands, (struct agx_buffer_ref){t.buffer, 0, 128},
       (struct agx_buffer_ref){out, 0, 128}, 1);
   assert_ok(agx_command_buffer_end(t.commands));
   op = (struct agx_op){.size = sizeof(op),
                        .kind = AGX_OP_EXECUTE,
                        .waits = &points[1],
                        .wait_count = 1,
                        .signals = &points[2],
                        .signal_count = 1,
                        .u.execute = {.commands = t.commands}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   op = (struct agx_op){.size = sizeof(op),
                        .kind = AGX_OP_DEALLOCA,
                        .waits = &points[2],
                        .wait_count = 1,
                        .signals = &points[3],
                        .signal_count = 1,
                        .u.dealloca = {.buffer = t.buffer}};
   assert_ok(agx_submit(s->f->device, &op, 1, NULL));
   s->value += 3;
   return t;
}

static inline void drop_transient(struct transient *t)
{
   agx_release(t->buffer);
   agx_release(t->commands);
}
