/* SPDX-License-Identifier: MIT
 *
 * The room's side of agx_device_cancel; agx_submit and agx_flush are in agx/queue.h.
 */
#pragma once

#include "hal/core/context.h"
#include "hal/sync/state.h"

/* Ends what is parked, and what waits for files of others, as cancelled. */
AGX_SYNC_UNLOCKED void agx_sync_cancel(struct agx_device *device);
