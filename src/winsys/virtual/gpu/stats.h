/* SPDX-License-Identifier: MIT
 *
 * Statistics of what submissions executed, written where AGX_VIRTUAL_STATS says:
 * "table" or "json" (a line for each dispatch), to standard error, or with ":FILE"
 * appended to a file. Each dispatch is written in one piece before its submission is
 * done, so several threads and processes may share a file.
 */
#pragma once

#include <stdint.h>

#include "agx/sim/check/statistics.h"
#include "winsys/virtual/store/node.h"

/* What a value of AGX_VIRTUAL_STATS asks for; says so on standard error when it makes no
 * sense. text may be NULL. */
struct agxv_stats agxv_stats_parse(const char *text);

/* A file that can't be written is said on standard error. */
void agxv_stats_write(const struct agxv_stats *stats, uint64_t submission, uint32_t command,
                      const struct agxs_dispatch_stats *dispatch);
