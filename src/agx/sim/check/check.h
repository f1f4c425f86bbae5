/* SPDX-License-Identifier: MIT
 *
 * Check mode around one instruction: what real hardware leaves undefined fails the group.
 */
#pragma once

#include "agx/sim/machine/image_op.h"
#include "agx/sim/machine/machine.h"

/* What must hold before an instruction. False: the group has failed. */
bool agxs_check_before(struct agxs_group *group, const struct agxs_uop *uop);
/* What the instruction leaves behind for those that follow. */
void agxs_check_after(struct agxs_group *group, const struct agxs_uop *uop);

/* What image accesses call, of a worker with options.check or options.profile. */
extern const struct agxs_image_observer agxs_check_image_observer;
