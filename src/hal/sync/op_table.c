/* SPDX-License-Identifier: MIT
 *
 * The table of kinds of operations, and the two that need no file of their own: barrier and
 * execute. submit.c looks a kind up.
 */
#include "hal/sync/op_table.h"

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/sync/alloca.h"
#include "hal/record/binding_table.h"
#include "hal/sync/state.h"
#include "hal/sync/transfer_op.h"
#include "hal/sync/submission.h"

struct execute {
   struct agx_command_buffer *base; /* with a binding table: retained */
};

static agx_status prepare_barrier(struct agx_device *device, const struct agx_op *op,
                                  struct agx_submission *submission)
{
   return agx_bits_check(submission->type->name, "flags", op->flags, 0);
}

static agx_status prepare_execute(struct agx_device *device, const struct agx_op *op,
                                  struct agx_submission *submission)
{
   struct agx_command_buffer *commands = op->u.execute.commands;
   const struct agx_table table = {op->u.execute.table, op->u.execute.table_count};
   AGX_TRY(agx_bits_check(submission->type->name, "flags", op->flags, 0));
   AGX_TRY(agx_command_buffer_check_submit(commands, device));
   if (table.count && !commands->table_slots)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "submit: a table of %u slots for %s, which was made without table_slots",
                      table.count, commands->label);
   AGX_OP_STATE(submission, struct execute)->base = commands->table_slots ? commands : NULL;
   if (commands->table_slots)
      AGX_TRY(agx_table_acquire(commands, &table, &submission->commands));
   else
      submission->commands = commands;
   if (commands->table_slots &&
       agx_context_of(device)->profile) /* records name the one that was submitted */
      atomic_store(&submission->commands->profile_id, agx_command_buffer_profile_id(commands));
   agx_retain(commands);
   return AGX_OK;
}

static void drop_execute(struct agx_submission *submission)
{
   struct agx_command_buffer *base = AGX_OP_STATE(submission, struct execute)->base;
   if (!base)
      return;
   agx_table_return(base, submission->commands);
   agx_release(base);
}

static const struct agx_op_type barrier_op = {.name = "barrier", .prepare = prepare_barrier};
static const struct agx_op_type execute_op = {
   .name = "execute", .prepare = prepare_execute, .drop = drop_execute};

static const struct agx_op_type *const types[] = {
   [AGX_OP_BARRIER] = &barrier_op,       [AGX_OP_EXECUTE] = &execute_op,
   [AGX_OP_DISPATCH] = &agx_dispatch_op, [AGX_OP_FILL] = &agx_fill_op,
   [AGX_OP_UPDATE] = &agx_update_op,     [AGX_OP_COPY] = &agx_copy_op,
   [AGX_OP_ALLOCA] = &agx_alloca_op,     [AGX_OP_DEALLOCA] = &agx_dealloca_op,
};

const struct agx_op_type *agx_op_type(const struct agx_device *device, uint32_t kind)
{
   if (kind >= AGX_OP_KINDS)
      return NULL;
   const struct agx_op_type *above = agx_sync_of(device)->hooks.types[kind];
   return above || kind >= AGX_COUNT(types) ? above : types[kind];
}
