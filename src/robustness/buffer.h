/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of safe buffer accesses: pure, total, without wrap. An access of `bytes` bytes
 * at constant + index * stride is inside a buffer of `size` bytes when none of its bytes lies
 * behind the end; numbers are those of mathematics, not modulo anything. Source:
 * docs/hw/access.md 2.
 *
 * hal/record/launch.h computes by it what robust kernels compare with.
 *
 * Sinks are two pages that every buffer has above it within reach of a 32-bit byte distance.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* value / by, where most are powers of two. */
static inline uint64_t agxr_quotient(uint64_t value, uint32_t by)
{
   return by & (by - 1) ? value / by : value >> __builtin_ctz(by);
}

/* How many indices, from 0 on, are inside: index < count is the test. All that 32 bits can
 * say but the last one, so that a saturated index is always outside. */
static inline uint32_t agxr_buffer_count(uint64_t size, uint32_t constant, uint32_t stride,
                                         uint32_t bytes)
{
   uint64_t before = (uint64_t)constant + bytes; /* bytes up to the end of the first access */
   if (size < before)
      return 0;
   uint64_t rest = size - before;
   uint64_t count = stride ? agxr_quotient(rest, stride) : UINT32_MAX;
   return count < UINT32_MAX ? (uint32_t)count + 1 : UINT32_MAX;
}

/* What umin clamps to: the last index inside. 0 where there is none; then the access goes to a
 * sink, see agxr_buffer_guard. */
static inline uint32_t agxr_buffer_last(uint64_t size, uint32_t constant, uint32_t stride,
                                        uint32_t bytes)
{
   uint32_t count = agxr_buffer_count(size, constant, stride, bytes);
   return count ? count - 1 : 0;
}

/* Where an access without index goes, and the base of accesses with clamped ones: address +
 * constant if bytes fit there, else the sink. */
static inline uint64_t agxr_buffer_guard(uint64_t address, uint64_t size, uint32_t constant,
                                         uint32_t bytes, uint64_t sink)
{
   return agxr_buffer_count(size, constant, 1, bytes) ? address + constant : sink;
}

/* The first index that leads from address into the sink, with all bytes of the access. False if
 * none does: the sink lies below, or too far above. */
static inline bool agxr_buffer_sink(uint64_t address, uint32_t constant, uint32_t stride,
                                    uint32_t bytes, uint64_t sink, uint64_t sink_B,
                                    uint32_t *out_index)
{
   *out_index = 0;
   uint64_t base = address + constant;
   if (stride == 0 || base < address || sink < base || sink - base > UINT32_MAX)
      return false;
   uint64_t index = agxr_quotient(sink - base + stride - 1, stride);
   uint64_t inside = index * stride - (sink - base); /* bytes from the sink's beginning */
   if (index * stride > UINT32_MAX || inside + bytes > sink_B)
      return false;
   *out_index = (uint32_t)index;
   return true;
}
