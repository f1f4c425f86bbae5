/* SPDX-License-Identifier: MIT
 *
 * Operations of every kind between timelines, and several in one call.
 */
#include "soak.h"

/* ---- points ----------------------------------------------------------------- */

struct points {
   struct agx_point waits[6], signals[6];
   struct soak_timeline *signalled[6];
   struct agx_point after[2]; /* waits for timelines */
   struct soak_receipt *receipt;
};

static bool is_signalled(const struct agx_op *op, const struct agx_semaphore *semaphore)
{
   for (uint32_t i = 0; i < op->signal_count; i++)
      if (op->signals[i].semaphore == semaphore)
         return true;
   return false;
}

/* Up to two waits and two signals of timelines. */
static void add_points(struct soak_thread *thread, struct agx_op *op, struct points *points)
{
   for (uint32_t n = soak_below(thread, 3); n-- > 0;) {
      struct soak_timeline *timeline = soak_timeline_pick(thread);
      uint64_t next = atomic_load(&timeline->next), back = soak_below(thread, 4);
      uint64_t value = back < next ? next - back : 1;
      value += soak_chance(thread, 100) ? 1 + soak_below(thread, 3) : 0;
      points->after[n] = (struct agx_point){timeline->semaphore, value};
      points->waits[op->wait_count++] = (struct agx_point){timeline->semaphore, value};
   }
   for (uint32_t n = soak_below(thread, 3); n-- > 0;) {
      struct soak_timeline *timeline = soak_timeline_pick(thread);
      if (is_signalled(op, timeline->semaphore))
         continue;
      points->signalled[op->signal_count] = timeline;
      points->signals[op->signal_count++] =
         (struct agx_point){timeline->semaphore, atomic_fetch_add(&timeline->next, 1) + 1};
   }
}

static void add_receipt(struct soak_thread *thread, struct agx_op *op, struct points *points)
{
   struct soak_receipt *receipt = &thread->receipts[soak_below(thread, SOAK_RECEIPTS)];
   if (!soak_receipt_check(receipt, 0) ||
       agx_semaphore_create(thread->device->device, 0, &receipt->semaphore) != AGX_OK)
      return;
   *receipt = (struct soak_receipt){.semaphore = receipt->semaphore,
                                    .round = thread->round,
                                    .after = {points->after[0], points->after[1]},
                                    .kind = op->kind};
   points->receipt = receipt;
   points->signals[op->signal_count++] = (struct agx_point){receipt->semaphore, 1};
}

static void promise(struct soak_timeline *timeline, uint64_t value)
{
   uint64_t before = timeline ? atomic_load(&timeline->promised) : value;
   while (before < value && !atomic_compare_exchange_weak(&timeline->promised, &before, value))
      ;
}

/* What became of an operation that was submitted. */
static void note(struct soak_round *round, const struct agx_op *op, const struct points *points,
                 bool is_queued)
{
   atomic_fetch_add(is_queued ? &round->submitted : &round->refused, 1);
   for (uint32_t i = 0; is_queued && i < op->signal_count; i++)
      promise(points->signalled[i], points->signals[i].value);
   if (is_queued || !points->receipt)
      return;
   /* Others of the same call may wait for it. */
   agx_semaphore_fail(points->receipt->semaphore, AGX_CANCELLED, "never submitted");
   agx_release(points->receipt->semaphore);
   points->receipt->semaphore = NULL;
}

agx_status soak_send(struct soak_thread *thread, struct agx_op *op, struct soak_record *call)
{
   struct points points = {0};
   for (uint32_t i = 0; i < op->wait_count; i++)
      points.waits[i] = op->waits[i];
   for (uint32_t i = 0; i < op->signal_count; i++)
      points.signals[i] = op->signals[i];
   op->size = sizeof(*op);
   op->waits = points.waits;
   op->signals = points.signals;
   if (soak_chance(thread, 300))
      op->queues = 1ull << soak_below(thread, thread->round->plan.queues);
   if (!op->signal_count || (op->kind == AGX_OP_ALLOCA && soak_chance(thread, 300)))
      add_points(thread, op, &points);
   add_receipt(thread, op, &points);
   if (points.receipt)
      points.receipt->call = call;
   agx_status status = agx_submit(thread->device->device, op, 1, NULL);
   note(thread->round, op, &points, status == AGX_OK);
   return status;
}

/* ---- several in one call ------------------------------------------------------- */

#define BATCH 6

/* Each may wait for others of them, also for later ones: but never for one that waits for it. */
static void add_order(struct soak_thread *thread, struct agx_op *ops, struct points *points,
                      uint32_t index, uint32_t other)
{
   const struct soak_receipt *receipt = points[other].receipt;
   if (receipt && soak_chance(thread, 500))
      points[index].waits[ops[index].wait_count++] = (struct agx_point){receipt->semaphore, 1};
}

static void soak_batch(struct soak_thread *thread, struct agx_op *unused)
{
   struct agx_op ops[BATCH];
   struct points points[BATCH] = {0};
   const uint32_t count = 2 + soak_below(thread, BATCH - 1);
   const bool is_forward = soak_chance(thread, 500);
   const uint32_t word = 1;
   uint32_t queued = 77;
   for (uint32_t i = 0; i < count; i++) {
      ops[i] = (struct agx_op){.size = sizeof(ops[i]),
                               .kind = soak_chance(thread, 500) ? AGX_OP_BARRIER : AGX_OP_UPDATE,
                               .waits = points[i].waits,
                               .signals = points[i].signals};
      if (ops[i].kind == AGX_OP_UPDATE)
         ops[i].u.update =
            (struct agx_op_update){&word, {thread->device->scratch[i % SOAK_SCRATCH], 4 * i, 4}};
      if (soak_chance(thread, 300))
         ops[i].queues = 1ull << soak_below(thread, thread->round->plan.queues);
      add_points(thread, &ops[i], &points[i]);
      add_receipt(thread, &ops[i], &points[i]);
   }
   for (uint32_t i = 1; i < count; i++)
      add_order(thread, ops, points, is_forward ? i : i - 1, is_forward ? i - 1 : i);
   const agx_status status = agx_submit(thread->device->device, ops, count, &queued);
   soak_check(queued <= count && (status == AGX_OK) == (queued == count),
              "a batch of %u: %s, %u queued", count, agx_status_name(status), queued);
   for (uint32_t i = 0; i < count; i++)
      note(thread->round, &ops[i], &points[i], i < queued);
}

/* ---- all kinds -------------------------------------------------------------------- */

static void barrier(struct soak_thread *thread, struct agx_op *op)
{
   (void)!soak_send(thread, op, NULL);
}

/* What another device signals is no business of this one's queues. */
static void wait_elsewhere(struct soak_thread *thread, struct agx_op *op)
{
   struct soak_timeline *timeline = soak_timeline_pick_any(thread);
   const struct agx_point wait = {timeline->semaphore, 1};
   *op =
      (struct agx_op){.size = sizeof(*op), .kind = AGX_OP_BARRIER, .waits = &wait, .wait_count = 1};
   const agx_status status = agx_submit(thread->device->device, op, 1, NULL);
   soak_check(status != AGX_OK || soak_is_own(thread, timeline),
              "a wait for another device is taken");
}

void soak_submit(struct soak_thread *thread)
{
   static const struct {
      const char *name;
      uint32_t kind, weight;
      void (*run)(struct soak_thread *thread, struct agx_op *op);
   } kinds[] = {
      {"barrier", AGX_OP_BARRIER, 10, barrier},
      {"batch", AGX_OP_BARRIER, 6, soak_batch},
      {"barrier for another device", AGX_OP_BARRIER, 1, wait_elsewhere},
      {"fill", AGX_OP_FILL, 9, soak_gpu_fill},
      {"update", AGX_OP_UPDATE, 9, soak_gpu_update},
      {"copy", AGX_OP_COPY, 9, soak_gpu_copy},
      {"dispatch", AGX_OP_DISPATCH, 14, soak_gpu_dispatch},
      {"execute", AGX_OP_EXECUTE, 16, soak_gpu_execute},
      {"execute with a table", AGX_OP_EXECUTE, 8, soak_gpu_execute_tabled},
      {"host call", AGX_OP_HOST_CALL, 11, soak_call_host},
      {"file", AGX_OP_READ, 7, soak_use_file},
   };
   uint32_t pick = soak_below(thread, 100);
   for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
      if (pick < kinds[i].weight) {
         struct agx_op op = {.kind = kinds[i].kind};
         atomic_store(&thread->doing, kinds[i].name);
         kinds[i].run(thread, &op);
         return;
      }
      pick -= kinds[i].weight;
   }
}
