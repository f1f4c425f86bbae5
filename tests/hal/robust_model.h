/* SPDX-License-Identifier: MIT
 *
 * The rules of robust buffers, byte by byte, independent of the compiler: a device whose loads,
 * stores and atomics apply them themselves to code that knows nothing of them. Such code,
 * compiled without optimisation and without robustness, names the binding by the address that is
 * the base of each access, and has the offset in its index.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "support.h"
#include "winsys/kmd.h"

#define MODEL_MAX_BINDINGS 16

struct model_binding {
   uint64_t va, bytes;  /* as it is bound: what lies outside reads 0 and is never written */
   uint64_t reach;      /* out: the end of what was accessed of it, in bytes */
   uint64_t outside;    /* out: elements that were not inside */
   bool atomic_outside; /* out: one of them of an atomic, whose result no rule tells */
};

/* What the device that model_open makes applies; one at a time. */
struct robust_model {
   struct model_binding bindings[MODEL_MAX_BINDINGS];
   uint32_t count;
   uint32_t component_B; /* what is inside or outside as one, where that is more than an element */
   uint64_t foreign;     /* out: accesses to no binding's address: by addresses in memory */
};

/* A virtual device for agx_device_open_kmd. model must outlive it; set it up between
 * submissions. */
struct agx_kmd *model_open(const char *chip, struct robust_model *model);
