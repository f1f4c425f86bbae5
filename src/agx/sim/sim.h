/* SPDX-License-Identifier: MIT
 *
 * Executes a compute command stream and its machine code over a memory
 * interface. Knows the hardware (src/agx) and nothing of kernels or drivers.
 */
#pragma once

#include "agx/chip.h"
#include "agx/sim/machine/options.h"
#include "agx/sim/memory/space.h"
#include "base/status.h"

/* Runs the CDM stream at stream_va to its Terminate. usc_base is the 4 GiB window
 * that code and launch words are relative to.
 * AGX_UNIMPLEMENTED names what is not modelled; AGX_DATA_LOSS is a hard fault (text:
 * address, access, dispatch, pc) or words that are none; AGX_DEADLINE_EXCEEDED an endless
 * kernel, or one that passes options->deadline_ns; AGX_CANCELLED options->cancel;
 * AGX_INVALID_ARGUMENT a launch or program beyond the hardware's limits; AGX_RESOURCE_EXHAUSTED one
 * beyond the simulator's; AGX_FAILED_PRECONDITION what check mode objects to. *out_stats (may be
 * NULL) is filled in any case. */
AGX_MUST_CHECK agx_status agxs_run_compute(const struct agx_chip *chip,
                                           const struct agxs_memory *memory,
                                           const struct agxs_options *options, uint64_t usc_base,
                                           uint64_t stream_va, struct agxs_stats *out_stats);
