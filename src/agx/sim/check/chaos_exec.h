/* SPDX-License-Identifier: MIT
 *
 * The exec functions of a chaos run (launch/chaos.h).
 */
#pragma once

#include "agx/sim/machine/exec_set.h"

/* As base, with accesses and memory barriers that mind the caches. The worker's plain_set is
 * base. */
void agxs_chaos_exec_set(const struct agxs_exec_set *base, struct agxs_exec_set *out_set);
