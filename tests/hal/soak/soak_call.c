/* SPDX-License-Identifier: MIT
 *
 * Operations that the host does: functions and files.
 */
#include "soak.h"

/* ---- functions of the host ------------------------------------------------------ */

/* False: no thread will finish it, so its function must. */
static bool defer(struct soak_round *round, struct agx_host_call *call)
{
   pthread_mutex_lock(&round->lock);
   bool is_kept = !round->is_ending && round->deferred_count < 256;
   if (is_kept)
      round->deferred[round->deferred_count++] = call;
   pthread_mutex_unlock(&round->lock);
   return is_kept;
}

void soak_finish_deferred(struct soak_round *round, bool all)
{
   struct agx_host_call *call;
   do {
      pthread_mutex_lock(&round->lock);
      round->is_ending |= all;
      call = round->deferred_count ? round->deferred[--round->deferred_count] : NULL;
      pthread_mutex_unlock(&round->lock);
      if (call)
         agx_host_call_finish(call, ((uintptr_t)call >> 6) % 8 ? AGX_OK : AGX_ABORTED, NULL);
   } while (call && all);
}

enum call_way {
   CALL_OK,
   CALL_FAILS,
   CALL_DEFERS,
   CALL_SUBMITS,
   CALL_FINISHES,
   CALL_WAYS
};

/* args: enum call_way, the record. */
static agx_status on_call(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct soak_record *record = user;
   struct agx_point points[8];
   uint32_t calls = atomic_fetch_add(&record->calls, 1) + 1;
   soak_check(calls == 1, "a host call came %u times", calls);
   (void)agx_host_call_get_signals(call, 8, points);
   switch (args[0]) {
   case CALL_FAILS:
      return AGX_DATA_LOSS;
   case CALL_DEFERS:
      return defer(record->round, call) ? AGX_DEFERRED : AGX_OK;
   case CALL_FINISHES:
      agx_host_call_finish(call, AGX_OK, NULL);
      return AGX_DEFERRED;
   case CALL_SUBMITS: {
      const struct agx_op op = {.size = sizeof(op), .kind = AGX_OP_BARRIER};
      (void)!agx_submit(record->device->device, &op, 1, NULL);
      return AGX_OK;
   }
   default:
      return AGX_OK;
   }
}

void soak_call_host(struct soak_thread *thread, struct agx_op *op)
{
   struct soak_record *record = soak_record_take(thread);
   uint64_t way = soak_chance(thread, 200) ? soak_below(thread, CALL_WAYS) : CALL_OK;
   bool is_apart = soak_chance(thread, 100);
   if (!record)
      return;
   op->u.host_call = (struct agx_op_host_call){
      .fn = on_call,
      .user = record,
      .args = {way},
      .flags = is_apart ? AGX_HOST_CALL_NON_BLOCKING : 0,
   };
   (void)!soak_send(thread, op, is_apart ? NULL : record);
}

/* ---- memory and files -------------------------------------------------------------- */

static void on_file_release(void *user)
{
   struct soak_record *record = user;
   uint32_t calls = atomic_fetch_add(&record->calls, 1) + 1;
   soak_check(calls == 1, "a file was released %u times", calls);
}

void soak_use_file(struct soak_thread *thread, struct agx_op *op)
{
   static uint8_t memory[SOAK_THREADS][512];
   struct soak_record *record = soak_record_take(thread);
   struct agx_file *file = NULL;
   const struct agx_file_desc desc = {
      .size = sizeof(desc),
      .kind = AGX_FILE_HOST_MEMORY,
      .access = AGX_FILE_READ | AGX_FILE_WRITE,
      .memory = memory[thread->index],
      .memory_B = sizeof(memory[0]),
      .release = on_file_release,
      .user = record,
   };
   if (!record || agx_file_import(thread->device->device, &desc, &file) != AGX_OK)
      return;
   record->least = 1;
   op->kind = AGX_OP_READ; /* many at a time write memory that the model doesn't read */
   op->u.file = (struct agx_op_file){file,
                                     0,
                                     {thread->device->scratch[soak_below(thread, SOAK_SCRATCH)],
                                      4 * soak_below(thread, 900), 256}};
   (void)!soak_send(thread, op, NULL);
   agx_release(file);
}
