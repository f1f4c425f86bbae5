/* SPDX-License-Identifier: MIT */
#pragma once

#include "agx.h"
#include "agx/chip.h"

/* Prints the table of compiled kernels of the corpus in folder; an exit code. */
int bench_compile(const char *folder, const struct agx_chip *chip);
