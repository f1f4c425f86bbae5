/* SPDX-License-Identifier: MIT
 *
 * Operations of every kind between timelines.
 */
#include "soak.h"

/* ---- points ----------------------------------------------------------------- */

/* Adds up to two waits and two signals of timelines, and now and then a receipt. */
struct points {
   struct agx_point waits[6], signals[6];
   struct soak_timeline *signalled[6];
   struct soak_receipt *receipt;
};

static bool is_signalled(const struct agx_op *op, const struct agx_semaphore *semaphore)
{
   for (uint32_t i = 0; i < op->signal_count; i++)
      if (op->signals[i].semaphore == semaphore)
         return true;
   return false;
}

static void add_points(struct soak_thread *thread, struct agx_op *op, struct points *points)
{
   for (uint32_t n = soak_below(thread, 3); n-- > 0;) {
      struct soak_timeline *timeline = soak_timeline_pick(thread);
      uint64_t next = atomic_load(&timeline->next), back = soak_below(thread, 4);
      uint64_t value = back < next ? next - back : 1;
      value += soak_chance(thread, 100) ? 1 + soak_below(thread, 3) : 0;
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
       agx_semaphore_create(thread->round->device, 0, &receipt->semaphore) != AGX_OK)
      return;
   points->receipt = receipt;
   points->signals[op->signal_count++] = (struct agx_point){receipt->semaphore, 1};
}

static void promise(struct soak_timeline *timeline, uint64_t value)
{
   uint64_t before = timeline ? atomic_load(&timeline->promised) : value;
   while (before < value && !atomic_compare_exchange_weak(&timeline->promised, &before, value))
      ;
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
   if (!op->signal_count)
      add_points(thread, op, &points);
   add_receipt(thread, op, &points);
   agx_status status = agx_submit(thread->round->device, op, 1, NULL);
   atomic_fetch_add(status == AGX_OK ? &thread->round->submitted : &thread->round->refused, 1);
   for (uint32_t i = 0; status == AGX_OK && i < op->signal_count; i++)
      promise(points.signalled[i], points.signals[i].value);
   if (!points.receipt)
      return status;
   points.receipt->round = thread->round;
   points.receipt->call = call;
   points.receipt->kind = op->kind;
   if (status != AGX_OK) {
      agx_release(points.receipt->semaphore);
      points.receipt->semaphore = NULL;
   }
   return status;
}

/* ---- functions of the host ------------------------------------------------------ */

/* False: nobody takes it, it is to end now. */
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
      (void)!agx_submit(record->round->device, &op, 1, NULL);
      return AGX_OK;
   }
   default:
      return AGX_OK;
   }
}

static void call_host(struct soak_thread *thread, struct agx_op *op)
{
   struct soak_record *record = soak_record_take(thread->round, SOAK_CALL);
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

/* ---- on the GPU ------------------------------------------------------------------- */

static struct agx_buffer_ref part(struct soak_thread *thread, uint32_t length_B)
{
   uint32_t offset_B = soak_below(thread, (SOAK_SCRATCH_B - length_B) / 4) * 4;
   return (struct agx_buffer_ref){thread->round->scratch[soak_below(thread, SOAK_SCRATCH)],
                                  offset_B, length_B};
}

static void fill(struct soak_thread *thread, struct agx_op *op)
{
   op->u.fill = (struct agx_op_fill){.target = part(thread, 4 * (1 + soak_below(thread, 64))),
                                     .pattern = {1, 2, 3, 4},
                                     .pattern_B = 1u << soak_below(thread, 3)};
   (void)!soak_send(thread, op, NULL);
}

static void update(struct soak_thread *thread, struct agx_op *op)
{
   uint8_t data[64] = {(uint8_t)thread->index};
   op->u.update = (struct agx_op_update){data, part(thread, 1 + soak_below(thread, 64))};
   (void)!soak_send(thread, op, NULL);
}

static void copy(struct soak_thread *thread, struct agx_op *op)
{
   op->u.copy.source = part(thread, 100);
   op->u.copy.target = part(thread, 100);
   (void)!soak_send(thread, op, NULL);
}

/* With the bindings and constants of whichever kernel it is. */
static void describe(struct soak_thread *thread, struct agx_dispatch *dispatch,
                     struct agx_binding bindings[2], uint32_t push[2])
{
   struct soak_round *round = thread->round;
   bool strays = round->plan.strays && soak_chance(thread, 4), adds = soak_chance(thread, 500);
   push[0] = 0xdead0000;
   push[1] = 1;
   for (uint32_t i = 0; i < 2; i++) {
      bindings[i] = (struct agx_binding){.binding = i, .ref = part(thread, 1024)};
      bindings[i].ref.offset_B &= ~15ull;
   }
   *dispatch = (struct agx_dispatch){
      .size = sizeof(*dispatch),
      .executable = strays ? round->stray
                    : adds ? round->add
                           : round->count,
      .workgroups = {1 + soak_below(thread, 2), 1, 1},
      .binding_count = strays ? 0 : 1 + adds,
      .bindings = bindings,
      .push = push,
      .push_B = strays ? 8 : 4,
   };
}

static void dispatch(struct soak_thread *thread, struct agx_op *op)
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

static void execute(struct soak_thread *thread, struct agx_op *op)
{
   struct agx_command_buffer **own = &thread->commands[soak_below(thread, SOAK_HELD)];
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc),
      .label = "soak",
      .flags = soak_chance(thread, 200) ? AGX_COMMAND_BUFFER_ONE_SHOT : 0,
   };
   struct agx_command_buffer *shared = thread->round->shared[soak_below(thread, SOAK_SCRATCH)];
   if (*own && soak_chance(thread, 200)) {
      agx_release(*own);
      *own = NULL;
   }
   if (!*own)
      (void)!agx_command_buffer_create(thread->round->device, &desc, own);
   if (*own && soak_chance(thread, 500))
      record(thread, *own);
   op->u.execute.commands = *own && soak_chance(thread, 500) ? *own : shared;
   (void)!soak_send(thread, op, NULL);
}

/* ---- memory and files -------------------------------------------------------------- */

static void on_file_release(void *user)
{
   struct soak_record *record = user;
   uint32_t calls = atomic_fetch_add(&record->calls, 1) + 1;
   soak_check(calls == 1, "a file was released %u times", calls);
}

static void use_file(struct soak_thread *thread, struct agx_op *op)
{
   static uint8_t memory[SOAK_THREADS][512];
   struct soak_record *record = soak_record_take(thread->round, SOAK_FILE);
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
   if (!record || agx_file_import(thread->round->device, &desc, &file) != AGX_OK)
      return;
   record->least = 1;
   op->kind = AGX_OP_READ; /* many at a time write nothing that anybody reads */
   op->u.file = (struct agx_op_file){file, 0, part(thread, 256)};
   (void)!soak_send(thread, op, NULL);
   agx_release(file);
}

static void barrier(struct soak_thread *thread, struct agx_op *op)
{
   (void)!soak_send(thread, op, NULL);
}

void soak_submit(struct soak_thread *thread)
{
   static const struct {
      const char *name;
      uint32_t kind, weight;
      void (*run)(struct soak_thread *thread, struct agx_op *op);
   } kinds[] = {
      {"barrier", AGX_OP_BARRIER, 15, barrier},       {"fill", AGX_OP_FILL, 10, fill},
      {"update", AGX_OP_UPDATE, 10, update},          {"copy", AGX_OP_COPY, 10, copy},
      {"dispatch", AGX_OP_DISPATCH, 15, dispatch},    {"execute", AGX_OP_EXECUTE, 20, execute},
      {"host call", AGX_OP_HOST_CALL, 12, call_host}, {"file", AGX_OP_READ, 8, use_file},
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
