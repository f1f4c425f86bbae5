/* SPDX-License-Identifier: MIT
 *
 * Small programs assembled by hand, so that the HAL is tested without the compiler.
 */
#pragma once

#include "agx/hal.h"
#include "support.h"

struct agx_test_kernel {
   const char *name;
   const char *text; /* one instruction a line; `stop` and padding are added */
   uint32_t local_size[3];
   uint32_t gpr_halves;
   uint32_t push_B;
   uint32_t bindings;    /* storage buffers 0..n-1 of set 0, addresses in u0:u1, u2:u3, ... */
   uint32_t written;     /* mask of bindings that are written */
   uint32_t untouched;   /* mask of bindings that are neither read nor written */
   bool takes_addresses; /* in push constants, of memory that is not bound */
};

/* The kernel as an ELF image; free it. Push constants follow the addresses. */
void *agx_test_kernel_elf(const struct agx_test_kernel *kernel, const char *chip, size_t *out_size);

/* out[i] = i + 1 over 64 threads a workgroup; binding 0. */
extern const struct agx_test_kernel agx_test_count;
/* y[i] = x[i] + push word 0; x is binding 0, y binding 1; 32 threads a workgroup. */
extern const struct agx_test_kernel agx_test_add;
/* Stores to the unmapped address that push words 0 and 1 hold. */
extern const struct agx_test_kernel agx_test_stray;
