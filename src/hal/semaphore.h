/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/device.h"

/* Everything below the device is guarded by the device's lock. */
struct agx_semaphore {
   struct agx_object object;
   struct agx_device *device;
   uint64_t value;    /* reached */
   uint64_t promised; /* largest value that was reached or submitted */
   struct agx_failure failure;
   struct agx_link pending; /* agx_signal in flight, by value */
};

/* A signal of a kernel submission in flight. */
struct agx_signal {
   struct agx_link link;
   struct agx_semaphore *semaphore;
   uint64_t value;
};

/* With the device's lock held. Both wake waiters; parked submissions are the caller's. */
void agx_semaphore_advance(struct agx_semaphore *semaphore, uint64_t value);
void agx_semaphore_fail_locked(struct agx_semaphore *semaphore, const struct agx_failure *failure);
