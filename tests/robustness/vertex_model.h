/* SPDX-License-Identifier: MIT
 *
 * The rules of vertex attributes that can't be read past their end as plain arithmetic, a model of
 * what the compiler makes of them in code.
 */
#pragma once

#include "robustness/buffer.h"
#include "robustness/vertex.h"

/* The last element inside; all numbers are where stride is 0. 0 where none is: then the
 * attribute has the sink as its base. */
static inline uint32_t model_vertex_last(uint64_t size, uint64_t offset, uint32_t stride,
                                         uint32_t bytes)
{
   if (!agxr_vertex_fits(size, offset, bytes))
      return 0;
   return stride ? (uint32_t)(agxr_vertex_size(size) - offset - bytes) / stride : UINT32_MAX;
}

/* Where element 0 is read from. */
static inline uint64_t model_vertex_base(uint64_t address, uint64_t size, uint64_t offset,
                                         uint32_t bytes, uint64_t sink)
{
   return agxr_vertex_fits(size, offset, bytes) ? address + offset : sink;
}

/* The element that lies in the sink: what elements behind the last become where they must read
 * zeros. False when no number leads there. */
static inline bool model_vertex_sink(uint64_t address, uint64_t size, uint64_t offset,
                                     uint32_t stride, uint32_t bytes, uint64_t sink,
                                     uint64_t sink_B, uint32_t *out_element)
{
   *out_element = 0;
   if (stride == 0 || !agxr_vertex_fits(size, offset, bytes))
      return bytes <= sink_B;
   return agxr_buffer_sink(address, (uint32_t)offset, stride, bytes, sink, sink_B, out_element);
}

/* The element that an instance reads, counted from 0 without base_instance. Modulo 2^32 as
 * instance numbers are; draws don't come so far. */
static inline uint32_t model_vertex_element(uint32_t instance, uint32_t base_instance,
                                            uint32_t divisor)
{
   return base_instance + (divisor ? instance / divisor : 0);
}

/* How many instances, from 0 on, read elements up to last: 2^32 or more say 2^32. A draw of at
 * most so many needs no check. */
static inline uint64_t model_vertex_instances(uint32_t last, uint32_t base_instance,
                                              uint32_t divisor)
{
   const uint64_t all = 1ull << 32;
   if (base_instance > last)
      return 0;
   uint64_t count = divisor ? ((uint64_t)last - base_instance + 1) * divisor : all;
   return count < all ? count : all;
}
