/* SPDX-License-Identifier: MIT
 *
 * The exec functions of machine/exec_set.h's list. Their files are compiled once or more, each
 * time with another AGXS_VARIANT and other instruction-set flags; all variants
 * give the same bits. exec.c gathers one variant's functions into a table.
 */
#pragma once

#include "agx/sim/machine/exec_set.h"

#ifndef AGXS_VARIANT
#define AGXS_VARIANT plain
#endif
#define AGXS_PASTE_(a, b) a##_##b
#define AGXS_PASTE(a, b)  AGXS_PASTE_(a, b)
#define AGXS_EXEC(name)   AGXS_PASTE(agxs_exec_##name, AGXS_VARIANT)

#define X(name) agxs_exec AGXS_EXEC(name);
AGXS_EXEC_LIST(X)
#undef X
