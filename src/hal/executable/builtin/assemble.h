/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes the kernels whose text the files hold, up to the NULL, as the rows of a C table. False:
 * standard error says what is wrong. */
bool assemble_kernels(FILE *out, char *const *paths);
