/* SPDX-License-Identifier: MIT
 *
 * The head of every public object: a count and what destroys it. It stands at offset 0, so
 * that agx_retain and agx_release work on any handle.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "agx/hal.h"
#include "base/alloc.h"
#include "base/status.h"

struct agx_object;

struct agx_object_type {
   const char *name;
   void (*destroy)(struct agx_object *object);
};

struct agx_object {
   const struct agx_object_type *type;
   _Atomic uint32_t references;
   _Atomic uint32_t hint; /* where it is in the sets of recordings, maybe (hal/resources.h) */
};

static inline void agx_object_init(struct agx_object *object, const struct agx_object_type *type)
{
   object->type = type;
   atomic_init(&object->references, 1);
   atomic_init(&object->hint, 0);
}

/* A reference, unless the last one has gone: for lists that objects leave when they are destroyed.
 */
bool agx_try_retain(void *handle);
