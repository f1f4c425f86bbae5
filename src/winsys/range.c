/* SPDX-License-Identifier: MIT
 *
 * Reserved ranges of addresses, whose memory comes and goes while they stay.
 */
#include <string.h>

#include "base/util.h"
#include "winsys/device_impl.h"

agx_status agxw_bo_reserve(struct agxw_device *device, uint64_t size, uint64_t align,
                           const char *label, struct agxw_bo **out_bo)
{
   struct agxw_bo *bo = NULL;
   *out_bo = NULL;
   AGX_TRY(agxw_bo_new(device, size, 0, label ? label : "reservation", &bo));
   bo->is_range = true;
   agx_status status = agxw_bo_take_address(bo, align);
   if (status == AGX_OK && bo->size > AGXW_WINDOW_BYTES - AGXW_SINK_BYTES)
      status = agxw_vm_bind(device, NULL, bo->va, bo->size, AGX_UAPI_BIND_UNBIND); /* sinks */
   if (status != AGX_OK) {
      agxw_bo_destroy(bo);
      return status;
   }
   agxw_places_add(bo);
   *out_bo = bo;
   return AGX_OK;
}

static bool fits(uint64_t offset, uint64_t bytes, const struct agxw_bo *bo)
{
   return (offset | bytes) % bo->device->page_bytes == 0 && bytes > 0 &&
          agx_range_fits(offset, bytes, bo->size);
}

static agx_status check(const struct agxw_bo *range, const struct agxw_bind *bind)
{
   if (!range->is_range)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: not a reserved range", range->label);
   if (!fits(bind->offset, bind->bytes, range))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %llu bytes at %llu; whole pages of %u up to %llu",
                      range->label, (unsigned long long)bind->bytes,
                      (unsigned long long)bind->offset, range->device->page_bytes,
                      (unsigned long long)range->size);
   if (!bind->memory)
      return AGX_OK;
   if (!fits(bind->memory_offset, bind->bytes, bind->memory))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: %llu bytes at %llu of %s, which has %llu",
                      range->label, (unsigned long long)bind->bytes,
                      (unsigned long long)bind->memory_offset, bind->memory->label,
                      (unsigned long long)bind->memory->size);
   if (bind->memory->device != range->device || !bind->memory->handle ||
       !(bind->is_readable || bind->is_writable))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: memory of another device, or no access",
                      range->label);
   return AGX_OK;
}

static struct agx_uapi_gem_bind_op make_op(const struct agxw_bo *range,
                                           const struct agxw_bind *bind)
{
   struct agx_uapi_gem_bind_op op = {
      .flags = AGX_UAPI_BIND_UNBIND, .range = bind->bytes, .addr = range->va + bind->offset};
   if (!bind->memory)
      return op;
   op.flags = (bind->is_readable ? AGX_UAPI_BIND_READ : 0u) |
              (bind->is_writable ? AGX_UAPI_BIND_WRITE : 0u);
   op.handle = bind->memory->handle;
   op.offset = bind->memory_offset;
   return op;
}

static agx_status bind_some(const struct agxw_bo *range, const struct agxw_bind *binds,
                            uint32_t count)
{
   struct agx_uapi_gem_bind_op ops[AGXW_MAX_BINDS];
   for (uint32_t i = 0; i < count; i++)
      ops[i] = make_op(range, &binds[i]);
   struct agx_uapi_vm_bind bind = {.vm_id = range->device->vm_id,
                                   .num_binds = count,
                                   .stride = sizeof(ops[0]),
                                   .userptr = (uintptr_t)ops};
   int error = agxw_ioctl(range->device, AGX_IOCTL_ASAHI_VM_BIND, &bind);
   if (error)
      return agx_status_fail_errno(error, "%s: VM_BIND of %u ranges from %#llx on", range->label,
                                   count, (unsigned long long)ops[0].addr);
   return AGX_OK;
}

agx_status agxw_bo_bind(struct agxw_bo *range, const struct agxw_bind *binds, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++)
      AGX_TRY(check(range, &binds[i]));
   for (uint32_t i = 0; i < count; i += AGXW_MAX_BINDS)
      AGX_TRY(bind_some(range, binds + i, AGX_MIN(count - i, AGXW_MAX_BINDS)));
   return AGX_OK;
}

/* Sinks: at the end of each 4 GiB window of the buffers' address space lie a page of zeros
 * that can't be written, and a page of waste that can. An index of 32 bits leads to them from
 * any buffer in the window, so that an access that must not happen harms no buffer.
 * All windows show the same two pages; a window gets them with the first buffer that is
 * placed in it: two pages of page tables for each window in use, instead of for all.
 * Source: docs/hw/access.md 1 has such pages at one place only. */

/* What a read finds that should have been none. Source: as above. */
#define WASTE_BYTE 0xca

static agx_status bind_sinks(struct agxw_device *device, uint64_t va)
{
   struct agx_uapi_gem_bind_op ops[] = {
      {.flags = AGX_UAPI_BIND_READ,
       .handle = device->zero_page->handle,
       .range = AGX_PAGE_BYTES,
       .addr = va},
      {.flags = AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE,
       .handle = device->waste_page->handle,
       .range = AGX_PAGE_BYTES,
       .addr = va + AGX_PAGE_BYTES},
   };
   struct agx_uapi_vm_bind bind = {.vm_id = device->vm_id,
                                   .num_binds = AGX_COUNT(ops),
                                   .stride = sizeof(ops[0]),
                                   .userptr = (uintptr_t)ops};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_VM_BIND, &bind);
   if (error)
      return agx_status_fail_errno(error, "%s: VM_BIND of zeros and waste at %#llx",
                                   device->kmd->name, (unsigned long long)va);
   return AGX_OK;
}

/* The waste page's own place is the null window's; with larger host pages it is of more than one
 * of ours, of which the others are never bound. */
agx_status agxw_sinks_init(struct agxw_device *device)
{
   const struct agxw_address_map *map = &device->address_map;
   void *memory = NULL;
   AGX_TRY(agxw_bo_create_fixed(device, AGX_PAGE_BYTES, map->zero_page, AGXW_BO_READ_ONLY,
                                "zero page", &device->zero_page));
   AGX_TRY(agxw_bo_create_unbound(device, AGX_PAGE_BYTES, 0, "waste page", &device->waste_page));
   AGX_TRY(agxw_bo_map(device->waste_page, &memory));
   memset(memory, WASTE_BYTE, AGX_PAGE_BYTES);
   return bind_sinks(device, map->null_end - AGXW_SINK_BYTES);
}

/* ---- windows ------------------------------------------------------------ */

static bool is_bound(const struct agxw_device *device, uint64_t window)
{
   return device->sinks_bound[window / 64] >> window % 64 & 1;
}

agx_status agxw_sinks_place(struct agxw_device *device, uint64_t va, uint64_t bytes)
{
   const struct agxw_va_heap *heap = &device->user;
   uint64_t last = (va + bytes - 1) / AGXW_WINDOW_BYTES,
            kept = agxw_va_heap_kept(heap, va + bytes - 1);
   /* A long buffer covers what was there, which then is bound no more. */
   for (uint64_t window = va / AGXW_WINDOW_BYTES; window < last; window++)
      device->sinks_bound[window / 64] &= ~(UINT64_C(1) << window % 64);
   if (va + bytes > kept) {
      device->sinks_bound[last / 64] &= ~(UINT64_C(1) << last % 64);
      return AGX_OK;
   }
   if (is_bound(device, last))
      return AGX_OK;
   AGX_TRY(bind_sinks(device, kept));
   device->sinks_bound[last / 64] |= UINT64_C(1) << last % 64;
   return AGX_OK;
}

static bool is_in_reach(uint64_t from, uint64_t sinks)
{
   return sinks >= from && sinks + AGXW_SINK_BYTES - from <= AGXW_WINDOW_BYTES;
}

bool agxw_bo_sinks(const struct agxw_bo *bo, uint64_t offset, struct agxw_sinks *out_sinks)
{
   const struct agxw_va_heap *heap = &bo->device->user;
   *out_sinks = (struct agxw_sinks){0};
   if (!bo->heap_B || bo->flags & AGXW_BO_USC || offset > bo->size)
      return false;
   /* Only where the buffer ends in a window does it leave the window's sinks alone. */
   uint64_t end = bo->va + bo->heap_B, kept = agxw_va_heap_kept(heap, end - 1);
   if (end > kept || !is_in_reach(bo->va + offset, kept))
      return false;
   *out_sinks = (struct agxw_sinks){kept, kept + AGX_PAGE_BYTES};
   return true;
}

uint64_t agxw_device_null(const struct agxw_device *device, struct agxw_sinks *out_sinks)
{
   uint64_t kept = device->address_map.null_end - AGXW_SINK_BYTES;
   *out_sinks = (struct agxw_sinks){kept, kept + AGX_PAGE_BYTES};
   return device->address_map.null_start;
}
