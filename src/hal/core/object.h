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
#include "base/list.h"
#include "base/status.h"
#include "hal/core/fork.h"

struct agx_object;

struct agx_object_type {
   const char *name;
   void (*destroy)(struct agx_object *object);
   /* agx_set_label, where such an object has one; label NULL: none any more. */
   void (*set_label)(struct agx_object *object, const char *label);
   bool is_transient; /* its memory comes and goes with a queue (sync/alloca.h) */
};

struct agx_object {
   const struct agx_object_type *type;
   _Atomic uint32_t references;
   _Atomic uint32_t last_use_index; /* a guess where recordings hold it (record/resources.h) */
   uint32_t forks;                  /* agx_forks when it was made */
};

/* Whether it was made before the last fork(2), so that only the parent process may use it. */
static inline bool agx_is_inherited(const void *handle)
{
   return __builtin_expect(((const struct agx_object *)handle)->forks != agx_forks, 0);
}

/* AGX_FAILED_PRECONDITION for an object that is inherited. */
AGX_MUST_CHECK agx_status agx_fork_refuse(const void *handle);

/* That the object, a device for what has none, was made in this process. */
static inline AGX_MUST_CHECK agx_status agx_fork_check(const void *handle)
{
   return agx_is_inherited(handle) ? agx_fork_refuse(handle) : AGX_OK;
}

/* Fills the head of a new object, which has one reference. */
static inline void agx_object_init(struct agx_object *object, const struct agx_object_type *type)
{
   object->type = type;
   atomic_init(&object->references, 1);
   atomic_init(&object->last_use_index, 0);
   object->forks = agx_forks;
}

/* Writes an object's label, which failures may read on other threads: these hold the device's lock
 * of labels. */
void agx_label_write(struct agx_device *device, char *label, size_t capacity, const char *text);

/* A reference, unless the last one has gone: for lists that objects leave when they are destroyed.
 */
bool agx_try_retain(void *handle);

/* What messages say of an object that was given to another device than its own: "of another
 * device: number 2 (virtual:g14s), not number 1 (renderD128)". Devices are numbered as the process
 * opened them. */
struct agx_owner_text {
   char text[96];
};
/* That text, for an object of `theirs` that was passed to `ours`. */
struct agx_owner_text agx_describe_owner(const struct agx_device *theirs,
                                         const struct agx_device *ours);
