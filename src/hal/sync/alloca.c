/* SPDX-License-Identifier: MIT
 *
 * AGX_OP_ALLOCA and AGX_OP_DEALLOCA: allocating and freeing in the order of the queues (alloca.h
 * says how a buffer gets its address and its memory). agx_submit and schedule.c call prepare,
 * launch and drop through the tables; agx_buffer_release_after submits a dealloca. At the end, uses
 * of such buffers: schedule.c and send.c check that they have memory, and say up to which epoch
 * they are in use.
 */
#include "hal/sync/alloca.h"

#include <string.h>

#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/memory/state.h"
#include "hal/sync/notify.h"
#include "hal/sync/points.h"
#include "hal/sync/schedule.h"

#define MAX_SPARE 64u /* objects of a device */

struct state {
   struct agx_alloca *it;   /* retained */
   struct agx_buffer **out; /* cleared when the operation is not submitted after all */
   bool may_wait;
   bool is_release; /* a dealloca that takes the caller's reference over, and nothing else */
};

/* ---- life -------------------------------------------------------------------- */

static void set_state(struct agx_alloca *it, uint32_t state)
{
   atomic_store_explicit(&it->buffer.state, state, memory_order_release);
}

/* Gives memory back that is used until death, in the order of a queue or of none (AGX_NO_QUEUE).
 * True: an operation waits for some. */
static bool return_block(struct agx_alloca *it, uint32_t queue, const struct agx_frontier *death,
                         const struct agx_frontier *reached)
{
   struct agx_pool_block *block = it->block;
   it->block = NULL;
   if (!block)
      return false;
   return agx_pool_return(it->pool, block, queue,
                          agx_frontier_covers(reached, death) ? NULL : death);
}

void agx_alloca_spares_init(struct agx_alloca_spares *spares)
{
   pthread_mutex_init(&spares->lock, NULL);
}

void agx_alloca_spares_fini(struct agx_alloca_spares *spares, const struct agx_host_alloc *alloc)
{
   while (spares->first) {
      struct agx_alloca *it = spares->first;
      spares->first = it->next;
      agx_host_free(alloc, it, sizeof(*it));
   }
   pthread_mutex_destroy(&spares->lock);
}

static struct agx_alloca *new_object(struct agx_device *device)
{
   struct agx_alloca_spares *spares = &agx_sync_of(device)->allocas;
   pthread_mutex_lock(&spares->lock);
   struct agx_alloca *it = spares->first;
   if (it) {
      spares->first = it->next;
      spares->count--;
   }
   pthread_mutex_unlock(&spares->lock);
   if (!it)
      return agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*it));
   memset(it, 0, sizeof(*it));
   return it;
}

static void free_object(struct agx_device *device, struct agx_alloca *it)
{
   struct agx_alloca_spares *spares = &agx_sync_of(device)->allocas;
   pthread_mutex_lock(&spares->lock);
   bool is_kept = spares->count < MAX_SPARE;
   if (is_kept) {
      it->next = spares->first;
      spares->first = it;
      spares->count++;
   }
   pthread_mutex_unlock(&spares->lock);
   if (!is_kept)
      agx_host_free(agx_context_of(device)->alloc, it, sizeof(*it));
}

/* All uses are over, since each held a reference; but the buffer may go before its own allocation
 * has been launched. */
static void alloca_destroy(struct agx_object *object)
{
   struct agx_alloca *it = agx_container_of(object, struct agx_alloca, buffer.object);
   struct agx_pool *pool = it->pool;
   struct agx_device *device = pool->device;
   if (it->buffer.bo != (it->slab ? it->slab->bo : NULL))
      agxw_bo_destroy(it->buffer.bo);
   if (it->block) {
      const struct agx_frontier reached = agx_device_reached(device);
      struct agx_frontier death = it->block->death;
      agx_frontier_merge(&death, &it->last_use);
      if (return_block(it, AGX_NO_QUEUE, &death, &reached))
         agx_device_retry(device);
   }
   agx_release(it->slab);
   free_object(device, it);
   agx_pool_release(pool);
}

static const struct agx_object_type alloca_type = {
   .name = "buffer",
   .destroy = alloca_destroy,
   .set_label = agx_buffer_set_label,
   .is_transient = true,
};

static agx_status host_memory(struct agx_buffer *buffer, void **out_memory)
{
   struct agx_alloca *it = (struct agx_alloca *)buffer;
   void *memory;
   *out_memory = NULL;
   agx_sync_lock(agx_sync_of(buffer->device));
   struct agx_buffer *slab = agx_alloca_state(it) == AGX_BUFFER_LIVE ? it->slab : NULL;
   agx_sync_unlock(agx_sync_of(buffer->device));
   if (!slab)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: it has no memory now", buffer->label);
   AGX_TRY(agx_buffer_host_memory(slab, &memory));
   *out_memory = (uint8_t *)memory + it->slab_offset_B;
   return AGX_OK;
}

/* The bit of the queue that it was allocated on. */
static uint64_t queues(const struct agx_buffer *buffer)
{
   const struct agx_alloca *it = (const struct agx_alloca *)buffer;
   return 1ull << it->origin->index;
}

static const struct agx_buffer_storage alloca_storage = {host_memory, queues};

static agx_status new_alloca(struct agx_pool *pool, const struct agx_op *op,
                             struct agx_alloca **out_it)
{
   struct agx_alloca *it = new_object(pool->device);
   if (!it)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "alloca: out of host memory");
   agx_object_init(&it->buffer.object, &alloca_type);
   agx_pool_retain(pool);
   it->pool = pool;
   it->align_B = AGX_MAX(op->u.alloca.align_B, 1u);
   it->is_indeterminate = op->flags & AGX_ALLOCA_INDETERMINATE_LIFETIME;
   it->buffer.device = pool->device;
   it->buffer.serial = agx_buffer_next_serial(pool->device);
   it->buffer.size_B = op->u.alloca.size_B;
   it->buffer.storage = &alloca_storage;
   set_state(it, AGX_BUFFER_RESERVED);
   agx_pool_describe(pool, &it->buffer);
   *out_it = it;
   return AGX_OK;
}

/* ---- memory ------------------------------------------------------------------ */

/* It has the block's memory from now on. */
static void take_over(struct agx_alloca *it, struct agx_pool_block *block)
{
   it->block = block;
   it->slab = block->slab->memory;
   it->slab_offset_B = block->offset_B;
   agx_retain(it->slab);
}

/* The block's own addresses. */
static void show_block(struct agx_alloca *it)
{
   it->buffer.bo = it->slab->bo;
   it->buffer.offset_B = it->slab->offset_B + it->slab_offset_B;
   it->buffer.address = it->slab->address + it->slab_offset_B;
}

/* For a block that comes later. Where the pool has none of whole pages, the addresses come with it.
 */
static agx_status reserve_addresses(struct agx_alloca *it)
{
   it->buffer.has_late_address =
      agx_pool_is_callers(it->pool) && !(it->pool->caller.source.flags & AGX_POOL_SOURCE_PAGES);
   if (it->buffer.has_late_address)
      return AGX_OK;
   AGX_TRY(agxw_bo_reserve(agx_context_of(it->buffer.device)->winsys,
                           AGX_MAX(it->buffer.size_B, 1u), it->align_B, it->buffer.label,
                           &it->buffer.bo));
   it->buffer.address = agxw_bo_va(it->buffer.bo);
   return AGX_OK;
}

static bool needs_block(const struct agx_alloca *it)
{
   return !it->slab;
}

static agx_status bind_block(struct agx_alloca *it, const struct agx_pool_block *block)
{
   const struct agxw_bind bind = {
      .bytes = agxw_bo_size(it->buffer.bo),
      .memory = block->slab->memory->bo,
      .memory_offset = block->slab->memory->offset_B + block->offset_B,
      .is_readable = true,
      .is_writable = !(it->buffer.flags & AGX_BUFFER_GPU_READ_ONLY),
   };
   return agxw_bo_bind(it->buffer.bo, &bind, 1);
}

/* Whether one that was parked is about to take a block of the pool. */
static bool will_acquire(const struct agx_device *device, enum agx_submission_list list,
                         const struct agx_pool *pool)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_list_for_each (struct agx_submission, submission, &sync->submission_lists[list], link) {
      const struct state *state = AGX_OP_STATE(submission, struct state);
      if (submission->type == &agx_alloca_op && agx_submission_is_parked(submission) &&
          state->it->pool == pool && needs_block(state->it))
         return true;
   }
   return false;
}

/* Others of the pool come first, whose turn it is by now. Not those that are deferred: they have
 * been tried since memory was given back last. */
static bool others_come_first(struct agx_device *device, const struct agx_pool *pool)
{
   return will_acquire(device, AGX_LIST_STARTING, pool) ||
          will_acquire(device, AGX_LIST_UNBLOCKED, pool);
}

/* A source's block must not have to wait for what the GPU was not given yet. One more, since the
 * kernel may just be getting it. */
static agx_status check_death(const struct agx_alloca *it, const struct agx_pool_block *block)
{
   struct agx_sync_state *sync = agx_sync_of(it->buffer.device);
   agx_status status = AGX_OK;
   if (!agx_pool_is_callers(it->pool))
      return AGX_OK;
   agx_sync_lock(sync);
   for (uint32_t i = 0; i < AGX_MAX_QUEUES && status == AGX_OK; i++) {
      const uint64_t last = i < sync->queue_count ? sync->queues[i].epoch + 1 : 0;
      if (block->death.epochs[i] > last)
         status = AGX_FAIL(AGX_INVALID_ARGUMENT,
                           "%s: its source's block is to wait for epoch %llu of queue %u, which "
                           "has come to %llu",
                           it->pool->label, (unsigned long long)block->death.epochs[i], i,
                           (unsigned long long)(last ? last - 1 : 0));
   }
   agx_sync_unlock(sync);
   return status;
}

/* Where all that the operation waits for is submitted: a block that is used after those. */
static agx_status acquire_at_once(struct agx_alloca *it, const struct agx_op *op, bool may_wait)
{
   struct agx_device *device = it->buffer.device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_frontier covered = {0};
   agx_sync_lock(sync);
   bool is_ready = !others_come_first(device, it->pool);
   const struct agx_frontier reached = agx_device_reached_locked(device);
   for (uint32_t i = 0; i < op->wait_count && is_ready; i++) {
      struct agx_cause cause;
      is_ready = agx_point_resolve(&op->waits[i], &cause) == AGX_READY;
      if (cause.signal)
         agx_frontier_merge(&covered, &cause.signal->submission->frontier);
   }
   agx_sync_unlock(sync);
   if (!is_ready)
      return AGX_OK;
   agx_frontier_merge(&covered, &reached);
   const struct agx_pool_want want = {.size_B = AGX_MAX(it->buffer.size_B, 1u),
                                      .align_B = it->align_B,
                                      .covered = &covered,
                                      .may_wait = may_wait,
                                      .queue = it->origin->index};
   struct agx_pool_block *block;
   AGX_TRY(agx_pool_acquire(it->pool, &want, &reached, &block));
   if (!block)
      return AGX_OK;
   agx_status status = check_death(it, block);
   if (status != AGX_OK) {
      (void)agx_pool_return(it->pool, block, AGX_NO_QUEUE, &block->death);
      return status;
   }
   take_over(it, block);
   show_block(it);
   return AGX_OK;
}

/* A block for the addresses that the buffer has, whole pages; or of any addresses where it has none
 * yet. NULL: the pool is at its limit. */
static agx_status acquire_and_bind(struct agx_alloca *it, const struct agx_pool_want *want,
                                   const struct agx_frontier *reached,
                                   struct agx_pool_block **out_block)
{
   atomic_store(&it->pool->is_awaited, true);
   AGX_TRY(agx_pool_acquire(it->pool, want, reached, out_block));
   if (!*out_block)
      return AGX_OK;
   agx_status status = check_death(it, *out_block);
   if (status == AGX_OK && it->buffer.bo)
      status = bind_block(it, *out_block);
   if (status != AGX_OK)
      (void)agx_pool_return(it->pool, *out_block, AGX_NO_QUEUE, &(*out_block)->death);
   return status;
}

/* What it wants of the pool when its turn has come. */
static struct agx_pool_want late_want(const struct agx_alloca *it)
{
   const struct agxw_bo *own = it->buffer.bo;
   return (struct agx_pool_want){
      .size_B = own ? agxw_bo_size(own) : AGX_MAX(it->buffer.size_B, 1u),
      .align_B = own ? agxw_device_page(agx_context_of(it->buffer.device)->winsys) : it->align_B,
      .queue = it->origin->index,
   };
}

/* AGX_DEFERRED: there is no block. The lock is let go of meanwhile, and what is given back then
 * comes too early for an operation that is not deferred yet. */
AGX_SYNC_LOCKED static agx_status
take_late_unlocking(struct agx_alloca *it, const struct agx_frontier *waited, bool may_wait)
{
   struct agx_device *device = it->buffer.device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_pool_block *block = NULL;
   agx_status status = AGX_OK;
   uint64_t retries;
   do {
      const struct agx_frontier reached = agx_device_reached_locked(device);
      struct agx_frontier covered = reached;
      agx_frontier_merge(&covered, waited);
      struct agx_pool_want want = late_want(it);
      want.covered = &covered;
      want.may_wait = may_wait;
      retries = sync->retries;
      agx_sync_unlock(sync);
      status = acquire_and_bind(it, &want, &reached, &block);
      agx_sync_lock(sync);
   } while (status == AGX_OK && !block && retries != sync->retries);
   if (status != AGX_OK) {
      agx_device_retry_locked(device); /* it had a block meanwhile */
      return status;
   }
   if (!block) {
      agx_device_wake(device); /* to notice what ends on the GPU */
      return AGX_DEFERRED;
   }
   take_over(it, block);
   if (it->buffer.has_late_address)
      show_block(it);
   return AGX_OK;
}

/* ---- alloca ------------------------------------------------------------------ */

static agx_status check_alloca(struct agx_device *device, const struct agx_op *op)
{
   const uint64_t known = AGX_ALLOCA_ALLOW_WAIT | AGX_ALLOCA_INDETERMINATE_LIFETIME;
   const struct agx_op_alloca *wanted = &op->u.alloca;
   AGX_TRY(agx_bits_check("alloca", "flags", op->flags, known));
   if (!wanted->out_buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "alloca: out_buffer is NULL");
   if (wanted->pool && wanted->pool->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "alloca: %s is %s", wanted->pool->label,
                      agx_describe_owner(wanted->pool->device, device).text);
   return AGX_OK;
}

static agx_status alloca_prepare(struct agx_device *device, const struct agx_op *op,
                                 struct agx_submission *submission)
{
   struct state *state = AGX_OP_STATE(submission, struct state);
   AGX_TRY(check_alloca(device, op));
   *op->u.alloca.out_buffer = NULL;
   struct agx_pool *pool = op->u.alloca.pool ? op->u.alloca.pool : agx_memory_of(device)->pool;
   AGX_TRY(agx_pool_check(pool, op->u.alloca.size_B, op->u.alloca.align_B));
   struct agx_alloca *it = NULL;
   AGX_TRY(new_alloca(pool, op, &it));
   it->origin = submission->queue;
   const bool may_wait = op->flags & AGX_ALLOCA_ALLOW_WAIT;
   agx_status status = acquire_at_once(it, op, may_wait);
   /* No memory now is no reason to refuse: it may come. A source says itself what it is. */
   if (status == AGX_RESOURCE_EXHAUSTED && !agx_pool_is_callers(pool))
      status = AGX_OK;
   if (status == AGX_OK && needs_block(it))
      status = reserve_addresses(it);
   if (status != AGX_OK) {
      agx_release(it);
      return status;
   }
   *state = (struct state){.it = it, .out = op->u.alloca.out_buffer, .may_wait = may_wait};
   *op->u.alloca.out_buffer = &it->buffer;
   agx_retain(it);
   return AGX_OK;
}

AGX_SYNC_LOCKED static agx_status alloca_launch_unlocking(struct agx_submission *submission)
{
   const struct state *state = AGX_OP_STATE(submission, struct state);
   struct agx_alloca *it = state->it;
   struct agx_device *device = submission->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (needs_block(it) && submission->state == AGX_SUBMISSION_STARTING &&
       others_come_first(device, it->pool)) {
      sync->must_start_again = true; /* it is tried after them */
      return AGX_DEFERRED;
   }
   if (needs_block(it))
      AGX_TRY(take_late_unlocking(it, &submission->frontier, state->may_wait));
   /* What the block's last user has not left yet is waited for in silence. */
   agx_frontier_merge(&submission->frontier, &it->block->death);
   set_state(it, AGX_BUFFER_LIVE);
   return AGX_OK;
}

static void alloca_drop(struct agx_submission *submission)
{
   const struct state *state = AGX_OP_STATE(submission, struct state);
   if (submission->state == AGX_SUBMISSION_REFUSED) {
      *state->out = NULL;
      agx_release(state->it);
   }
   agx_release(state->it);
}

const struct agx_op_type agx_alloca_op = {.name = "alloca",
                                          .prepare = alloca_prepare,
                                          .launch = alloca_launch_unlocking,
                                          .drop = alloca_drop};

/* ---- dealloca ------------------------------------------------------------------ */

static agx_status dealloca_prepare(struct agx_device *device, const struct agx_op *op,
                                   struct agx_submission *submission)
{
   struct state *state = AGX_OP_STATE(submission, struct state);
   struct agx_buffer *buffer = op->u.dealloca.buffer;
   const uint64_t known = AGX_DEALLOCA_PREFER_ORIGIN | AGX_DEALLOCA_RELEASE;
   AGX_TRY(agx_bits_check("dealloca", "flags", op->flags, known));
   if (!buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dealloca: buffer is NULL");
   if (buffer->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dealloca: %s is %s", buffer->label,
                      agx_describe_owner(buffer->device, device).text);
   *state = (struct state){.it = (struct agx_alloca *)buffer,
                           .is_release = op->flags & AGX_DEALLOCA_RELEASE};
   agx_retain(buffer);
   if (buffer->object.type->is_transient && op->flags & AGX_DEALLOCA_PREFER_ORIGIN)
      submission->queue = state->it->origin;
   return AGX_OK;
}

AGX_SYNC_LOCKED static agx_status dealloca_launch_unlocking(struct agx_submission *submission)
{
   const struct state *captured = AGX_OP_STATE(submission, struct state);
   struct agx_alloca *it = captured->it;
   struct agx_device *device = submission->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!it->buffer.object.type->is_transient || it->is_indeterminate || captured->is_release)
      return AGX_OK;
   uint32_t state = agx_alloca_state(it);
   if (state != AGX_BUFFER_LIVE)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "dealloca of %s: %s", it->buffer.label,
                      state == AGX_BUFFER_DEAD ? "its memory was given back before"
                                               : "it has no memory yet: its allocation waits");
   struct agx_frontier death = submission->frontier;
   const struct agx_frontier reached = agx_device_reached_locked(device);
   agx_frontier_merge(&death, &it->last_use);
   set_state(it, AGX_BUFFER_DEAD);
   agx_sync_unlock(sync);
   bool is_awaited =
      return_block(it, submission->queue->index, &death, &reached); /* which may free a slab */
   agx_sync_lock(sync);
   if (is_awaited)
      agx_device_retry_locked(device);
   return AGX_OK;
}

static void dealloca_drop(struct agx_submission *submission)
{
   const struct state *state = AGX_OP_STATE(submission, struct state);
   if (state->is_release && submission->state != AGX_SUBMISSION_REFUSED)
      agx_release(state->it); /* the caller's */
   agx_release(state->it);
}

const struct agx_op_type agx_dealloca_op = {.name = "dealloca",
                                            .prepare = dealloca_prepare,
                                            .launch = dealloca_launch_unlocking,
                                            .drop = dealloca_drop};

agx_status agx_buffer_release_after(struct agx_buffer *buffer, const struct agx_point *points,
                                    uint32_t count)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_DEALLOCA,
                             .flags = AGX_DEALLOCA_RELEASE,
                             .waits = points,
                             .wait_count = count,
                             .u.dealloca.buffer = buffer};
   return agx_submit(buffer->device, &op, 1, NULL);
}

/* ---- use ------------------------------------------------------------------------ */

static agx_status check_use(const struct agx_alloca *it)
{
   uint32_t state = agx_alloca_state(it);
   if (state == AGX_BUFFER_LIVE)
      return AGX_OK;
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: %s", it->buffer.label,
                   state == AGX_BUFFER_DEAD ? "used after its memory was given back"
                                            : "used before its allocation was waited for");
}

agx_status agx_allocas_check(const struct agx_resources *resources)
{
   for (uint32_t i = 0; resources->has_allocas && i < resources->count; i++) {
      const struct agx_alloca *it = resources->uses[i].object;
      if (it->buffer.object.type->is_transient)
         AGX_TRY(check_use(it));
   }
   return AGX_OK;
}

/* The last use on the queue becomes an epoch of at least `least` and at most `most`. */
static void set_last_use(const struct agx_resources *resources, uint32_t queue, uint64_t least,
                         uint64_t most)
{
   for (uint32_t i = 0; resources->has_allocas && i < resources->count; i++) {
      struct agx_alloca *it = resources->uses[i].object;
      uint64_t *last = &it->last_use.epochs[queue];
      if (it->buffer.object.type->is_transient)
         *last = AGX_MIN(AGX_MAX(*last, least), most);
   }
}

void agx_allocas_unuse(const struct agx_resources *resources, uint32_t queue, uint64_t epoch)
{
   set_last_use(resources, queue, 0, epoch);
}

agx_status agx_allocas_use(const struct agx_resources *resources, uint32_t queue, uint64_t epoch)
{
   AGX_TRY(agx_allocas_check(resources));
   set_last_use(resources, queue, epoch, UINT64_MAX);
   return AGX_OK;
}
