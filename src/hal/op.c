/* SPDX-License-Identifier: MIT
 *
 * The table of operations.
 */
#include "hal/op.h"

#include "base/util.h"
#include "hal/submission.h"

static agx_status prepare_execute(struct agx_device *device, const struct agx_op *op,
                                  struct agx_submission *submission)
{
   struct agx_command_buffer *commands = op->u.execute.commands;
   AGX_TRY(agx_command_buffer_check_submit(commands, device));
   agx_retain(commands);
   submission->commands = commands;
   return AGX_OK;
}

static const struct agx_op_type types[] = {
   [AGX_OP_BARRIER] = {.name = "barrier"},
   [AGX_OP_EXECUTE] = {.name = "execute", .prepare = prepare_execute},
};

const struct agx_op_type *agx_op_type(uint32_t kind)
{
   return kind < AGX_COUNT(types) && types[kind].name ? &types[kind] : NULL;
}
