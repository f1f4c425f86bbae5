/* SPDX-License-Identifier: MIT
 *
 * The table of formats (format.def) and how to find a row by name or by its hardware codes.
 * The compiler, the HAL and tests ask for formats here.
 */
#include "agx/format.h"

#include <stdio.h>
#include <string.h>
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

const struct agx_format *agx_format_by_gl(uint32_t internal)
{
   for (size_t i = 0; i < AGX_COUNT(formats); i++)
      if (formats[i].gl_internal == internal)
         return &formats[i];
   return NULL;
}

/* ---- vertex attributes ------------------------------------------------- */

static const struct agx_vertex_format vertex_formats[] = {
#define VERTEX_FORMAT(name_, channels_, bits_, reading, order)                                     \
   {                                                                                               \
      .name = #name_,                                                                              \
      .channels = channels_,                                                                       \
      .bits = bits_,                                                                               \
      .type = AGX_VERTEX_##reading,                                                                \
      .is_bgra = AGX_VERTEX_##order,                                                               \
      .size_B = bits_ == 10 || bits_ == 11 ? 4 : channels_ * bits_ / 8,                            \
   },
#include "agx/format.def"
};

const struct agx_vertex_format *agx_vertex_format_at(size_t index)
{
   return index < AGX_COUNT(vertex_formats) ? &vertex_formats[index] : NULL;
}

/* Vulkan names packed words from the highest bit down, and says so. */
static const struct {
   const char *vk_name, *name;
} packed_names[] = {
   {"A2B10G10R10_", "R10G10B10A2_"},
   {"A2R10G10B10_", "B10G10R10A2_"},
   {"A8B8G8R8_", "R8G8B8A8_"},
   {"B10G11R11_UFLOAT", "R11G11B10_FLOAT"},
};

/* Where a word begins in the text, whatever the case of its letters; or NULL. */
static char *find_word(const char *text, const char *word)
{
   for (size_t length = strlen(word); *text; text++)
      if (strncasecmp(text, word, length) == 0)
         return (char *)text;
   return NULL;
}

/* Copies a name into ours: no prefix, no suffix of packing, SFLOAT as FLOAT. */
static void plain_name(const char *name, char *out, size_t capacity)
{
   if (strncasecmp(name, "VK_FORMAT_", 10) == 0)
      name += 10;
   const char *rest = name, *head = "";
   for (size_t i = 0; i < AGX_COUNT(packed_names); i++)
      if (strncasecmp(name, packed_names[i].vk_name, strlen(packed_names[i].vk_name)) == 0) {
         head = packed_names[i].name;
         rest = name + strlen(packed_names[i].vk_name);
      }
   const char *end = find_word(rest, "_PACK");
   int length = (int)(end ? end - rest : (ptrdiff_t)strnlen(rest, capacity));
   snprintf(out, capacity, "%s%.*s", head, length, rest);
   char *is_float = find_word(out, "_SFLOAT");
   if (is_float)
      memmove(is_float + 1, is_float + 2, strlen(is_float + 2) + 1);
}

const struct agx_vertex_format *agx_vertex_format_find(const char *name)
{
   char plain[64];
   plain_name(name, plain, sizeof(plain));
   for (size_t i = 0; i < AGX_COUNT(vertex_formats); i++)
      if (strcasecmp(plain, vertex_formats[i].name) == 0)
         return &vertex_formats[i];
   return NULL;
}

/* GL's types of components: how many bits, and whether there is a sign. */
static const struct {
   uint32_t type;
   uint8_t bits;
   bool is_signed;
} gl_types[] = {
   {GL_BYTE, 8, true},
   {GL_UNSIGNED_BYTE, 8, false},
   {GL_SHORT, 16, true},
   {GL_UNSIGNED_SHORT, 16, false},
   {GL_INT, 32, true},
   {GL_UNSIGNED_INT, 32, false},
   {GL_HALF_FLOAT, 16, true},
   {GL_FLOAT, 32, true},
   {GL_FIXED, 32, true},
   {GL_INT_2_10_10_10_REV, 10, true},
   {GL_UNSIGNED_INT_2_10_10_10_REV, 10, false},
   {GL_UNSIGNED_INT_10F_11F_11F_REV, 11, false},
};

static enum agx_vertex_type gl_reading(uint32_t type, bool is_signed, bool normalized, bool integer)
{
   if (type == GL_HALF_FLOAT || type == GL_FLOAT || type == GL_UNSIGNED_INT_10F_11F_11F_REV)
      return AGX_VERTEX_FLOAT;
   if (type == GL_FIXED)
      return AGX_VERTEX_FIXED;
   if (integer)
      return is_signed ? AGX_VERTEX_SINT : AGX_VERTEX_UINT;
   if (normalized)
      return is_signed ? AGX_VERTEX_SNORM : AGX_VERTEX_UNORM;
   return is_signed ? AGX_VERTEX_SSCALED : AGX_VERTEX_USCALED;
}

const struct agx_vertex_format *agx_vertex_format_by_gl(uint32_t size, uint32_t type,
                                                        bool normalized, bool integer)
{
   bool is_bgra = size == GL_BGRA;
   uint32_t channels = is_bgra ? 4 : size;
   for (size_t t = 0; t < AGX_COUNT(gl_types); t++) {
      if (gl_types[t].type != type)
         continue;
      enum agx_vertex_type reading = gl_reading(type, gl_types[t].is_signed, normalized, integer);
      if (integer && reading != AGX_VERTEX_UINT && reading != AGX_VERTEX_SINT)
         return NULL;
      for (size_t i = 0; i < AGX_COUNT(vertex_formats); i++) {
         const struct agx_vertex_format *format = &vertex_formats[i];
         if (format->channels == channels && format->bits == gl_types[t].bits &&
             format->type == reading && format->is_bgra == is_bgra)
            return format;
      }
   }
   return NULL;
}
