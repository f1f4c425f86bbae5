/* SPDX-License-Identifier: MIT
 *
 * Reserved ranges of addresses, whose memory comes and goes while they stay.
 */
#include "base/util.h"
#include "winsys/device.h"

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
