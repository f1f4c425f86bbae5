/* SPDX-License-Identifier: MIT
 *
 * Operations that are one command each: dispatch, fill, update, copy. agx_submit calls prepare,
 * which records the command into a command buffer of the device; drop keeps that to be used again.
 */
#include "hal/sync/transfer_op.h"

#include "hal/core/desc.h"
#include "hal/record/transfer.h"
#include "hal/sync/submission.h"

#define MAX_SPARE 256

/* ---- command buffers ------------------------------------------------------ */

void agx_one_shots_init(struct agx_one_shots *one_shots)
{
   pthread_mutex_init(&one_shots->lock, NULL);
}

void agx_one_shots_trim(struct agx_one_shots *one_shots)
{
   pthread_mutex_lock(&one_shots->lock);
   struct agx_command_buffer *commands = one_shots->spare;
   one_shots->spare = NULL;
   one_shots->count = 0;
   pthread_mutex_unlock(&one_shots->lock);
   while (commands) {
      struct agx_command_buffer *next = commands->next_spare;
      agx_release(commands);
      commands = next;
   }
}

void agx_one_shots_fini(struct agx_one_shots *one_shots)
{
   agx_one_shots_trim(one_shots);
   pthread_mutex_destroy(&one_shots->lock);
}

static agx_status create(struct agx_device *device, struct agx_command_buffer **out_commands)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = "queue operation"};
   AGX_TRY(agx_command_buffer_create(device, &desc, out_commands));
   (*out_commands)->is_own = true;
   agx_release(device);
   agx_status status = agx_command_buffer_begin(*out_commands);
   if (status != AGX_OK)
      agx_release(*out_commands);
   return status;
}

/* One that is begun, and a reference to the device. */
static agx_status take(struct agx_device *device, struct agx_command_buffer **out_commands)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_one_shots *one_shots = &sync->one_shots;
   pthread_mutex_lock(&one_shots->lock);
   *out_commands = one_shots->spare;
   if (*out_commands) {
      one_shots->spare = (*out_commands)->next_spare;
      one_shots->count--;
   }
   pthread_mutex_unlock(&one_shots->lock);
   if (!*out_commands)
      AGX_TRY(create(device, out_commands));
   agx_retain(device);
   return AGX_OK;
}

/* Lets go of what was recorded. */
static void return_commands(struct agx_device *device, struct agx_command_buffer *commands)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_one_shots *one_shots = &sync->one_shots;
   bool is_kept = agx_command_buffer_begin(commands) == AGX_OK;
   pthread_mutex_lock(&one_shots->lock);
   is_kept = is_kept && one_shots->count < MAX_SPARE;
   if (is_kept) {
      commands->next_spare = one_shots->spare;
      one_shots->spare = commands;
      one_shots->count++;
   }
   pthread_mutex_unlock(&one_shots->lock);
   if (!is_kept)
      agx_release(commands);
   agx_release(device);
}

/* ---- operations ------------------------------------------------------------ */

static agx_status record_dispatch(struct agx_command_buffer *commands, const struct agx_op *op)
{
   if (!op->u.dispatch.dispatch)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: the dispatch is NULL");
   return agx_cmd_dispatch(commands, op->u.dispatch.dispatch);
}

static agx_status record_fill(struct agx_command_buffer *commands, const struct agx_op *op)
{
   const struct agx_op_fill *fill = &op->u.fill;
   return agx_cmd_fill(commands, fill->target, fill->pattern, fill->pattern_B);
}

static agx_status record_update(struct agx_command_buffer *commands, const struct agx_op *op)
{
   return agx_record_update(commands, op->u.update.data, op->u.update.target);
}

static agx_status record_copy(struct agx_command_buffer *commands, const struct agx_op *op)
{
   return agx_cmd_copy(commands, op->u.copy.source, op->u.copy.target);
}

typedef agx_status (*record_function)(struct agx_command_buffer *, const struct agx_op *);

static agx_status prepare(struct agx_device *device, const struct agx_op *op,
                          struct agx_submission *submission, record_function record)
{
   struct agx_command_buffer *commands = NULL;
   AGX_TRY(agx_bits_check(submission->type->name, "flags", op->flags, 0));
   AGX_TRY(take(device, &commands));
   agx_status status = record(commands, op);
   if (status == AGX_OK)
      status = agx_command_buffer_end(commands);
   if (status == AGX_OK)
      submission->commands = commands;
   else
      return_commands(device, commands);
   return status;
}

static void drop(struct agx_submission *submission)
{
   return_commands(submission->device, submission->commands);
   submission->commands = NULL;
}

#define OP(kind)                                                                                   \
   static agx_status prepare_##kind(struct agx_device *device, const struct agx_op *op,            \
                                    struct agx_submission *submission)                             \
   {                                                                                               \
      return prepare(device, op, submission, record_##kind);                                       \
   }                                                                                               \
   const struct agx_op_type agx_##kind##_op = {                                                    \
      .name = #kind, .prepare = prepare_##kind, .drop = drop}

OP(dispatch);
OP(fill);
OP(update);
OP(copy);
