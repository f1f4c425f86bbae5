/* SPDX-License-Identifier: MIT
 *
 * See foreign.h.
 */
#include "hal/core/foreign.h"

#include <stdio.h>

#include "hal/device/device.h"

struct agx_foreign agx_foreign(const struct agx_device *theirs, const struct agx_device *ours)
{
   struct agx_foreign it;
   snprintf(it.text, sizeof(it.text), "of another device: number %u (%.24s), not number %u (%.24s)",
            theirs->number, agxw_device_info(theirs->winsys)->node, ours->number,
            agxw_device_info(ours->winsys)->node);
   return it;
}
