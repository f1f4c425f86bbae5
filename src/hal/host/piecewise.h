/* SPDX-License-Identifier: MIT
 *
 * An operation that moves bytes on the host's threads, a piece at a turn, so that a long one
 * doesn't keep the short ones waiting.
 */
#pragma once

#include "hal/host/host_pool.h"
#include "hal/sync/submission.h"

/* Bytes of a piece: about a millisecond's work from the page cache; a multiple of all patterns. */
#define AGX_PIECE_B (4u << 20)

/* What the state of such an operation begins with (op.h). */
struct agx_piecewise {
   struct agx_host_job job;
   struct agx_submission *submission;
   /* Moves up to AGX_PIECE_B more bytes; *out_is_over once there are none left. */
   agx_status (*move)(struct agx_piecewise *it, bool *out_is_over);
   const char *label; /* of what it moves bytes of, for error texts */
};

/* Fills in the job of a submission that is being prepared. */
void agx_piecewise_init(struct agx_piecewise *it, struct agx_submission *submission,
                        agx_status (*move)(struct agx_piecewise *it, bool *out_is_over),
                        const char *label);

/* agx_op_type.run: hands the job to the threads, which finish the submission. Fails as
 * agx_host_pool_post. */
AGX_MUST_CHECK agx_status agx_piecewise_run(struct agx_submission *submission);
