/* SPDX-License-Identifier: MIT
 *
 * Register allocation: first as many values as needed go to scratch memory, then all others get
 * registers.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Machine IR in SSA form: sends values to scratch memory until the others fit in registers;
 * true when any had to go. Leaves dead code. Fails through agxc_fail with
 * AGX_RESOURCE_EXHAUSTED when a thread would need too much scratch memory. */
bool agxc_spill(struct agxc_shader *shader);
/* Replaces values by registers, inserts copies, removes PHI, COLLECT, SPLIT and MOV. Requires
 * agxc_spill. Fails through agxc_fail with AGX_RESOURCE_EXHAUSTED. */
bool agxc_ra(struct agxc_shader *shader);
