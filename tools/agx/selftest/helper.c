/* SPDX-License-Identifier: MIT
 *
 * The helper program that gives SIMD-groups their stacks, for experiments whose launches want some:
 * the driver's own, without its HAL.
 */
#include <string.h>

#include "agx/hw/scratch.h"
#include "base/util.h"
#include "selftest.h"

#define KERNEL_B 512u

/* Once for each coherency of atomics, of which it has none. */
static const uint8_t kernel[2][1][KERNEL_B] = {
#include "scratch_kernel.inc"
};

agx_status selftest_make_helper(struct selftest_machine *machine)
{
   const struct agxw_device_info *info = agxw_device_info(machine->device);
   const struct agx_hw_cores cores = {info->cluster_count, info->cores_per_cluster,
                                      info->core_masks};
   struct agx_hw_scratch plan;
   void *code, *memory;
   if (machine->helper.data_va)
      return AGX_OK;
   AGX_TRY(agx_hw_scratch_plan(SELFTEST_MAX_SCRATCH_B / 4, &cores, &plan));
   AGX_TRY(agxw_bo_create(machine->device, plan.total_B, plan.block_B, 0, "selftest scratch",
                          &machine->scratch_bo));
   AGX_TRY(agxw_bo_create(machine->device, KERNEL_B, 0, AGXW_BO_USC, "selftest helper",
                          &machine->helper_bo));
   AGX_TRY(agxw_bo_map(machine->helper_bo, &code));
   AGX_TRY(agxw_bo_map(machine->scratch_bo, &memory));
   memcpy(code, kernel[0], KERNEL_B);
   agx_hw_scratch_write(&plan, &cores, agxw_bo_va(machine->scratch_bo), memory);
   machine->helper = (struct agxw_helper){
      .code_offset = (uint32_t)(agxw_bo_va(machine->helper_bo) - info->usc_base),
      .data_va = agxw_bo_va(machine->scratch_bo),
   };
   return AGX_OK;
}
