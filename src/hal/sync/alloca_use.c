/* SPDX-License-Identifier: MIT
 *
 * Uses of buffers whose memory comes and goes with the queue: schedule.c and send.c check that they
 * have memory, and say up to which epoch they are in use.
 */
#include "hal/sync/alloca_use.h"

#include "base/util.h"

static agx_status check_use(const struct agx_alloca *it)
{
   uint32_t state = agx_alloca_state(it);
   if (state == AGX_BUFFER_LIVE)
      return AGX_OK;
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: %s", it->buffer.label,
                   state == AGX_BUFFER_DEAD ? "used after its memory was given back"
                                            : "used before its allocation was waited for");
}

static bool is_transient(const struct agx_object *object)
{
   return object->type->is_transient;
}

agx_status agx_allocas_check(const struct agx_resources *resources)
{
   for (uint32_t i = 0; resources->has_allocas && i < resources->count; i++)
      if (is_transient(resources->uses[i].object))
         AGX_TRY(check_use(resources->uses[i].object));
   return AGX_OK;
}

void agx_allocas_unuse(const struct agx_resources *resources, uint32_t queue, uint64_t epoch)
{
   for (uint32_t i = 0; resources->has_allocas && i < resources->count; i++) {
      struct agx_alloca *it = resources->uses[i].object;
      if (it->buffer.object.type->is_transient)
         it->last_use.epochs[queue] = AGX_MIN(it->last_use.epochs[queue], epoch);
   }
}

agx_status agx_allocas_use(const struct agx_resources *resources, uint32_t queue, uint64_t epoch)
{
   AGX_TRY(agx_allocas_check(resources));
   for (uint32_t i = 0; resources->has_allocas && i < resources->count; i++) {
      struct agx_alloca *it = resources->uses[i].object;
      if (it->buffer.object.type->is_transient)
         it->last_use.epochs[queue] = AGX_MAX(it->last_use.epochs[queue], epoch);
   }
   return AGX_OK;
}
