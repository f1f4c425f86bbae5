/* SPDX-License-Identifier: MIT
 *
 * Host calls. The callee may end a call itself, by IREE's semaphores; so the operation of the core
 * signals none of them, and the driver does, when the callee leaves it to the driver.
 */
#include <stdlib.h>
#include <string.h>

#include "agx_iree.h"

struct call {
   iree_hal_device_t *device; /* retained */
   iree_hal_queue_affinity_t affinity;
   iree_hal_host_call_t target;
   iree_hal_semaphore_list_t signals; /* a clone; empty where the call blocks nothing */
   bool is_non_blocking;
};

static void call_free(struct call *call)
{
   iree_hal_device_t *device = call->device;
   iree_hal_semaphore_list_free(call->signals, ((struct agx_iree_device *)device)->host_allocator);
   free(call);
   iree_hal_device_release(device);
}

static agx_status run(void *user, const uint64_t args[4], struct agx_host_call *core)
{
   struct call *call = user;
   iree_hal_host_call_context_t context = {
      .device = call->device,
      .queue_affinity = call->affinity,
      .signal_semaphore_list = call->signals,
   };
   iree_status_t status = call->target.fn(call->target.user_data, args, &context);
   if (call->is_non_blocking || iree_status_is_deferred(status)) {
      iree_status_ignore(status);
      return AGX_OK;
   }
   if (iree_status_is_ok(status))
      status = iree_hal_semaphore_list_signal(call->signals, NULL);
   if (!iree_status_is_ok(status))
      iree_hal_semaphore_list_fail(call->signals, status);
   return AGX_OK;
}

/* Also when it never ran: then what it would have signalled fails as its wait did. */
static void ended(void *user, uint64_t tag, agx_status status)
{
   struct call *call = user;
   if (status != AGX_OK)
      iree_hal_semaphore_list_fail(call->signals, agx_iree_status(status));
   call_free(call);
}

iree_status_t agx_iree_queue_host_call(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                       iree_hal_semaphore_list_t waits,
                                       iree_hal_semaphore_list_t signals,
                                       iree_hal_host_call_t target, const uint64_t args[4],
                                       iree_hal_host_call_flags_t flags)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   struct call *call = calloc(1, sizeof(*call));
   if (!call)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "host call: no host memory");
   call->device = base;
   iree_hal_device_retain(base);
   call->affinity = affinity;
   call->target = target;
   call->is_non_blocking = (flags & IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING) != 0;
   struct agx_op op = {.kind = AGX_OP_HOST_CALL, .u.host_call = {.fn = run, .user = call}};
   memcpy(op.u.host_call.args, args, sizeof(op.u.host_call.args));
   if (flags & IREE_HAL_HOST_CALL_FLAG_WAIT_ACTIVE)
      op.u.host_call.flags |= AGX_HOST_CALL_WAIT_ACTIVE;
   if (flags & IREE_HAL_HOST_CALL_FLAG_RELAXED)
      op.u.host_call.flags |= AGX_HOST_CALL_RELAXED;
   const struct agx_iree_end end = {.fn = ended, .user = call};
   iree_status_t status = iree_ok_status();
   if (call->is_non_blocking) {
      /* Two operations: what waits for the signals waits for no function. */
      struct agx_op barrier = {.kind = AGX_OP_BARRIER};
      status = agx_iree_submit(device, affinity, waits, signals, &barrier, NULL);
   } else {
      status = iree_hal_semaphore_list_clone(&signals, device->host_allocator, &call->signals);
   }
   if (iree_status_is_ok(status))
      status = agx_iree_submit(device, affinity, waits, iree_hal_semaphore_list_empty(), &op, &end);
   if (!iree_status_is_ok(status))
      call_free(call);
   return status;
}
