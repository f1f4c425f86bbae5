/* SPDX-License-Identifier: MIT
 *
 * The address map, bottom up:
 *    [0, 2^36)        nothing but the zero page at 2^32: a null base plus any scaled
 *                     32-bit index stays in it
 *    4 GiB window     nothing but sinks at its end: the address of buffers that are null. The
 *                     next one starts where recorded programs have it
 *    4 GiB window     code and launch words, which the hardware addresses by 32 bits
 *    user             buffers; the end of each 4 GiB window holds sinks
 *    top              the kernel's own
 * Source: docs/hw/kernel.md 3 and 8.
 */
#include "winsys/address_map.h"

#include "agx/chip.h"
#include "base/util.h"

agx_status agxw_address_map_make(uint64_t vm_start, uint64_t vm_end, uint64_t kernel_min,
                                 struct agxw_address_map *out_map)
{
   *out_map = (struct agxw_address_map){0};
   const uint64_t page = AGX_PAGE_BYTES;
   if (vm_start >= vm_end || vm_end > AGXW_ADDRESS_BYTES || vm_start > AGXW_ZERO_PAGE ||
       kernel_min > vm_end)
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "device: address space %#llx..%#llx with %#llx for the kernel is not one "
                      "that this driver knows",
                      (unsigned long long)vm_start, (unsigned long long)vm_end,
                      (unsigned long long)kernel_min);
   struct agxw_address_map map = {
      .zero_page = AGXW_ZERO_PAGE,
      .null_start = AGXW_LOW_END,
      .null_end = AGXW_LOW_END + AGXW_WINDOW_BYTES,
      .usc_start = AGXW_LOW_END + AGXW_WINDOW_BYTES,
      .kernel_end = vm_end & ~(page - 1),
   };
   map.usc_end = map.usc_start + AGXW_WINDOW_BYTES;
   map.user_start = agx_align_up(map.usc_end, AGXW_LOW_END);
   uint64_t kernel_bytes = agx_align_up(AGX_MAX(kernel_min, AGXW_KERNEL_BYTES), page);
   if (kernel_bytes > map.kernel_end || map.kernel_end - kernel_bytes <= map.user_start)
      return AGX_FAIL(AGX_INCOMPATIBLE,
                      "device: address space ends at %#llx: no room for buffers above %#llx and "
                      "%#llx bytes for the kernel",
                      (unsigned long long)vm_end, (unsigned long long)map.user_start,
                      (unsigned long long)kernel_bytes);
   map.kernel_start = map.kernel_end - kernel_bytes;
   map.user_end = map.kernel_start;
   *out_map = map;
   return AGX_OK;
}
