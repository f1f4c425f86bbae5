/* SPDX-License-Identifier: MIT
 *
 * Modules: the programs of one file.
 */
#include <string.h>

#include "base/util.h"
#include "program/program.h"

static agx_status check(struct agx_program *const *programs, uint32_t count)
{
   if (count == 0 || count > AGX_PROGRAM_MAX_ENTRIES)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "program: %u entry points; a file has 1 to %u", count,
                      AGX_PROGRAM_MAX_ENTRIES);
   for (uint32_t i = 1; i < count; i++) {
      if (strcmp(programs[i]->chip, programs[0]->chip) != 0)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: compiled for %s, but %s for %s",
                         programs[i]->name, programs[i]->chip, programs[0]->name,
                         programs[0]->chip);
      for (uint32_t j = 0; j < i; j++)
         if (strcmp(programs[i]->name, programs[j]->name) == 0)
            return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: two entry points of that name",
                            programs[i]->name);
   }
   return AGX_OK;
}

agx_status agx_module_create(struct agx_program *const *programs, uint32_t count,
                             const struct agx_host_alloc *alloc, struct agx_module **out_module)
{
   if (!alloc)
      alloc = agx_host_alloc_default();
   *out_module = NULL;
   size_t size = sizeof(struct agx_module) + count * sizeof(*programs);
   agx_status status = check(programs, count);
   struct agx_module *module = status == AGX_OK ? agx_host_zalloc(alloc, size) : NULL;
   if (status == AGX_OK && !module)
      status =
         AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: out of host memory", programs[0]->name);
   if (status != AGX_OK) {
      for (uint32_t i = 0; i < count; i++)
         agx_program_free(programs[i]);
      return status;
   }
   atomic_init(&module->references, 1);
   module->alloc = *alloc;
   module->bytes = size;
   module->program_count = count;
   for (uint32_t i = 0; i < count; i++) {
      module->programs[i] = programs[i];
      module->bytes += agx_program_bytes(programs[i]);
   }
   *out_module = module;
   return AGX_OK;
}

struct agx_module *agx_module_retain(struct agx_module *module)
{
   atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
   return module;
}

void agx_module_release(struct agx_module *module)
{
   if (!module || atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) != 1)
      return;
   struct agx_host_alloc alloc = module->alloc;
   size_t size = sizeof(*module) + module->program_count * sizeof(module->programs[0]);
   for (uint32_t i = 0; i < module->program_count; i++)
      agx_program_free(module->programs[i]);
   agx_host_free(&alloc, module, size);
}

uint32_t agx_module_find(const struct agx_module *module, const char *name)
{
   uint32_t i = 0;
   while (i < module->program_count && strcmp(module->programs[i]->name, name) != 0)
      i++;
   return i;
}
