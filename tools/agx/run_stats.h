/* SPDX-License-Identifier: MIT
 *
 * agx run --stats: statistics of the virtual AGX, collected beside the run.
 */
#pragma once

#include <stdbool.h>

#include "agx/status.h"
#include "base/json.h"

/* Asks virtual devices that are opened from now on for statistics; *out_fd is where they
 * write to (close it). */
AGX_MUST_CHECK agx_status agx_run_stats_begin(bool is_json, int *out_fd);

/* Prints what was written: the tables as they are, or the member "statistics" with an
 * object for each dispatch, without the library's own that end its streams. json NULL: tables. */
AGX_MUST_CHECK agx_status agx_run_stats_print(int fd, struct agx_json *json);
