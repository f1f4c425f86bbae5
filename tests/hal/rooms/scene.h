/* SPDX-License-Identifier: MIT
 *
 * A bare device with the states of memory, executables and the recorder.
 */
#pragma once

#include "bare.h"
#include "hal/executable/state.h"
#include "hal/memory/buffer.h"
#include "hal/memory/state.h"

static struct agx_frontier scene_reached(struct agx_device *device)
{
   return (struct agx_frontier){0};
}

static void scene_nothing(struct agx_device *device) {}

static inline struct agx_device *scene_open(struct agx_context *context,
                                            struct agx_memory_state *memory,
                                            struct agx_executable_state *executable)
{
   static const struct agx_memory_hooks hooks = {scene_reached, scene_nothing, scene_nothing};
   static const struct agx_device_desc desc = {.size = sizeof(desc)};
   struct agx_device *device = bare_open(context);
   *memory = (struct agx_memory_state){0};
   *executable = (struct agx_executable_state){0};
   context->memory = memory;
   context->executable = executable;
   assert_ok(agx_memory_state_init(device, &desc, &hooks));
   assert_ok(agx_executable_state_init(device));
   return device;
}

static inline void scene_close(struct agx_context *context)
{
   agx_executable_state_fini((struct agx_device *)context);
   agx_memory_state_fini((struct agx_device *)context);
   bare_close(context);
}
