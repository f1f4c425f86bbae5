/* SPDX-License-Identifier: MIT
 *
 * Follows jumps through a register: finds the uop in the group's code, in the launch's
 * kernel or in code decoded before, and decodes it when none has it. exec/control.c calls
 * it; launch/workgroup.c moves the group there.
 */
#include "agx/sim/machine/kernel.h"

#include <stdlib.h>

#include "base/util.h"

/* Decodes the code at pc; NULL after the error text is set. */
static const struct agxs_extension *extend(struct agxs_worker *worker, uint32_t pc,
                                           agx_status *out_status)
{
   const struct agxs_dispatch *dispatch = worker->dispatch;
   struct agxs_kernel_request request = dispatch->kernel->request;
   struct agxs_extension *extension = &worker->extensions[worker->extension_count];
   request.entry = pc;
   *out_status =
      agxs_kernel_create(&worker->tlb, &request, dispatch->kernel->set, &extension->kernel);
   if (*out_status != AGX_OK)
      return NULL;
   size_t rows = AGX_MAX(extension->kernel->constant_count, 1u);
   extension->pool = aligned_alloc(64, rows * sizeof(*extension->pool));
   if (!extension->pool) {
      agxs_kernel_destroy(extension->kernel);
      *out_status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "out of memory");
      return NULL;
   }
   agxs_kernel_fill_pool(extension->kernel, dispatch->uniforms, extension->pool);
   worker->extension_count++;
   return extension;
}

static const struct agxs_uop *go_to(struct agxs_group *group, const struct agxs_kernel *kernel,
                                    const struct agxs_row *pool, uint32_t pc)
{
   const struct agxs_uop *target = agxs_kernel_find(kernel, pc);
   if (!target)
      return NULL;
   group->next = target;
   group->next_kernel = kernel;
   group->next_pool = pool;
   return target;
}

const struct agxs_uop *agxs_group_reach(struct agxs_group *group, const struct agxs_uop *uop,
                                        uint32_t pc)
{
   struct agxs_worker *worker = group->worker;
   const struct agxs_dispatch *dispatch = worker->dispatch;
   const struct agxs_uop *target = agxs_kernel_find(group->kernel, pc);
   agx_status status;
   if (target || go_to(group, dispatch->kernel, dispatch->pool, pc))
      return target;
   for (uint32_t i = 0; i < worker->extension_count; i++) {
      if (go_to(group, worker->extensions[i].kernel, worker->extensions[i].pool, pc))
         return NULL;
   }
   if (!worker->extensions)
      worker->extensions = calloc(AGXS_MAX_EXTENSIONS, sizeof(*worker->extensions));
   if (!worker->extensions || worker->extension_count == AGXS_MAX_EXTENSIONS)
      return agxs_group_fail(group, uop, AGX_RESOURCE_EXHAUSTED,
                             "0x%x is the %uth place that a register alone leads to", pc,
                             worker->extension_count + 1);
   const struct agxs_extension *extension = extend(worker, pc, &status);
   if (!extension)
      return agxs_group_fail(group, uop, status, "0x%x: %s", pc, agx_error_peek());
   go_to(group, extension->kernel, extension->pool, pc);
   return NULL;
}

void agxs_group_move(struct agxs_group *group)
{
   if (!group->next_kernel)
      return;
   group->kernel = group->next_kernel;
   group->bank[AGXS_BANK_POOL] = group->next_pool;
   group->next_kernel = NULL;
}

void agxs_worker_refill(struct agxs_worker *worker)
{
   const struct agxs_dispatch *dispatch = worker->dispatch;
   agxs_kernel_fill_pool(dispatch->kernel, dispatch->uniforms, dispatch->pool);
   for (uint32_t i = 0; i < worker->extension_count; i++)
      agxs_kernel_fill_pool(worker->extensions[i].kernel, dispatch->uniforms,
                            worker->extensions[i].pool);
}

void agxs_worker_drop_extensions(struct agxs_worker *worker)
{
   for (uint32_t i = 0; i < worker->extension_count; i++) {
      agxs_kernel_destroy(worker->extensions[i].kernel);
      free(worker->extensions[i].pool);
   }
   free(worker->extensions);
   worker->extensions = NULL;
   worker->extension_count = 0;
}
