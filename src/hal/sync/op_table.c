/* SPDX-License-Identifier: MIT
 *
 * The table of kinds of operations, which submit.c looks a kind up in, and those that need no file
 * of their own: barrier and execute, and the ones that are one command each, dispatch, fill, update
 * and copy, of buffers and images. For the latter, prepare records the command into a command
 * buffer of the device, and drop keeps that to be used again.
 */
#include "hal/sync/op.h"

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/record/binding_table.h"
#include "hal/record/transfer.h"
#include "hal/sync/alloca.h"
#include "hal/sync/state.h"
#include "hal/sync/submission.h"

/* ---- barrier, execute ------------------------------------------------------ */

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
   AGX_TRY(agx_bits_check(submission->type->name, "flags", op->flags, 0));
   AGX_TRY(agx_command_buffer_check_submit(commands, device));
   const struct agx_table table = {op->u.execute.table,
                                   AGX_MIN(op->u.execute.table_count, commands->table_slots)};
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

#define MAX_SPARE 256 /* command buffers of a device */

/* ---- one command each: their command buffers
 * ------------------------------------------------------ */

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
static agx_status acquire_commands(struct agx_device *device,
                                   struct agx_command_buffer **out_commands)
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

/* ---- one command each: the operations
 * ------------------------------------------------------------ */

static agx_status record(struct agx_command_buffer *commands, const struct agx_op *op)
{
   const struct agx_op_image *image = &op->u.image;
   switch (op->kind) {
   case AGX_OP_CLEAR_IMAGE:
      return agx_cmd_clear_image(commands, image->target, image->target_region, image->color);
   case AGX_OP_COPY_IMAGE:
      return agx_cmd_copy_image(commands, image->source, image->source_region, image->target,
                                image->target_region);
   case AGX_OP_COPY_TO_IMAGE:
      return agx_cmd_copy_to_image(commands, image->texels, image->target, image->target_region);
   case AGX_OP_COPY_FROM_IMAGE:
      return agx_cmd_copy_from_image(commands, image->source, image->source_region, image->texels);
   case AGX_OP_FILL:
      return agx_cmd_fill(commands, op->u.fill.target, op->u.fill.pattern, op->u.fill.pattern_B);
   case AGX_OP_UPDATE:
      return agx_record_update(commands, op->u.update.data, op->u.update.target);
   case AGX_OP_COPY:
      return agx_cmd_copy(commands, op->u.copy.source, op->u.copy.target);
   default:
      if (!op->u.dispatch.dispatch)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: the dispatch is NULL");
      return agx_cmd_dispatch(commands, op->u.dispatch.dispatch);
   }
}

static bool is_of_host(const struct agx_buffer_ref *ref)
{
   return ref->buffer && ref->buffer->is_host_only;
}

/* Whether the host has to do it, since the GPU can't reach what it names. */
static bool is_host_transfer(const struct agx_op *op)
{
   switch (op->kind) {
   case AGX_OP_FILL:
      return is_of_host(&op->u.fill.target);
   case AGX_OP_UPDATE:
      return is_of_host(&op->u.update.target);
   case AGX_OP_COPY:
      return is_of_host(&op->u.copy.source) || is_of_host(&op->u.copy.target);
   default:
      return false;
   }
}

static agx_status prepare_one_shot(struct agx_device *device, const struct agx_op *op,
                                   struct agx_submission *submission)
{
   struct agx_command_buffer *commands = NULL;
   if (is_host_transfer(op)) {
      submission->type = agx_sync_of(device)->hooks.host_transfer;
      return submission->type->prepare(device, op, submission);
   }
   AGX_TRY(agx_bits_check(submission->type->name, "flags", op->flags, 0));
   AGX_TRY(acquire_commands(device, &commands));
   agx_status status = record(commands, op);
   if (status == AGX_OK)
      status = agx_command_buffer_end(commands);
   if (status == AGX_OK)
      submission->commands = commands;
   else
      return_commands(device, commands);
   return status;
}

static void drop_one_shot(struct agx_submission *submission)
{
   return_commands(submission->device, submission->commands);
   submission->commands = NULL;
}

/* ---- all kinds ------------------------------------------------------------- */

#define ONE_SHOT(kind)                                                                             \
   {                                                                                               \
      .name = kind, .prepare = prepare_one_shot, .drop = drop_one_shot                             \
   }

static const struct agx_op_type barrier_op = {.name = "barrier", .prepare = prepare_barrier};
static const struct agx_op_type execute_op = {
   .name = "execute", .prepare = prepare_execute, .drop = drop_execute};
static const struct agx_op_type dispatch_op = ONE_SHOT("dispatch"), fill_op = ONE_SHOT("fill"),
                                update_op = ONE_SHOT("update"), copy_op = ONE_SHOT("copy"),
                                clear_image_op = ONE_SHOT("clear_image"),
                                copy_image_op = ONE_SHOT("copy_image"),
                                copy_to_image_op = ONE_SHOT("copy_to_image"),
                                copy_from_image_op = ONE_SHOT("copy_from_image");

static const struct agx_op_type *const types[] = {
   [AGX_OP_BARRIER] = &barrier_op,
   [AGX_OP_EXECUTE] = &execute_op,
   [AGX_OP_DISPATCH] = &dispatch_op,
   [AGX_OP_FILL] = &fill_op,
   [AGX_OP_UPDATE] = &update_op,
   [AGX_OP_COPY] = &copy_op,
   [AGX_OP_CLEAR_IMAGE] = &clear_image_op,
   [AGX_OP_COPY_IMAGE] = &copy_image_op,
   [AGX_OP_COPY_TO_IMAGE] = &copy_to_image_op,
   [AGX_OP_COPY_FROM_IMAGE] = &copy_from_image_op,
   [AGX_OP_ALLOCA] = &agx_alloca_op,
   [AGX_OP_DEALLOCA] = &agx_dealloca_op,
};

const struct agx_op_type *agx_op_type(const struct agx_device *device, uint32_t kind)
{
   if (kind >= AGX_OP_KINDS)
      return NULL;
   const struct agx_op_type *above = agx_sync_of(device)->hooks.types[kind];
   return above || kind >= AGX_COUNT(types) ? above : types[kind];
}
