/* SPDX-License-Identifier: MIT
 *
 * A device with no more than its context, for tests of one room: the handle, the allocator and a
 * winsys device over the virtual chip. A test adds the states of its room and of those below.
 */
#pragma once

#include "hal/core/context.h"
#include "support.h"
#include "winsys/winsys.h"

static void bare_destroy(struct agx_object *object)
{
   fail_msg("the device's last reference is gone");
}

/* Fills the context in; the handle is the context's. */
static inline struct agx_device *bare_open(struct agx_context *context)
{
   static const struct agx_object_type type = {.name = "device", .destroy = bare_destroy};
   struct agx_kmd *kmd = NULL;
   *context = (struct agx_context){.alloc = agx_host_alloc_default(), .number = 1};
   agx_object_init(&context->object, &type);
   assert_ok(agxw_kmd_open("virtual:g13g", NULL, &kmd));
   assert_ok(agxw_device_create(kmd, context->alloc, &context->winsys));
   return (struct agx_device *)context;
}

/* Asserts that nothing holds the device any more. */
static inline void bare_close(struct agx_context *context)
{
   assert_int_equal(atomic_load(&context->object.references), 1);
   agxw_device_destroy(context->winsys);
}
