/* SPDX-License-Identifier: MIT
 *
 * All dispatches of a capture with their code, for the commands that look at a capture as a whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/hw/cdm.h"
#include "base/status.h"
#include "code.h"
#include "winsys/capture/capture.h"

struct dump_dispatch {
   uint64_t submission; /* from 1 */
   uint32_t command, index;
   uint64_t stream_va;    /* of the launch's words, */
   uint32_t stream_bytes; /* which are so long */
   struct agx_hw_launch launch;
   uint32_t gpr_halves, shared_B;
   struct dump_code main, preamble;
};

struct dump_dispatches {
   struct dump_dispatch *items;
   size_t count, capacity;
   uint64_t undecoded; /* streams that could not be walked to their end */
};

/* Adds the dispatches of a SUBMIT record to what was found before; state is as of then. */
AGX_MUST_CHECK agx_status dump_add_dispatches(struct dump_dispatches *out,
                                              const struct agxw_capture_state *state,
                                              const struct agxw_capture_record *record,
                                              const struct agx_chip *chip, uint64_t submission);
/* Frees all. */
void dump_free_dispatches(struct dump_dispatches *dispatches);
