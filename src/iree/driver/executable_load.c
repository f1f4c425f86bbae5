/* SPDX-License-Identifier: MIT
 *
 * Making executables: of the files that IREE's compiler writes for its Vulkan target, of plain
 * SPIR-V, and of what `agx compile` writes. The executable cache calls this; compiled kernels are
 * kept by the library (docs/hal).
 */
#include <stdio.h>
#include <string.h>

#include "agx_iree.h"

#define MAX_SPECIALIZATIONS 64

/* What one executable is made of, while it is made. */
struct loader {
   struct agx_iree_device *device;
   const iree_hal_executable_params_t *params;
   struct agx_iree_executable *executable;
};

/* Specialization constants: IREE's i-th is the one of id i, where the module declares it. */
static iree_status_t create_core(const struct loader *loader, const void *data, size_t data_B,
                                 struct agx_executable **out_core)
{
   struct agx_executable_desc desc = {
      .size = sizeof(desc),
      .data = data,
      .data_B = data_B,
      .robustness = loader->device->robustness,
   };
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_executable_create(loader->device->core, &desc, out_core)));
   if (!loader->params->constant_count)
      return iree_ok_status();
   struct agx_specialization values[MAX_SPECIALIZATIONS];
   for (uint32_t i = 0; desc.specialization_count < MAX_SPECIALIZATIONS; i++) {
      struct agx_specialization_info info = {.size = sizeof(info)};
      if (agx_executable_get_specialization(*out_core, 0, i, &info) != AGX_OK)
         break;
      if (info.id < loader->params->constant_count)
         values[desc.specialization_count++] = (struct agx_specialization){
            .id = info.id,
            .bytes = info.type == AGX_SPECIALIZATION_BOOL ? 4 : info.bytes,
            .value = loader->params->constants[info.id],
         };
   }
   if (!desc.specialization_count)
      return iree_ok_status();
   agx_release(*out_core);
   *out_core = NULL;
   desc.specializations = values;
   return agx_iree_status(agx_executable_create(loader->device->core, &desc, out_core));
}

/* SPIR-V is words; those of a file may lie anywhere. */
static iree_status_t create_core_of_module(const struct loader *loader,
                                           const struct agx_iree_export *from,
                                           struct agx_executable **out_core)
{
   if (((uintptr_t)from->spirv & 3) == 0)
      return create_core(loader, from->spirv, from->spirv_B, out_core);
   void *words = NULL;
   const iree_allocator_t host_allocator = loader->device->host_allocator;
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, from->spirv_B, &words));
   memcpy(words, from->spirv, from->spirv_B);
   iree_status_t status = create_core(loader, words, from->spirv_B, out_core);
   iree_allocator_free(host_allocator, words);
   return status;
}

static iree_status_t set_name(const struct loader *loader, struct agx_iree_entry *entry,
                              const char *name)
{
   return iree_allocator_clone(loader->device->host_allocator,
                               iree_make_const_byte_span(name, strlen(name) + 1),
                               (void **)&entry->name);
}

/* What the compiled kernel says of itself. */
static iree_status_t take_info(struct agx_iree_entry *entry)
{
   struct agx_executable_info info = {.size = sizeof(info)};
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_executable_get_entry(entry->core, entry->core_entry, &info)));
   memcpy(entry->local_size, info.local_size, sizeof(entry->local_size));
   entry->has_dynamic_local_size = info.has_dynamic_local_size;
   entry->push_B = entry->constants_at_B + 4 * entry->constant_count;
   if (entry->abi == AGX_IREE_ADDRESSES && entry->push_B < entry->root_at_B + AGX_IREE_ROOT_B)
      entry->push_B = entry->root_at_B + AGX_IREE_ROOT_B;
   if (entry->push_B < info.push_B)
      entry->push_B = info.push_B;
   if (entry->push_B > AGX_MAX_PUSH_B)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "executable: %s has %u bytes of constants, at most %d", entry->name,
                              entry->push_B, AGX_MAX_PUSH_B);
   entry->used_count = info.binding_count;
   return iree_ok_status();
}

/* The number in set 0 of the i-th binding that the kernel uses. */
static iree_status_t used_number(const struct agx_iree_entry *entry, uint32_t i,
                                 uint32_t *out_number)
{
   struct agx_binding_info info = {.size = sizeof(info)};
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_executable_get_entry_binding(entry->core, entry->core_entry, i, &info)));
   if (info.set != 0 || info.element != 0 ||
       (info.type != AGX_BINDING_STORAGE && info.type != AGX_BINDING_UNIFORM))
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                              "executable: %s has binding %u of set %u, which is no plain buffer "
                              "of set 0",
                              entry->name, info.binding, info.set);
   *out_number = info.binding;
   return iree_ok_status();
}

static iree_status_t map_bindings(const struct agx_iree_container *container,
                                  const struct agx_iree_export *from, struct agx_iree_entry *entry)
{
   for (uint32_t i = 0; i < entry->used_count; i++) {
      IREE_RETURN_IF_ERROR(used_number(entry, i, &entry->used_number[i]));
      uint32_t ordinal = 0;
      for (;; ordinal++) {
         struct agx_iree_binding binding;
         struct agx_iree_error error;
         if (ordinal == from->binding_count)
            return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                    "executable: %s uses binding %u, which its layout lacks",
                                    entry->name, entry->used_number[i]);
         const agx_status status =
            agx_iree_export_get_binding(container, from, ordinal, &binding, &error);
         if (status != AGX_OK)
            return agx_iree_status_of(status, error.text);
         if (binding.number == entry->used_number[i])
            break;
      }
      entry->used[i] = (uint8_t)ordinal;
   }
   return iree_ok_status();
}

/* Exchanges of lanes go wrong without a sign when a kernel was compiled for another number of
 * them. */
static void warn_of_lanes(const struct loader *loader, const struct agx_iree_export *from)
{
   const uint32_t lanes =
      from->lanes ? from->lanes : agx_iree_visible_lanes(from->spirv, from->spirv_B);
   const uint32_t ours = loader->device->info.simd_lanes;
   if (lanes && lanes != ours)
      fprintf(stderr,
              "agx: %s was compiled for SIMD-groups of %u lanes, this GPU has %u: compile with "
              "agxhal's src/iree/compile/agx_matrix.flags, or --iree-vulkan-target=ampere\n",
              from->name, lanes, ours);
}

static iree_status_t load_export(const struct loader *loader,
                                 const struct agx_iree_container *container, uint32_t index,
                                 uint32_t *modules)
{
   struct agx_iree_entry *entry = &loader->executable->entries[index];
   struct agx_iree_export from;
   struct agx_iree_error error;
   agx_status status = agx_iree_container_get_export(container, index, &from, &error);
   if (status != AGX_OK)
      return agx_iree_status_of(status, error.text);
   modules[index] = from.module;
   for (uint32_t i = 0; i < index && !entry->core; i++) {
      if (modules[i] == from.module) {
         entry->core = loader->executable->entries[i].core;
         agx_retain(entry->core);
      }
   }
   if (!entry->core) {
      warn_of_lanes(loader, &from);
      IREE_RETURN_IF_ERROR(create_core_of_module(loader, &from, &entry->core));
   }
   IREE_RETURN_IF_ERROR(set_name(loader, entry, from.name));
   IREE_RETURN_IF_ERROR(
      agx_iree_status(agx_executable_find_entry(entry->core, from.name, &entry->core_entry)));
   entry->abi = from.abi;
   entry->binding_count = from.binding_count;
   entry->constant_count = from.constant_count;
   entry->constants_at_B = from.constants_at_B;
   entry->root_at_B = from.root_at_B;
   IREE_RETURN_IF_ERROR(take_info(entry));
   if (entry->abi == AGX_IREE_ADDRESSES)
      return iree_ok_status();
   return map_bindings(container, &from, entry);
}

/* Plain SPIR-V and our own files have no layout: bindings count up to the highest number. */
static iree_status_t load_plain(const struct loader *loader, struct agx_executable *core,
                                uint32_t index)
{
   struct agx_iree_entry *entry = &loader->executable->entries[index];
   const char *name = NULL;
   entry->core = core;
   agx_retain(core);
   entry->core_entry = index;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_executable_get_entry_name(core, index, &name)));
   IREE_RETURN_IF_ERROR(set_name(loader, entry, name));
   IREE_RETURN_IF_ERROR(take_info(entry));
   entry->constant_count = entry->push_B / 4;
   for (uint32_t i = 0; i < entry->used_count; i++) {
      uint32_t number = 0;
      IREE_RETURN_IF_ERROR(used_number(entry, i, &number));
      if (number >= AGX_MAX_BINDINGS)
         return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                                 "executable: %s has binding %u, at most %d", entry->name, number,
                                 AGX_MAX_BINDINGS - 1);
      entry->used[i] = (uint8_t)number;
      entry->used_number[i] = number;
      if (entry->binding_count <= number)
         entry->binding_count = number + 1;
   }
   return iree_ok_status();
}

static iree_status_t allocate(struct loader *loader, uint32_t count)
{
   static iree_atomic_int64_t next_id = IREE_ATOMIC_VAR_INIT(1);
   const iree_host_size_t size =
      sizeof(*loader->executable) + count * sizeof(loader->executable->entries[0]);
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(loader->device->host_allocator, size, (void **)&loader->executable));
   memset(loader->executable, 0, size);
   iree_hal_resource_initialize(&agx_iree_executable_vtable, &loader->executable->resource);
   loader->executable->host_allocator = loader->device->host_allocator;
   loader->executable->profile_id =
      (uint64_t)iree_atomic_fetch_add(&next_id, 1, iree_memory_order_relaxed);
   loader->executable->entry_count = count;
   for (uint32_t i = 0; i < count; i++)
      loader->executable->entries[i].executable = loader->executable;
   return iree_ok_status();
}

static iree_status_t load_container(struct loader *loader)
{
   struct agx_iree_container container;
   struct agx_iree_error error;
   const iree_const_byte_span_t data = loader->params->executable_data;
   const agx_status status =
      agx_iree_container_open(data.data, data.data_length, &container, &error);
   if (status != AGX_OK)
      return agx_iree_status_of(status, error.text);
   IREE_RETURN_IF_ERROR(allocate(loader, container.export_count));
   uint32_t *modules = NULL;
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(loader->device->host_allocator,
                                              (container.export_count + 1) * sizeof(*modules),
                                              (void **)&modules));
   iree_status_t result = iree_ok_status();
   for (uint32_t i = 0; i < container.export_count && iree_status_is_ok(result); i++)
      result = load_export(loader, &container, i, modules);
   iree_allocator_free(loader->device->host_allocator, modules);
   return result;
}

static iree_status_t load_core_format(struct loader *loader)
{
   const iree_const_byte_span_t data = loader->params->executable_data;
   struct agx_executable *core = NULL;
   IREE_RETURN_IF_ERROR(create_core(loader, data.data, data.data_length, &core));
   const uint32_t count = agx_executable_get_entry_count(core);
   iree_status_t result = allocate(loader, count);
   for (uint32_t i = 0; i < count && iree_status_is_ok(result); i++)
      result = load_plain(loader, core, i);
   agx_release(core);
   return result;
}

iree_status_t agx_iree_executable_create(struct agx_iree_device *device,
                                         const iree_hal_executable_params_t *params,
                                         iree_hal_executable_t **out_executable)
{
   *out_executable = NULL;
   size_t used_B = 0;
   struct loader loader = {.device = device, .params = params};
   iree_status_t status = agx_iree_container_infer(params->executable_data.data,
                                                   params->executable_data.data_length, &used_B)
                             ? load_container(&loader)
                             : load_core_format(&loader);
   if (iree_status_is_ok(status))
      *out_executable = (iree_hal_executable_t *)loader.executable;
   else
      iree_hal_executable_release((iree_hal_executable_t *)loader.executable);
   return status;
}
