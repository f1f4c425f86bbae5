/* SPDX-License-Identifier: MIT
 *
 * The driver's own kernels, compiled when the library was built (builtin/make_builtins.c).
 */
#pragma once

#include <pthread.h>

#include "base/status.h"

struct agx_device;
struct agx_executable;

/* What their push constants are behind the addresses, and how their grid is made, transfer.c and
 * image_transfer.c say.
 * Binding 0 is written, binding 1 read; both at any offset. */
enum agx_builtin {
   AGX_BUILTIN_FILL = 0,
   AGX_BUILTIN_COPY = 1,
   AGX_BUILTIN_UPDATE = 2,     /* a copy whose source is an address */
   AGX_BUILTIN_COPY_IMAGE = 3, /* texels, between images and buffers */
   AGX_BUILTIN_CLEAR_IMAGE = 4,
   AGX_BUILTIN_COUNT,
};

/* Of a device. */
struct agx_builtins {
   pthread_mutex_t lock; /* who loads one holds it */
   struct agx_executable *_Atomic executables[AGX_BUILTIN_COUNT];
};

/* Starts without executables: agx_device_builtin() loads them. */
void agx_builtins_init(struct agx_builtins *builtins);
/* Releases the executables; no command buffer uses them any more. */
void agx_builtins_fini(struct agx_builtins *builtins);

/* The executable, which lives as long as the device; loads it when it is asked for first. */
AGX_MUST_CHECK agx_status agx_device_builtin(struct agx_device *device, enum agx_builtin which,
                                             struct agx_executable **out_executable);
