/* SPDX-License-Identifier: MIT
 *
 * The variants of exec functions, as tables.
 */
#pragma once

#include "agx/sim/machine/exec_set.h"

extern const struct agxs_exec_set agxs_exec_set_plain, agxs_exec_set_avx2;

/* The quickest variant that this machine can run. */
const struct agxs_exec_set *agxs_exec_best(void);
