/* SPDX-License-Identifier: MIT
 *
 * A submission without commands. The kernel's SUBMIT wants at least one, so fences
 * are copied instead: the wait's fence becomes the fence of each signal. Several
 * waits are first collected in a timeline made for the purpose, whose last point is
 * reached when all of its points are.
 */
#include "winsys/syncobj.h"

/* A wait on value 0 is no wait. */
static uint32_t count_waits(const struct agxw_submit *submit, const struct agxw_point **out_last)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < submit->wait_count; i++) {
      if (submit->waits[i].value == 0)
         continue;
      *out_last = &submit->waits[i];
      count++;
   }
   return count;
}

static agx_status signal_now(const struct agxw_submit *submit)
{
   for (uint32_t i = 0; i < submit->signal_count; i++)
      AGX_TRY(agxw_timeline_signal(submit->signals[i].timeline, submit->signals[i].value));
   return AGX_OK;
}

static agx_status signal_after(struct agxw_device *device, const struct agxw_submit *submit,
                               uint32_t handle, uint64_t value)
{
   for (uint32_t i = 0; i < submit->signal_count; i++) {
      const struct agxw_point *signal = &submit->signals[i];
      int error =
         agxw_syncobj_transfer(device, handle, value, signal->timeline->handle, signal->value);
      if (error)
         return agx_status_fail_errno(error, "submit: SYNCOBJ_TRANSFER to signal %u, value %llu", i,
                                      (unsigned long long)signal->value);
   }
   return AGX_OK;
}

static agx_status collect(struct agxw_device *device, const struct agxw_submit *submit,
                          uint32_t handle, uint64_t *out_value)
{
   uint64_t value = 0;
   for (uint32_t i = 0; i < submit->wait_count; i++) {
      const struct agxw_point *wait = &submit->waits[i];
      if (wait->value == 0)
         continue;
      int error =
         agxw_syncobj_transfer(device, wait->timeline->handle, wait->value, handle, ++value);
      if (error)
         return agx_status_fail_errno(error, "submit: SYNCOBJ_TRANSFER from wait %u, value %llu", i,
                                      (unsigned long long)wait->value);
   }
   *out_value = value;
   return AGX_OK;
}

agx_status agxw_submit_syncs(struct agxw_device *device, const struct agxw_submit *submit)
{
   const struct agxw_point *wait = NULL;
   uint32_t waits = count_waits(submit, &wait);
   if (waits == 0)
      return signal_now(submit);
   if (waits == 1)
      return signal_after(device, submit, wait->timeline->handle, wait->value);
   uint32_t sum;
   int error = agxw_syncobj_create(device, 0, &sum);
   if (error)
      return agx_status_fail_errno(error, "submit: SYNCOBJ_CREATE to collect %u waits", waits);
   uint64_t value = 0;
   agx_status status = collect(device, submit, sum, &value);
   if (status == AGX_OK)
      status = signal_after(device, submit, sum, value);
   agxw_syncobj_destroy(device, sum);
   return status;
}
