/* SPDX-License-Identifier: MIT */
#include "agx/format.h"

#include <strings.h>

#include <GL/gl.h>
#include <GL/glext.h>

#include "base/util.h"

static const struct agx_format formats[] = {
#define FORMAT(name_, gl, vk, channels_, type_, srgb, bytes, swizzle_, storable, tile)             \
   {                                                                                               \
      .name = #name_,                                                                              \
      .gl_name = #gl,                                                                              \
      .vk_name = #vk,                                                                              \
      .gl_internal = gl,                                                                           \
      .channels = channels_,                                                                       \
      .type = type_,                                                                               \
      .is_srgb = srgb,                                                                             \
      .texel_B = bytes,                                                                            \
      .swizzle = swizzle_,                                                                         \
      .is_storable = storable,                                                                     \
      .tile_format = tile,                                                                         \
   },
#include "agx/format.def"
#undef FORMAT
};

const struct agx_format *agx_format_at(size_t index)
{
   return index < AGX_COUNT(formats) ? &formats[index] : NULL;
}

/* GLSL writes GL's names without GL_, in lower case; both are found the same way. */
const struct agx_format *agx_format_find(const char *name)
{
   if (strncasecmp(name, "VK_FORMAT_", 10) == 0)
      name += 10;
   else if (strncasecmp(name, "GL_", 3) == 0)
      name += 3;
   for (size_t i = 0; i < AGX_COUNT(formats); i++) {
      const struct agx_format *format = &formats[i];
      if (strcasecmp(name, format->gl_name + 3) == 0 || strcasecmp(name, format->vk_name) == 0 ||
          strcasecmp(name, format->name) == 0)
         return format;
   }
   return NULL;
}
