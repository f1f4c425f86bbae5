/* SPDX-License-Identifier: MIT */
#include "spirv_support.h"

#include "base/status.h"

#define LIMIT_BYTES ((size_t)64 << 20)

agx_status spirv_front_run(struct spirv_front *front, const void *words, size_t word_count,
                           const struct agxc_options *options)
{
   static const struct agxc_options plain;
   *front = (struct spirv_front){0};
   agx_arena_init(&front->arena, NULL, LIMIT_BYTES, &front->exhausted);
   if (setjmp(front->exhausted)) {
      if (front->shader && front->shader->status != AGX_OK)
         return front->shader->status;
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "arena");
   }
   front->shader = agxc_shader_create(&front->arena, options ? options : &plain);
   agxc_spirv_to_ir(front->shader, words, word_count);
   return AGX_OK;
}

void spirv_front_fini(struct spirv_front *front)
{
   agx_arena_fini(&front->arena);
}

void spirv_front_check(const struct spirv_front *front)
{
   (void)front;
}
