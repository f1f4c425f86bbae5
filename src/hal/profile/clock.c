/* SPDX-License-Identifier: MIT
 *
 * Compares the GPU's clock with the host's, for profiling sessions and agx_device_get_time.
 */
#include "hal/profile/clock.h"

#include "base/clock.h"
#include "hal/core/context.h"
#include "hal/core/desc.h"
#include "hal/core/fork.h"
#include "winsys/winsys.h"

#define READINGS 5

agx_status agx_clocks_read(const struct agx_device *device, struct agx_clocks *out)
{
   out->around_ns = UINT64_MAX;
   for (int i = 0; i < READINGS; i++) {
      uint64_t gpu = 0, before = (uint64_t)agx_now_ns();
      AGX_TRY(agxw_device_time(agx_context_of(device)->winsys, &gpu));
      uint64_t around_ns = (uint64_t)agx_now_ns() - before;
      if (around_ns < out->around_ns)
         *out = (struct agx_clocks){gpu, before + around_ns / 2, around_ns};
   }
   return AGX_OK;
}

agx_status agx_device_get_time(struct agx_device *device, struct agx_device_time *out_time)
{
   struct agx_clocks clocks;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_info_check("agx_device_time", out_time));
   AGX_TRY(agx_clocks_read(device, &clocks));
   const struct agx_device_time time = {.gpu = clocks.gpu,
                                        .monotonic_ns = clocks.host_ns,
                                        .deviation_ns = (clocks.around_ns + 1) / 2};
   return agx_info_write("agx_device_time", out_time, &time, sizeof(time));
}
