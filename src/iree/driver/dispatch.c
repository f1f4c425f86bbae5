/* SPDX-License-Identifier: MIT
 *
 * Dispatches: IREE's arguments in the core's words, for command buffers and for queues. Kernels get
 * their buffers in one of two ways: as storage buffers of set 0, or by a table of addresses, whose
 * own address stands in the root among the push constants.
 */
#include <string.h>

#include "agx_iree.h"

bool agx_iree_dispatch_wants_table(const struct agx_iree_entry *entry,
                                   iree_hal_dispatch_flags_t flags)
{
   return entry->abi == AGX_IREE_ADDRESSES && !iree_hal_dispatch_uses_custom_arguments(flags);
}

static iree_status_t fill_counts(const iree_hal_dispatch_config_t *config,
                                 iree_hal_dispatch_flags_t flags, struct agx_dispatch *out)
{
   memcpy(out->workgroups, config->workgroup_count, sizeof(out->workgroups));
   if (!iree_hal_dispatch_uses_indirect_parameters(flags))
      return iree_ok_status();
   IREE_RETURN_IF_ERROR(agx_iree_ref(config->workgroup_count_ref, &out->counts));
   if (out->counts.length_B != AGX_WHOLE_LENGTH && out->counts.length_B < 12)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "dispatch: %" PRIu64 " bytes of workgroup counts, it reads 12",
                              out->counts.length_B);
   return iree_ok_status();
}

/* A size that is the kernel's own anyway is no choice. */
static void fill_local_size(const struct agx_iree_entry *entry,
                            const iree_hal_dispatch_config_t *config, struct agx_dispatch *out)
{
   if (memcmp(config->workgroup_size, entry->local_size, sizeof(entry->local_size)) != 0)
      memcpy(out->local_size, config->workgroup_size, sizeof(out->local_size));
}

static iree_status_t check_binding_count(const struct agx_iree_entry *entry,
                                         iree_hal_buffer_ref_list_t bindings)
{
   if (bindings.count >= entry->binding_count)
      return iree_ok_status();
   return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                           "dispatch: %s has %u bindings, %" PRIhsz " are given", entry->name,
                           entry->binding_count, bindings.count);
}

static iree_status_t fill_bindings(const struct agx_iree_entry *entry,
                                   iree_hal_buffer_ref_list_t bindings,
                                   struct agx_iree_dispatch *out)
{
   for (uint32_t i = 0; i < entry->used_count; i++) {
      out->bindings[i] = (struct agx_binding){.binding = entry->used_number[i]};
      IREE_RETURN_IF_ERROR(agx_iree_ref(bindings.values[entry->used[i]], &out->bindings[i].ref));
   }
   out->core.bindings = out->bindings;
   out->core.binding_count = entry->used_count;
   return iree_ok_status();
}

/* Constants stand behind the root, or are all of the push constants when the caller says so. */
static iree_status_t fill_push(const struct agx_iree_entry *entry, iree_const_byte_span_t constants,
                               iree_hal_dispatch_flags_t flags, struct agx_iree_dispatch *out)
{
   const bool is_custom = (flags & IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS) != 0;
   const uint32_t at_B = is_custom ? 0 : entry->constants_at_B;
   const size_t most_B = is_custom ? AGX_MAX_PUSH_B : 4 * (size_t)entry->constant_count;
   if (constants.data_length > most_B || (!is_custom && constants.data_length < most_B))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "dispatch: %s takes %zu bytes of constants, %" PRIhsz " are given",
                              entry->name, most_B, constants.data_length);
   out->core.push_B = entry->push_B;
   if (is_custom && constants.data_length > entry->push_B)
      out->core.push_B = (uint32_t)((constants.data_length + 3) & ~(size_t)3);
   memset(out->push, 0, out->core.push_B);
   if (constants.data_length)
      memcpy(out->push + at_B, constants.data, constants.data_length);
   out->core.push = out->push;
   return iree_ok_status();
}

iree_status_t agx_iree_dispatch_fill(const struct agx_iree_entry *entry,
                                     const iree_hal_dispatch_config_t *config,
                                     iree_const_byte_span_t constants,
                                     iree_hal_buffer_ref_list_t bindings,
                                     iree_hal_dispatch_flags_t flags, struct agx_iree_dispatch *out)
{
   out->core = (struct agx_dispatch){
      .size = sizeof(out->core),
      .executable = entry->core,
      .entry = entry->core_entry,
      .shared_B = config->dynamic_workgroup_local_memory,
   };
   IREE_RETURN_IF_ERROR(fill_counts(config, flags, &out->core));
   fill_local_size(entry, config, &out->core);
   if (iree_hal_dispatch_uses_indirect_arguments(flags)) {
      if (!bindings.count)
         return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                 "dispatch: indirect arguments are binding 0, there is none");
      out->core.push_B = entry->push_B;
      return agx_iree_ref(bindings.values[0], &out->core.arguments);
   }
   IREE_RETURN_IF_ERROR(fill_push(entry, constants, flags, out));
   if (entry->abi != AGX_IREE_ADDRESSES || agx_iree_dispatch_wants_table(entry, flags)) {
      IREE_RETURN_IF_ERROR(check_binding_count(entry, bindings));
   }
   return entry->abi == AGX_IREE_ADDRESSES ? iree_ok_status() : fill_bindings(entry, bindings, out);
}

static iree_status_t address_of(const struct agx_iree_device *device, iree_hal_buffer_ref_t ref,
                                uint64_t *out_address)
{
   struct agx_buffer_ref core;
   IREE_RETURN_IF_ERROR(agx_iree_ref(ref, &core));
   if (iree_hal_buffer_allocation_placement(ref.buffer).device != (const void *)device)
      return iree_make_status(
         IREE_STATUS_INVALID_ARGUMENT,
         "dispatch: a buffer of another device, where its address says nothing");
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(core.buffer, &info);
   *out_address = info.address + core.offset_B;
   return iree_ok_status();
}

/* The range that a slot of the table stands for. */
static iree_status_t resolve(iree_hal_buffer_binding_table_t table, iree_hal_buffer_ref_t *ref)
{
   if (ref->buffer_slot < table.count && table.bindings[ref->buffer_slot].buffer)
      return iree_hal_buffer_binding_table_resolve_ref(table, *ref, ref);
   return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                           "dispatch: slot %u of the binding table, of %" PRIhsz ", has no buffer",
                           ref->buffer_slot, table.count);
}

iree_status_t agx_iree_addresses(const struct agx_iree_device *device,
                                 iree_hal_buffer_ref_list_t bindings,
                                 iree_hal_buffer_binding_table_t table, uint64_t *out_addresses)
{
   for (iree_host_size_t i = 0; i < bindings.count; i++) {
      iree_hal_buffer_ref_t ref = bindings.values[i];
      if (!ref.buffer) {
         IREE_RETURN_IF_ERROR(resolve(table, &ref));
      }
      IREE_RETURN_IF_ERROR(address_of(device, ref, &out_addresses[i]));
   }
   return iree_ok_status();
}

void agx_iree_write_root(const struct agx_iree_entry *entry, uint64_t table_address, uint8_t *push)
{
   memset(push + entry->root_at_B, 0, AGX_IREE_ROOT_B);
   memcpy(push + entry->root_at_B, &table_address, sizeof(table_address));
}
