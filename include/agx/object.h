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
#define AGX_ABI_VERSION   1

#define AGX_DEADLINE_NEVER INT64_MAX  /* wait as long as it takes */
#define AGX_WHOLE_LENGTH   UINT64_MAX /* to the end of the buffer */

#define AGX_MAX_BINDING_B UINT32_MAX /* of a buffer that a binding shows a kernel: 2^32 - 1 */
#define AGX_MAX_BINDINGS  64         /* of an executable and a dispatch */
#define AGX_MAX_PUSH_B    256        /* bytes of push constants */
/* Different samplers that kernels with more than 16 of them may be bound to while they live. */
#define AGX_MAX_HEAP_SAMPLERS 1023
#define AGX_NAME_BYTES        64

struct agx_instance;
struct agx_device;
struct agx_buffer;
struct agx_image;
struct agx_sampler;
struct agx_executable;
struct agx_command_buffer;
struct agx_descriptor_heap;
struct agx_event;
struct agx_pool;
struct agx_semaphore;

/* (major << 16) | minor of the library that is loaded. */
AGX_API uint32_t agx_version(void);

/* AGX_ABI_VERSION of the library that is loaded. It grows when programs must be compiled anew: when
 * a function goes or changes, or a struct other than at its end. What is new doesn't change it,
 * since structs say their size; a program needs a library of its own AGX_ABI_VERSION, whatever else
 * the two versions are. */
AGX_API uint32_t agx_abi_version(void);

typedef void (*agx_proc)(void);

/* A function of the library by its name, "agx_submit", for programs that load it with dlopen(3); to
 * be cast to the function's type. NULL: it has none of that name. */
AGX_API agx_proc agx_get_proc(const char *name);

/* For any object of this library, agx_file and agx_pages among them: whatever has a struct above,
 * or comes from a function that creates, opens, imports, reserves or allocates. Never fail; NULL is
 * ignored. */
AGX_API void agx_retain(void *object);
AGX_API void agx_release(void *object);

/* Gives a buffer, image, executable, command buffer or semaphore another label, for messages about
 * it, faults, profiles and captures from now on: the first AGX_NAME_BYTES - 1 bytes of it, of a
 * buffer 31; NULL: none. Of an executable it stands in place of the kernel's name ("label.kernel"
 * where there are several entry points). No other call may use the object meanwhile; work on the
 * GPU may. AGX_UNIMPLEMENTED: an object without a label. */
AGX_API AGX_MUST_CHECK agx_status agx_set_label(void *object, const char *label);

#ifdef __cplusplus
}
#endif
