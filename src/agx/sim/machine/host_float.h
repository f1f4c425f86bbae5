/* SPDX-License-Identifier: MIT
 *
 * The processor's own flushing of denormal sources, which x86 can do as the GPU does: a
 * single denormal that is read counts as zero of the same sign. It is on while a
 * SIMD-group runs, so that the quick loops of float arithmetic need not look
 * at their sources. Other machines flush by hand: their modes flush results too, and by
 * another rule than the simulator's.
 */
#pragma once

#include <stdbool.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

#define AGXS_HOST_FLUSHES_SOURCES true
#define AGXS_DENORMALS_ARE_ZERO   0x40u

/* Returns what it was, for switching back. */
static inline bool agxs_host_flush(bool on)
{
   unsigned mode = _mm_getcsr();
   _mm_setcsr(on ? mode | AGXS_DENORMALS_ARE_ZERO : mode & ~AGXS_DENORMALS_ARE_ZERO);
   return mode & AGXS_DENORMALS_ARE_ZERO;
}
#else
#define AGXS_HOST_FLUSHES_SOURCES false

/* Such a host does it in software. */
static inline bool agxs_host_flush(bool on)
{
   return on;
}
#endif
