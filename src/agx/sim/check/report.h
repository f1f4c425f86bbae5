/* SPDX-License-Identifier: MIT
 *
 * Statistics of a dispatch as text: a table for people, an object of JSON for programs
 * (docs/hw/simulator.md lists its keys). Both name each term of the model and what binds
 * `main`, on the dispatch's own grid and on the grid repeated for a race.
 */
#pragma once

#include <stdio.h>

#include "agx/sim/check/statistics.h"

/* Where the dispatch comes from. */
struct agxs_origin {
   uint64_t submission; /* from 1 */
   uint32_t command;    /* of the submission */
};

/* The table, with at most `spots` instructions: those that add most to what binds. */
void agxs_report_table(FILE *to, const struct agxs_dispatch_stats *stats,
                       const struct agxs_origin *origin, uint32_t spots);

/* One line: the object and a newline. */
void agxs_report_json(FILE *to, const struct agxs_dispatch_stats *stats,
                      const struct agxs_origin *origin);
