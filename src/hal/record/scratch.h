/* SPDX-License-Identifier: MIT
 *
 * Scratch memory of kernels: what submissions of one queue share, with the helper program that
 * hands it out on the GPU. See docs/decisions/0031-scratch-of-a-queue.md.
 */
#pragma once

#include "hal/core/context.h"

struct agx_scratch;
struct agxw_helper;

/* Makes *scratch large enough for stacks of scratch_B bytes for each thread; where it is not, it
 * is released, and a larger one takes its place. Submissions in flight keep what they have. NULL:
 * none yet. One thread at a time for one *scratch. */
AGX_MUST_CHECK agx_status agx_scratch_provide(struct agx_device *device, uint32_t scratch_B,
                                              struct agx_scratch **scratch);
/* What a submission names. */
const struct agxw_helper *agx_scratch_helper(const struct agx_scratch *scratch);
