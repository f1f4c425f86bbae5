/* SPDX-License-Identifier: MIT
 *
 * Queue-ordered memory. Out of the device's own pool it is AGX_OP_ALLOCA and AGX_OP_DEALLOCA. Out
 * of a pool of IREE's the block is taken when the operation's turn comes: at once where its waits
 * are reached, else by a host call; while the pool is exhausted, the allocation waits for the
 * pool's notification. The block goes back in a host call too, which the signals come after.
 */
#include <stdlib.h>
#include <string.h>

#include "iree/async/notification.h"
#include "iree/async/operations/scheduling.h"

#include "agx_iree.h"

/* A block of an IREE pool, in a buffer's hands. */
struct agx_iree_pooled {
   struct agx_iree_device *device; /* retained, as is the pool: the queue may let go of it last */
   uint32_t queue;
   iree_hal_pool_t *pool;
   iree_hal_pool_reservation_t reservation;
   iree_hal_buffer_t *view; /* of the block; NULL: it has none yet */
   iree_atomic_int32_t has_block;
};

/* Gives the block back; a death frontier says after which deallocation. */
static bool give_back(struct agx_iree_pooled *pooled, bool is_ordered)
{
   int32_t expected = 1;
   if (!iree_atomic_compare_exchange_strong(&pooled->has_block, &expected, 0,
                                            iree_memory_order_acq_rel, iree_memory_order_relaxed))
      return false;
   struct agx_iree_device *device = pooled->device;
   iree_async_single_frontier_t frontier;
   const uint64_t epoch = (uint64_t)iree_atomic_fetch_add(&device->epochs[pooled->queue], 1,
                                                          iree_memory_order_acq_rel) +
                          1;
   const iree_async_axis_t axis = device->topology.frontier.base_axis | (uint64_t)pooled->queue
                                                                           << 24;
   iree_async_single_frontier_initialize(&frontier, axis, epoch);
   iree_hal_pool_release_reservation(
      pooled->pool, &pooled->reservation,
      is_ordered ? iree_async_single_frontier_as_const_frontier(&frontier) : NULL);
   return true;
}

void agx_iree_pooled_release(struct agx_iree_pooled *pooled)
{
   struct agx_iree_device *device = pooled->device;
   iree_hal_buffer_release(pooled->view);
   give_back(pooled, false);
   iree_hal_pool_release(pooled->pool);
   free(pooled);
   iree_hal_device_release((iree_hal_device_t *)device);
}

/* ---- allocation out of a pool ---------------------------------------------- */

/* An allocation whose turn has not come, or whose pool has no block. */
struct waiting {
   struct agx_iree_device *device; /* retained */
   iree_hal_buffer_t *buffer;      /* retained */
   iree_hal_semaphore_list_t signals;
   bool may_wait; /* for blocks that were given back on another queue */
   iree_async_notification_wait_operation_t operations[2];
   uint32_t turn;
};

static void waiting_free(struct waiting *waiting)
{
   struct agx_iree_device *device = waiting->device;
   iree_hal_buffer_release(waiting->buffer);
   iree_hal_semaphore_list_free(waiting->signals, device->host_allocator);
   free(waiting);
   iree_hal_device_release((iree_hal_device_t *)device);
}

/* Ends the allocation, and tells how. Whoever waits for that may release the device, and end with
 * it the proactor whose thread this may be; so the allocation lets go of both before. */
static void waiting_end(struct waiting *waiting, iree_status_t status)
{
   const iree_allocator_t host_allocator = waiting->device->host_allocator;
   iree_hal_semaphore_list_t signals = waiting->signals;
   waiting->signals = iree_hal_semaphore_list_empty();
   waiting_free(waiting);
   if (iree_status_is_ok(status))
      status = iree_hal_semaphore_list_signal(signals, NULL);
   if (!iree_status_is_ok(status))
      iree_hal_semaphore_list_fail(signals, status);
   iree_hal_semaphore_list_free(signals, host_allocator);
}

/* Takes a block for the buffer. *out_has_block false: the pool is exhausted. */
static iree_status_t take_block(struct agx_iree_buffer *buffer, bool may_wait, bool *out_has_block)
{
   struct agx_iree_pooled *pooled = buffer->pooled;
   struct agx_iree_device *device = pooled->device;
   iree_async_single_frontier_t frontier;
   const iree_async_axis_t axis = device->topology.frontier.base_axis | (uint64_t)pooled->queue
                                                                           << 24;
   const uint64_t epoch =
      (uint64_t)iree_atomic_load(&device->epochs[pooled->queue], iree_memory_order_acquire);
   iree_async_single_frontier_initialize(&frontier, axis, epoch);
   iree_hal_pool_acquire_info_t info;
   iree_hal_pool_acquire_result_t result;
   *out_has_block = false;
   IREE_RETURN_IF_ERROR(iree_hal_pool_acquire_reservation(
      pooled->pool, buffer->base.allocation_size ? buffer->base.allocation_size : 1, 16,
      iree_async_single_frontier_as_const_frontier(&frontier),
      IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER, &pooled->reservation, &info, &result));
   if (result == IREE_HAL_POOL_ACQUIRE_EXHAUSTED || result == IREE_HAL_POOL_ACQUIRE_OVER_BUDGET)
      return iree_ok_status();
   if (result == IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT && !may_wait) {
      iree_hal_pool_release_reservation(pooled->pool, &pooled->reservation, info.wait_frontier);
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                              "pool: its only blocks were another queue's, and the allocation may "
                              "not wait for that (ALLOW_POOL_WAIT_FRONTIER)");
   }
   iree_atomic_store(&pooled->has_block, 1, iree_memory_order_release);
   const iree_hal_buffer_params_t params = {
      .usage = buffer->base.allowed_usage,
      .access = buffer->base.allowed_access,
      .type = buffer->base.memory_type,
      .queue_affinity = UINT64_C(1) << pooled->queue,
   };
   IREE_RETURN_IF_ERROR(
      iree_hal_pool_materialize_reservation(pooled->pool, params, &pooled->reservation,
                                            IREE_HAL_POOL_MATERIALIZE_FLAG_NONE, &pooled->view));
   const struct agx_iree_buffer *view = agx_iree_buffer_of(pooled->view);
   if (!view)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "pool: it is not over this device's memory");
   agx_retain(view->core);
   buffer->core_offset_B = view->core_offset_B + iree_hal_buffer_byte_offset(pooled->view);
   buffer->core = view->core;
   *out_has_block = true;
   return iree_ok_status();
}

static void retry(struct waiting *waiting);

static void notified(void *user, iree_async_operation_t *operation, iree_status_t status,
                     iree_async_completion_flags_t flags)
{
   struct waiting *waiting = user;
   if (iree_status_is_ok(status))
      retry(waiting);
   else
      waiting_end(waiting, status);
}

/* An operation can't be submitted anew from its own callback, so that there are two. */
static iree_status_t wait_for_notification(struct waiting *waiting, uint32_t token,
                                           iree_async_notification_t *notification)
{
   iree_async_notification_wait_operation_t *operation = &waiting->operations[waiting->turn++ & 1];
   iree_async_operation_zero(&operation->base, sizeof(*operation));
   iree_async_operation_initialize(&operation->base, IREE_ASYNC_OPERATION_TYPE_NOTIFICATION_WAIT,
                                   IREE_ASYNC_OPERATION_FLAG_NONE, notified, waiting);
   operation->notification = notification;
   operation->wait_flags = IREE_ASYNC_NOTIFICATION_WAIT_FLAG_USE_WAIT_TOKEN;
   operation->wait_token = token;
   return iree_async_proactor_submit_one(waiting->device->proactor, &operation->base);
}

/* Takes a block, or waits for the pool's notification; ends the allocation otherwise. The
 * observation begins before the pool is asked, so that no block given back meanwhile is missed; it
 * ends when the notification may have come, and the pool and the device gone. */
static void retry(struct waiting *waiting)
{
   struct agx_iree_buffer *buffer = agx_iree_buffer_of(waiting->buffer);
   iree_async_notification_t *notification = iree_hal_pool_notification(buffer->pooled->pool);
   iree_async_notification_retain(notification);
   const uint32_t token = iree_async_notification_begin_observe(notification);
   bool has_block = false;
   iree_status_t status = take_block(buffer, waiting->may_wait, &has_block);
   bool is_waiting = false;
   if (iree_status_is_ok(status) && !has_block) {
      status = wait_for_notification(waiting, token, notification);
      is_waiting = iree_status_is_ok(status);
   }
   iree_async_notification_end_observe(notification);
   iree_async_notification_release(notification);
   if (!is_waiting)
      waiting_end(waiting, status);
}

static agx_status turn_came(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct waiting *waiting = *(struct waiting **)user;
   *(struct waiting **)user = NULL;
   retry(waiting);
   return AGX_OK;
}

static void turn_ended(void *user, uint64_t tag, agx_status status)
{
   struct waiting *waiting = *(struct waiting **)user;
   if (waiting)
      waiting_end(waiting, agx_iree_status(status));
   free(user);
}

static iree_status_t waiting_create(struct agx_iree_device *device, iree_hal_buffer_t *buffer,
                                    iree_hal_semaphore_list_t signals, bool may_wait,
                                    struct waiting **out_waiting)
{
   struct waiting *waiting = calloc(1, sizeof(*waiting));
   if (!waiting)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "alloca: no host memory");
   waiting->device = device;
   iree_hal_device_retain((iree_hal_device_t *)device);
   waiting->buffer = buffer;
   iree_hal_buffer_retain(buffer);
   waiting->may_wait = may_wait;
   iree_status_t status =
      iree_hal_semaphore_list_clone(&signals, device->host_allocator, &waiting->signals);
   if (iree_status_is_ok(status))
      *out_waiting = waiting;
   else
      waiting_free(waiting);
   return status;
}

/* Has the allocation come to its turn by a host call behind waits. */
static iree_status_t take_later(struct agx_iree_device *device, iree_hal_queue_affinity_t affinity,
                                iree_hal_semaphore_list_t waits, struct waiting *waiting)
{
   struct waiting **user = malloc(sizeof(*user));
   if (!user)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "alloca: no host memory");
   *user = waiting;
   struct agx_op op = {.kind = AGX_OP_HOST_CALL, .u.host_call = {.fn = turn_came, .user = user}};
   const struct agx_iree_end end = {.fn = turn_ended, .user = user};
   iree_status_t status =
      agx_iree_submit(device, affinity, waits, iree_hal_semaphore_list_empty(), &op, &end);
   if (!iree_status_is_ok(status))
      free(user);
   return status;
}

/* The first part of an allocation: of what can be done at once, all. */
static iree_status_t allocate(struct agx_iree_device *device, iree_hal_queue_affinity_t affinity,
                              iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                              iree_hal_buffer_t *base, bool may_wait)
{
   const bool is_due = iree_hal_semaphore_list_poll(waits);
   if (is_due) {
      bool has_block = false;
      IREE_RETURN_IF_ERROR(take_block(agx_iree_buffer_of(base), may_wait, &has_block));
      if (has_block) {
         struct agx_op op = {.kind = AGX_OP_BARRIER};
         return agx_iree_submit(device, affinity, waits, signals, &op, NULL);
      }
   }
   struct waiting *waiting = NULL;
   IREE_RETURN_IF_ERROR(waiting_create(device, base, signals, may_wait, &waiting));
   if (is_due) {
      retry(waiting);
      return iree_ok_status();
   }
   iree_status_t status = take_later(device, affinity, waits, waiting);
   if (!iree_status_is_ok(status))
      waiting_free(waiting);
   return status;
}

/* The queue that an allocation belongs to: IREE wants exactly one bit. */
static iree_status_t one_queue(const struct agx_iree_device *device,
                               iree_hal_queue_affinity_t affinity, uint32_t *out_queue)
{
   const uint64_t queues = agx_iree_device_queues(device, affinity ? affinity : ~UINT64_C(0));
   if (!queues)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "queue affinity 0x%" PRIx64 ": the device has %u queues", affinity,
                              device->info.queue_count);
   *out_queue = (uint32_t)__builtin_ctzll(queues);
   return iree_ok_status();
}

static iree_status_t alloca_from_pool(struct agx_iree_device *device, uint32_t queue,
                                      iree_hal_semaphore_list_t waits,
                                      iree_hal_semaphore_list_t signals, iree_hal_pool_t *pool,
                                      struct agx_iree_buffer_desc *desc, bool may_wait,
                                      iree_hal_buffer_t **out_buffer)
{
   iree_hal_buffer_t *buffer = NULL;
   desc->params.type &= ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
   desc->params.type |= agx_iree_memory_type(AGX_MEMORY_HOST_VISIBLE);
   struct agx_iree_pooled *pooled = calloc(1, sizeof(*pooled));
   if (!pooled)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "alloca: no host memory");
   pooled->device = device;
   pooled->queue = queue;
   pooled->pool = pool;
   iree_status_t status = agx_iree_buffer_wrap(NULL, desc, device->host_allocator, &buffer);
   if (!iree_status_is_ok(status)) {
      free(pooled);
      return status;
   }
   iree_hal_pool_retain(pool);
   iree_hal_device_retain((iree_hal_device_t *)device);
   agx_iree_buffer_of(buffer)->pooled = pooled;
   status = allocate(device, UINT64_C(1) << queue, waits, signals, buffer, may_wait);
   if (iree_status_is_ok(status))
      *out_buffer = buffer;
   else
      iree_hal_buffer_release(buffer);
   return status;
}

/* ---- allocation ------------------------------------------------------------ */

static iree_status_t
alloca_from_device(struct agx_iree_device *device, uint32_t queue, iree_hal_semaphore_list_t waits,
                   iree_hal_semaphore_list_t signals, struct agx_iree_buffer_desc *desc,
                   iree_hal_alloca_flags_t flags, iree_hal_buffer_t **out_buffer)
{
   struct agx_buffer *core = NULL;
   struct agx_op op = {
      .kind = AGX_OP_ALLOCA,
      .u.alloca = {.size_B = desc->size_B ? desc->size_B : 1,
                   .align_B = desc->params.min_alignment,
                   .out_buffer = &core},
   };
   if (flags & IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER)
      op.flags |= AGX_ALLOCA_ALLOW_WAIT;
   if (flags & IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME)
      op.flags |= AGX_ALLOCA_INDETERMINATE_LIFETIME;
   IREE_RETURN_IF_ERROR(agx_iree_submit(device, UINT64_C(1) << queue, waits, signals, &op, NULL));
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(core, &info);
   desc->params.type &= ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
   desc->params.type |= agx_iree_memory_type(info.memory);
   iree_status_t status = agx_iree_buffer_wrap(core, desc, device->host_allocator, out_buffer);
   if (!iree_status_is_ok(status))
      agx_release(core);
   return status;
}

iree_status_t agx_iree_queue_alloca(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                    iree_hal_semaphore_list_t waits,
                                    iree_hal_semaphore_list_t signals, iree_hal_pool_t *pool,
                                    iree_hal_buffer_params_t params, iree_device_size_t size_B,
                                    iree_hal_alloca_flags_t flags,
                                    iree_hal_buffer_t **IREE_RESTRICT out_buffer)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   uint32_t queue = 0;
   IREE_RETURN_IF_ERROR(one_queue(device, affinity, &queue));
   iree_hal_buffer_params_canonicalize(&params);
   struct agx_iree_buffer_desc desc = {
      .placement = {.device = base,
                    .queue_affinity = UINT64_C(1) << queue,
                    .flags = IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS},
      .params = params,
      .size_B = size_B,
   };
   if (flags & IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME)
      desc.placement.flags |= IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME;
   if (!pool)
      return alloca_from_device(device, queue, waits, signals, &desc, flags, out_buffer);
   return alloca_from_pool(device, queue, waits, signals, pool, &desc,
                           (flags & IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER) != 0,
                           out_buffer);
}

/* ---- deallocation ---------------------------------------------------------- */

/* The signals fail when the block was given back before. */
static agx_status give_back_call(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   const struct agx_iree_buffer *buffer = agx_iree_buffer_of(user);
   return give_back(buffer->pooled, true) ? AGX_OK : AGX_FAILED_PRECONDITION;
}

static void give_back_ended(void *user, uint64_t tag, agx_status status)
{
   iree_hal_buffer_release(user);
}

static iree_status_t dealloca_to_pool(struct agx_iree_device *device,
                                      iree_hal_queue_affinity_t affinity,
                                      iree_hal_semaphore_list_t waits,
                                      iree_hal_semaphore_list_t signals, iree_hal_buffer_t *buffer)
{
   iree_hal_buffer_t *whole = iree_hal_buffer_allocated_buffer(buffer);
   struct agx_op op = {
      .kind = AGX_OP_HOST_CALL,
      .u.host_call = {.fn = give_back_call, .user = whole},
   };
   const struct agx_iree_end end = {.fn = give_back_ended, .user = whole};
   iree_hal_buffer_retain(whole);
   iree_status_t status = agx_iree_submit(device, affinity, waits, signals, &op, &end);
   if (!iree_status_is_ok(status))
      iree_hal_buffer_release(whole);
   return status;
}

iree_status_t agx_iree_queue_dealloca(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                      iree_hal_semaphore_list_t waits,
                                      iree_hal_semaphore_list_t signals, iree_hal_buffer_t *buffer,
                                      iree_hal_dealloca_flags_t flags)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   const struct agx_iree_buffer *ours = agx_iree_buffer_of(buffer);
   const iree_hal_buffer_placement_t placement = iree_hal_buffer_allocation_placement(buffer);
   const bool is_queued = (placement.flags & IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS) != 0;
   if (is_queued && (flags & IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN) && placement.device == base)
      affinity = placement.queue_affinity;
   struct agx_op op = {.kind = AGX_OP_BARRIER};
   if (!ours || !is_queued ||
       (placement.flags & IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME))
      return agx_iree_submit(device, affinity, waits, signals, &op, NULL);
   if (ours->pooled)
      return dealloca_to_pool(device, affinity, waits, signals, buffer);
   op.kind = AGX_OP_DEALLOCA;
   op.u.dealloca.buffer = ours->core;
   return agx_iree_submit(device, affinity, waits, signals, &op, NULL);
}
