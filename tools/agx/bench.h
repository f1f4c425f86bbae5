/* SPDX-License-Identifier: MIT */
#pragma once

#include "agx.h"
#include "agx/chip.h"

/* Prints the table of compiled kernels of the corpus in folder; *out_failed is how many
 * could not be compiled, which their rows say. */
AGX_MUST_CHECK agx_status bench_compile(const char *folder, const struct agx_chip *chip,
                                        uint32_t *out_failed);
