/* SPDX-License-Identifier: MIT
 *
 * Allocates scratch memory: header, lists and blocks in one buffer, the helper program in another
 * one in the USC window. sync/send.c calls it for submissions whose kernels have stacks.
 */
#include "hal/record/scratch.h"

#include <string.h>

#include "agx/hw/scratch.h"
#include "base/util.h"
#include "winsys/winsys.h"

#define KERNEL_B 512u

struct agx_scratch {
   struct agx_object object;
   const struct agx_host_alloc *alloc;
   struct agxw_bo *code, *memory;
   uint32_t stack_B; /* of a thread */
   struct agxw_helper helper;
};

/* scratch_kernel/helper.txt; once for each coherency of atomics, of which it has none. */
static const uint8_t kernel[2][1][KERNEL_B] = {
#include "scratch_kernel.inc"
};

static void destroy(struct agx_scratch *scratch)
{
   agxw_bo_destroy(scratch->memory);
   agxw_bo_destroy(scratch->code);
   agx_host_free(scratch->alloc, scratch, sizeof(*scratch));
}

static void scratch_destroy(struct agx_object *object)
{
   destroy(agx_container_of(object, struct agx_scratch, object));
}

static const struct agx_object_type scratch_type = {"scratch", scratch_destroy};

static agx_status fill(struct agxw_device *winsys, uint32_t scratch_B, struct agx_scratch *scratch)
{
   const struct agxw_device_info *info = agxw_device_info(winsys);
   const struct agx_hw_cores cores = {info->cluster_count, info->cores_per_cluster,
                                      info->core_masks};
   struct agx_hw_scratch plan;
   void *code, *memory;
   AGX_TRY(agx_hw_scratch_plan((uint32_t)agx_div_up(scratch_B, sizeof(uint32_t)), &cores, &plan));
   if (agxw_bo_create(winsys, plan.total_B, plan.block_B, 0, "scratch", &scratch->memory) != AGX_OK)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "scratch of %u bytes for each thread: no %llu MiB for %u cores with %u "
                      "SIMD-groups each; make private arrays smaller",
                      scratch_B, (unsigned long long)(plan.total_B >> 20), plan.core_count,
                      AGX_HW_SCRATCH_GROUPS);
   AGX_TRY(agxw_bo_create(winsys, sizeof(kernel[0]), 0, AGXW_BO_USC | AGXW_BO_READ_ONLY,
                          "scratch helper", &scratch->code));
   AGX_TRY(agxw_bo_map(scratch->code, &code));
   AGX_TRY(agxw_bo_map(scratch->memory, &memory));
   memcpy(code, kernel[0], sizeof(kernel[0]));
   agx_hw_scratch_write(&plan, &cores, agxw_bo_va(scratch->memory), memory);
   scratch->stack_B = plan.words * (uint32_t)sizeof(uint32_t);
   scratch->helper = (struct agxw_helper){
      .code_offset = (uint32_t)(agxw_bo_va(scratch->code) - info->usc_base),
      .data_va = agxw_bo_va(scratch->memory),
   };
   return AGX_OK;
}

agx_status agx_scratch_provide(struct agx_device *device, uint32_t scratch_B,
                               struct agx_scratch **scratch)
{
   const struct agx_context *context = agx_context_of(device);
   if (*scratch && (*scratch)->stack_B >= scratch_B)
      return AGX_OK;
   struct agx_scratch *fresh = agx_host_zalloc(context->alloc, sizeof(*fresh));
   if (!fresh)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "scratch: out of host memory");
   agx_object_init(&fresh->object, &scratch_type);
   fresh->alloc = context->alloc;
   agx_status status = fill(context->winsys, scratch_B, fresh);
   if (status != AGX_OK) {
      destroy(fresh);
      return status;
   }
   agx_release(*scratch);
   *scratch = fresh;
   return AGX_OK;
}

const struct agxw_helper *agx_scratch_helper(const struct agx_scratch *scratch)
{
   return &scratch->helper;
}
