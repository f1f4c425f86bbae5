/* SPDX-License-Identifier: MIT
 *
 * What all objects have in common: counts, versions, limits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGX_VERSION_MAJOR 0
#define AGX_VERSION_MINOR 1

#define AGX_DEADLINE_NEVER INT64_MAX  /* wait as long as it takes */
#define AGX_WHOLE_LENGTH   UINT64_MAX /* to the end of the buffer */

#define AGX_MAX_BINDINGS 64  /* of an executable and a dispatch */
#define AGX_MAX_PUSH_B   256 /* bytes of push constants */
#define AGX_NAME_BYTES   64

struct agx_instance;
struct agx_device;
struct agx_buffer;
struct agx_image;
struct agx_sampler;
struct agx_executable;
struct agx_command_buffer;
struct agx_event;
struct agx_pool;
struct agx_semaphore;

/* (major << 16) | minor of the library that is loaded. */
AGX_API uint32_t agx_version(void);

/* For any object of this header. Return nothing and never fail; NULL is ignored. */
AGX_API void agx_retain(void *object);
AGX_API void agx_release(void *object);

#ifdef __cplusplus
}
#endif
