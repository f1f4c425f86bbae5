/* SPDX-License-Identifier: MIT
 *
 * Starting and ending the room for a device; hal/device calls it.
 */
#pragma once

#include "hal/sync/state.h"

/* Starts the room for a device: locks, lists, no queue yet. Takes no other resource. */
void agx_sync_state_init(struct agx_device *device, const struct agx_sync_hooks *hooks);

/* Makes the queues that the descriptor asks for, and starts the completion thread.
 * AGX_OUT_OF_RANGE, AGX_INVALID_ARGUMENT: the descriptor; AGX_RESOURCE_EXHAUSTED. */
AGX_MUST_CHECK agx_status agx_sync_open_queues(struct agx_device *device,
                                               const struct agx_device_desc *desc);
AGX_MUST_CHECK agx_status agx_sync_start_worker(struct agx_device *device);

/* Ends the room's threads, with nothing parked or in flight. */
void agx_sync_stop(struct agx_device *device);

/* Ends what init has started; nothing calls into the room any more. */
void agx_sync_state_fini(struct agx_device *device);
