/* SPDX-License-Identifier: MIT
 *
 * Operations of the GPU on memory that all threads share, so that the model does not know its
 * contents.
 */
#include "soak.h"

static struct agx_buffer_ref part(struct soak_thread *thread, uint32_t length_B)
{
   uint32_t offset_B = soak_below(thread, (SOAK_SCRATCH_B - length_B) / 4) * 4;
   return (struct agx_buffer_ref){thread->device->scratch[soak_below(thread, SOAK_SCRATCH)],
                                  offset_B, length_B};
}

void soak_gpu_fill(struct soak_thread *thread, struct agx_op *op)
{
   op->u.fill = (struct agx_op_fill){.target = part(thread, 4 * (1 + soak_below(thread, 64))),
                                     .pattern = {1, 2, 3, 4},
                                     .pattern_B = 1u << soak_below(thread, 3)};
   (void)!soak_send(thread, op, NULL);
}

void soak_gpu_update(struct soak_thread *thread, struct agx_op *op)
{
   uint8_t data[64] = {(uint8_t)thread->index};
   op->u.update = (struct agx_op_update){data, part(thread, 1 + soak_below(thread, 64))};
   (void)!soak_send(thread, op, NULL);
}

void soak_gpu_copy(struct soak_thread *thread, struct agx_op *op)
{
   op->u.copy.source = part(thread, 100);
   op->u.copy.target = part(thread, 100);
   (void)!soak_send(thread, op, NULL);
}

/* With the bindings and constants of whichever kernel it is. */
static void describe(struct soak_thread *thread, struct agx_dispatch *dispatch,
                     struct agx_binding bindings[2], uint32_t push[2])
{
   const struct soak_device *it = thread->device;
   bool strays = it->strays && soak_chance(thread, 4), adds = soak_chance(thread, 500);
   push[0] = 0xdead0000;
   push[1] = 1;
   for (uint32_t i = 0; i < 2; i++) {
      bindings[i] = (struct agx_binding){.binding = i, .ref = part(thread, 1024)};
      bindings[i].ref.offset_B &= ~15ull;
   }
   *dispatch = (struct agx_dispatch){
      .size = sizeof(*dispatch),
      .executable = strays ? it->stray
                    : adds ? it->add
                           : it->count,
      .workgroups = {1 + soak_below(thread, 2), 1, 1},
      .binding_count = strays ? 0 : 1 + adds,
      .bindings = bindings,
      .push = push,
      .push_B = strays ? 8 : 4,
   };
}

void soak_gpu_dispatch(struct soak_thread *thread, struct agx_op *op)
{
   struct agx_dispatch it;
   struct agx_binding bindings[2];
   uint32_t push[2];
   describe(thread, &it, bindings, push);
   op->u.dispatch.dispatch = &it;
   (void)!soak_send(thread, op, NULL);
}

/* Some dispatches and transfers, with barriers; what can't be recorded is not submitted. */
static void record(struct soak_thread *thread, struct agx_command_buffer *commands)
{
   if (agx_command_buffer_begin(commands) != AGX_OK)
      return;
   for (uint32_t n = soak_below(thread, 5); n-- > 0;) {
      struct agx_dispatch it;
      struct agx_binding bindings[2];
      uint32_t push[2];
      describe(thread, &it, bindings, push);
      (void)!agx_cmd_begin_label(commands, "soak", 0);
      (void)!agx_cmd_dispatch(commands, &it);
      (void)!agx_cmd_end_label(commands);
      if (soak_chance(thread, 300))
         (void)!agx_cmd_fill(commands, part(thread, 64), push, 4);
      if (soak_chance(thread, 500))
         (void)!agx_cmd_barrier(commands, NULL);
   }
   (void)!agx_command_buffer_end(commands);
}

void soak_gpu_execute(struct soak_thread *thread, struct agx_op *op)
{
   struct agx_command_buffer **own = &thread->commands[soak_below(thread, SOAK_HELD)];
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc),
      .label = "soak",
      .flags = soak_chance(thread, 200) ? AGX_COMMAND_BUFFER_ONE_SHOT : 0,
   };
   struct agx_command_buffer *shared = thread->device->shared[soak_below(thread, SOAK_SCRATCH)];
   if (*own && soak_chance(thread, 200)) {
      agx_release(*own);
      *own = NULL;
   }
   if (!*own)
      (void)!agx_command_buffer_create(thread->device->device, &desc, own);
   if (*own && soak_chance(thread, 500))
      record(thread, *own);
   op->u.execute.commands = *own && soak_chance(thread, 500) ? *own : shared;
   (void)!soak_send(thread, op, NULL);
}

/* With a table of its own each time, as chains do with theirs. */
void soak_gpu_execute_tabled(struct soak_thread *thread, struct agx_op *op)
{
   struct soak_device *it = thread->device;
   const uint32_t which = soak_below(thread, SOAK_SCRATCH);
   const struct agx_buffer_ref table[3] = {
      {it->scratch[which], 16 * soak_below(thread, 200), 256},
      {it->scratch[(which + 1) % SOAK_SCRATCH], 16 * soak_below(thread, 200), 256},
      {it->parameters, 0, AGX_WHOLE_LENGTH},
   };
   const uint32_t slots = soak_chance(thread, 20) ? soak_below(thread, 3) : 3; /* too few */
   op->kind = AGX_OP_EXECUTE;
   op->u.execute =
      (struct agx_op_execute){it->tabled[soak_below(thread, SOAK_TABLED)], table, slots};
   const agx_status status = soak_send(thread, op, NULL);
   soak_check(status != AGX_OK || slots == 3, "a table of %u slots is taken for one of 3", slots);
}
