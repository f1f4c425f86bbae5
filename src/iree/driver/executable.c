/* SPDX-License-Identifier: MIT
 *
 * Executables: what IREE asks of one that executable_load.c has made.
 */
#include <string.h>

#include "agx_iree.h"

static struct agx_iree_executable *cast(iree_hal_executable_t *base)
{
   return (struct agx_iree_executable *)base;
}

static void executable_destroy(iree_hal_executable_t *base)
{
   struct agx_iree_executable *executable = cast(base);
   for (uint32_t i = 0; i < executable->entry_count; i++) {
      agx_release(executable->entries[i].core);
      iree_allocator_free(executable->host_allocator, executable->entries[i].name);
   }
   iree_allocator_free(executable->host_allocator, executable);
}

static iree_status_t entry_of(struct agx_iree_executable *executable,
                              iree_hal_executable_function_t function,
                              const struct agx_iree_entry **out_entry)
{
   if (!iree_hal_executable_function_is_index_in_range(function, executable->entry_count))
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "executable: function %" PRIu64 ", there are %u", function.value,
                              executable->entry_count);
   *out_entry = &executable->entries[iree_hal_executable_function_index(function)];
   return iree_ok_status();
}

iree_status_t agx_iree_executable_entry(iree_hal_executable_t *base,
                                        iree_hal_executable_function_t function,
                                        const struct agx_iree_entry **out_entry)
{
   if (!iree_hal_resource_is(base, &agx_iree_executable_vtable))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable: another driver's");
   return entry_of(cast(base), function, out_entry);
}

static iree_host_size_t function_count(iree_hal_executable_t *base)
{
   return cast(base)->entry_count;
}

static iree_status_t function_info(iree_hal_executable_t *base,
                                   iree_hal_executable_function_t function,
                                   iree_hal_executable_function_info_t *out_info)
{
   const struct agx_iree_entry *entry = NULL;
   IREE_RETURN_IF_ERROR(entry_of(cast(base), function, &entry));
   *out_info = (iree_hal_executable_function_info_t){
      .name = iree_make_cstring_view(entry->name),
      .constant_count = (uint16_t)entry->constant_count,
      .binding_count = (uint16_t)entry->binding_count,
      .parameter_count = (uint16_t)(entry->binding_count + entry->constant_count),
      .workgroup_size = {entry->local_size[0], entry->local_size[1], entry->local_size[2]},
   };
   if (entry->has_dynamic_local_size)
      out_info->flags |= IREE_HAL_EXECUTABLE_FUNCTION_FLAG_WORKGROUP_SIZE_DYNAMIC;
   return iree_ok_status();
}

static iree_status_t function_parameters(iree_hal_executable_t *base,
                                         iree_hal_executable_function_t function,
                                         iree_host_size_t capacity,
                                         iree_hal_executable_function_parameter_t *out_parameters)
{
   const struct agx_iree_entry *entry = NULL;
   IREE_RETURN_IF_ERROR(entry_of(cast(base), function, &entry));
   const iree_host_size_t count = entry->binding_count + entry->constant_count;
   for (iree_host_size_t i = 0; i < count && i < capacity; i++) {
      if (i < entry->binding_count)
         out_parameters[i] = (iree_hal_executable_function_parameter_t){
            .type = IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING,
            .offset = (uint16_t)i,
         };
      else
         out_parameters[i] = (iree_hal_executable_function_parameter_t){
            .type = IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT,
            .size = 4,
            .offset = (uint16_t)(4 * (i - entry->binding_count)),
         };
   }
   return iree_ok_status();
}

static iree_status_t lookup_function_by_name(iree_hal_executable_t *base, iree_string_view_t name,
                                             iree_hal_executable_function_t *out_function)
{
   const struct agx_iree_executable *executable = cast(base);
   for (uint32_t i = 0; i < executable->entry_count; i++) {
      if (iree_string_view_equal(name, iree_make_cstring_view(executable->entries[i].name))) {
         *out_function = iree_hal_executable_function_from_index(i);
         return iree_ok_status();
      }
   }
   return iree_make_status(IREE_STATUS_NOT_FOUND, "executable: no function %.*s", (int)name.size,
                           name.data);
}

static iree_status_t lookup_global_by_name(iree_hal_executable_t *base, iree_string_view_t name,
                                           iree_hal_queue_affinity_t affinity,
                                           iree_hal_buffer_t **out_buffer)
{
   return iree_make_status(IREE_STATUS_NOT_FOUND,
                           "executable: no global %.*s; SPIR-V modules have none", (int)name.size,
                           name.data);
}

const iree_hal_executable_vtable_t agx_iree_executable_vtable = {
   .destroy = executable_destroy,
   .function_count = function_count,
   .function_info = function_info,
   .function_parameters = function_parameters,
   .lookup_function_by_name = lookup_function_by_name,
   .lookup_global_by_name = lookup_global_by_name,
};
