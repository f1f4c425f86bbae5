/* SPDX-License-Identifier: MIT
 *
 * Which image accesses are compared: tables, and what is crossed with what.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "image_visit.h"

const struct shape image_shapes[IMAGE_SHAPES] = {
   {VK_IMAGE_VIEW_TYPE_1D, "1D", "p.x", "i.x", "i.x", 37, 1, 1, 1, 6, "a.x, b.x", "-3"},
   {VK_IMAGE_VIEW_TYPE_1D_ARRAY, "1DArray", "p.xy", "i.xy", "i.xy", 300, 1, 1, 5, 9, "a.x, b.x",
    "5"},
   {VK_IMAGE_VIEW_TYPE_2D, "2D", "p.xy", "i.xy", "i.xy", 37, 19, 1, 1, 6, "a.xy, b.xy",
    "ivec2(-8, 7)"},
   {VK_IMAGE_VIEW_TYPE_2D, "2D", "p.xy", "i.xy", "i.xy", 300, 200, 1, 1, 9, "a.xy, b.xy",
    "ivec2(3, -2)"},
   {VK_IMAGE_VIEW_TYPE_2D_ARRAY, "2DArray", "p.xyz", "i.xyz", "i.xyz", 65, 64, 1, 3, 7,
    "a.xy, b.xy", "ivec2(-1, 2)"},
   {VK_IMAGE_VIEW_TYPE_3D, "3D", "p.xyz", "i.xyz", "i.xyz", 19, 37, 10, 1, 6, "a.xyz, b.xyz",
    "ivec3(-1, 2, -3)"},
   {VK_IMAGE_VIEW_TYPE_CUBE, "Cube", "p.xyz", "", "i.xyz", 32, 32, 1, 6, 6, "a.xyz, b.xyz", ""},
   {VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, "CubeArray", "p", "", "i.xyz", 20, 20, 1, 18, 5, "a.xyz, b.xyz",
    ""},
};

const struct shape *image_find_shape(VkImageViewType view)
{
   const struct shape *shape = image_shapes;
   while (shape->view != view)
      shape++;
   return shape;
}

/* The letter before sampler and image types. */
const char *image_prefix(const struct image_format *format)
{
   return format->numbers == IMAGE_UINT ? "u" : format->numbers == IMAGE_SINT ? "i" : "";
}

static const char *storage_for(char text[static 64], const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, 64, format, arguments);
   va_end(arguments);
   return text;
}

struct image_case image_make_case(const struct shape *shape, VkFormat format)
{
   struct image_case c = {
      .format = image_format_find(format),
      .view = shape->view,
      .tiling = VK_IMAGE_TILING_OPTIMAL,
      .width = shape->width,
      .height = shape->height,
      .depth = shape->depth,
      .layers = shape->layers,
      .levels = shape->levels,
      .sampler = {.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
                  .maxLod = VK_LOD_CLAMP_NONE,
                  .maxAnisotropy = 1.0f},
   };
   return c;
}

void image_set_filter(struct image_case *c, VkFilter filter, VkSamplerMipmapMode mip)
{
   c->sampler.magFilter = c->sampler.minFilter = filter;
   c->sampler.mipmapMode = mip;
   bool is_linear = filter == VK_FILTER_LINEAR || mip == VK_SAMPLER_MIPMAP_MODE_LINEAR;
   c->queries = is_linear ? IMAGE_LINEAR : IMAGE_NEAREST;
   c->tolerance = is_linear ? TOLERANCE : 0.0;
}

void image_set_wrap(struct image_case *c, VkSamplerAddressMode mode)
{
   c->sampler.addressModeU = c->sampler.addressModeV = c->sampler.addressModeW = mode;
}

void image_emit(const struct visit *visit, struct image_case *c, const char *expression,
                const char *about, ...)
{
   char type[64], words[80];
   const struct shape *shape = image_find_shape(c->view);
   va_list arguments;
   va_start(arguments, about);
   vsnprintf(words, sizeof(words), about, arguments);
   va_end(arguments);
   snprintf(c->expression, sizeof(c->expression), "%s", expression);
   snprintf(c->name, sizeof(c->name), "%s %ux%ux%u %s %s%s", shape->name, c->width, c->height,
            c->depth * c->layers, c->format->name, words,
            c->tiling == VK_IMAGE_TILING_LINEAR ? " linear-tiling" : "");
   if (!c->declaration)
      c->declaration = storage_for(
         type, "%ssampler%s%s", image_prefix(c->view_format ? c->view_format : c->format),
         c->is_buffer ? "Buffer" : shape->name, c->is_shadow ? "Shadow" : "");
   visit->found(visit->user, c);
   c->declaration = NULL;
}

/* ---- Texel fetches of every format and shape ------------------------------------------ */

static void visit_formats(const struct visit *visit)
{
   for (unsigned f = 0; f < image_format_count; f++) {
      VkFormat format = image_formats[f].format;
      const struct shape *shape = image_find_shape(VK_IMAGE_VIEW_TYPE_2D);
      struct image_case c = image_make_case(shape, format);
      /* Lavapipe's curve of the sRGB formats is a polynomial. */
      bool is_srgb = strstr(c.format->name, "SRGB");
      double curve = is_srgb ? 1.0 / 500 : 0.0;
      c.tolerance = curve;
      c.queries = IMAGE_FETCH;
      image_emit(visit, &c, "texelFetch(t, i.xy, j.x)", "fetch");
      c.tiling = VK_IMAGE_TILING_LINEAR;
      c.levels = 1;
      image_emit(visit, &c, "texelFetch(t, i.xy, j.x)", "fetch");
      c = image_make_case(shape, format);
      image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      /* Lavapipe goes over 8 bits from words of few. */
      c.tolerance = c.format->channel_B || c.format->numbers != IMAGE_UNORM ? curve : 1.0 / 255;
      image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "nearest");
      if (c.format->numbers == IMAGE_UINT || c.format->numbers == IMAGE_SINT)
         continue;
      image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "linear");
   }
}

const VkFormat image_few_formats[IMAGE_FEW_FORMATS] = {
   VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT, VK_FORMAT_R16G16B16A16_SFLOAT,
   VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R8_SINT};

bool image_is_filtered(const struct image_case *c)
{
   return c->format->numbers != IMAGE_UINT && c->format->numbers != IMAGE_SINT;
}

/* Each kind of access on each shape. */
static void visit_shape(const struct visit *visit, const struct shape *shape, VkFormat format)
{
   char text[200];
   struct image_case c = image_make_case(shape, format);
   if (*shape->texel) {
      snprintf(text, sizeof(text), "texelFetch(t, %s, j.x)", shape->texel);
      c.queries = IMAGE_FETCH;
      image_emit(visit, &c, text, "fetch");
      c.queries = IMAGE_BEYOND;
      image_emit(visit, &c, text, "fetch beyond");
      c.queries = IMAGE_FETCH;
      snprintf(text, sizeof(text), "texelFetchOffset(t, %s, j.x, %s)", shape->texel, shape->offset);
      image_emit(visit, &c, text, "fetch offset");
   }
   image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
   snprintf(text, sizeof(text), "textureLod(t, %s, a.x)", shape->texture);
   image_emit(visit, &c, text, "lod nearest");
   if (*shape->offset) {
      char offset[200];
      snprintf(offset, sizeof(offset), "textureLodOffset(t, %s, a.x, %s)", shape->texture,
               shape->offset);
      image_emit(visit, &c, offset, "lod offset");
   }
   if (!image_is_filtered(&c))
      return;
   image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
   c.queries = IMAGE_NEAREST; /* whole levels */
   image_emit(visit, &c, text, "lod linear");
   image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
   image_emit(visit, &c, text, "lod trilinear");
   image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
   if (image_is_cube(c.view))
      return;
   c.queries = IMAGE_GRADIENT;
   snprintf(text, sizeof(text), "textureGrad(t, %s, %s)", shape->texture, shape->gradients);
   image_emit(visit, &c, text, "gradients");
}

static void visit_shapes(const struct visit *visit)
{
   for (unsigned s = 0; s < AGX_COUNT(image_shapes); s++)
      for (unsigned f = 0; f < AGX_COUNT(image_few_formats); f++)
         visit_shape(visit, &image_shapes[s], image_few_formats[f]);
}

/* ---- Samplers -------------------------------------------------------------------------- */

static const struct {
   VkSamplerAddressMode mode;
   const char *name;
} wraps[] = {
   {VK_SAMPLER_ADDRESS_MODE_REPEAT, "repeat"},
   {VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT, "mirror"},
   {VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, "edge"},
   {VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, "border"},
   {VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE, "mirror-once"},
};

static void visit_wraps(const struct visit *visit)
{
   static const VkImageViewType views[] = {VK_IMAGE_VIEW_TYPE_1D, VK_IMAGE_VIEW_TYPE_2D,
                                           VK_IMAGE_VIEW_TYPE_2D_ARRAY, VK_IMAGE_VIEW_TYPE_3D};
   char text[200];
   for (unsigned v = 0; v < AGX_COUNT(views); v++) {
      for (unsigned w = 0; w < AGX_COUNT(wraps); w++) {
         const struct shape *shape = image_find_shape(views[v]);
         struct image_case c = image_make_case(shape, VK_FORMAT_R8G8B8A8_UNORM);
         image_set_wrap(&c, wraps[w].mode);
         snprintf(text, sizeof(text), "textureLod(t, %s, a.x)", shape->texture);
         image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
         image_emit(visit, &c, text, "wrap %s nearest", wraps[w].name);
         image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
         image_emit(visit, &c, text, "wrap %s linear", wraps[w].name);
         if (views[v] != VK_IMAGE_VIEW_TYPE_2D)
            continue;
         c = image_make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
         image_set_wrap(&c, wraps[w].mode);
         c.sampler.addressModeV = wraps[(w + 1) % AGX_COUNT(wraps)].mode;
         image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
         image_emit(visit, &c, text, "wrap %s mixed linear", wraps[w].name);
         image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
         c.sampler.minFilter = VK_FILTER_NEAREST;
         c.queries = IMAGE_NEAREST;
         c.sampler.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
         image_emit(visit, &c, text, "wrap %s linear magnify", wraps[w].name);
         c.sampler.minFilter = VK_FILTER_LINEAR;
         c.sampler.magFilter = VK_FILTER_NEAREST;
         image_emit(visit, &c, text, "wrap %s linear minify", wraps[w].name);
      }
   }
}

static void visit_borders(const struct visit *visit)
{
   static const struct {
      VkBorderColor floats, integers;
      const char *name;
   } colours[] = {
      {VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK, VK_BORDER_COLOR_INT_TRANSPARENT_BLACK, "clear"},
      {VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK, VK_BORDER_COLOR_INT_OPAQUE_BLACK, "black"},
      {VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE, VK_BORDER_COLOR_INT_OPAQUE_WHITE, "white"},
      {VK_BORDER_COLOR_FLOAT_CUSTOM_EXT, VK_BORDER_COLOR_INT_CUSTOM_EXT, "custom"},
   };
   for (unsigned f = 0; f < image_format_count; f++) {
      for (unsigned b = 0; b < AGX_COUNT(colours); b++) {
         struct image_case c =
            image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D), image_formats[f].format);
         image_set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
         c.sampler.borderColor = image_is_filtered(&c) ? colours[b].floats : colours[b].integers;
         if (strcmp(colours[b].name, "custom") == 0) {
            c.has_custom_border = true;
            if (image_is_filtered(&c))
               c.border = (VkClearColorValue){.float32 = {0.25f, 0.5f, 0.75f, 0.375f}};
            else
               c.border = (VkClearColorValue){.uint32 = {1, 2, 3, 1}};
         }
         image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
         if (c.has_custom_border || strstr(c.format->name, "SRGB"))
            c.tolerance = image_is_filtered(&c) ? 0.02 : 0.0; /* encoded in the format's few bits */
         image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "border %s nearest", colours[b].name);
         if (!image_is_filtered(&c))
            continue;
         image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
         c.queries = IMAGE_NEAREST;
         c.tolerance = 0.02;
         image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "border %s linear", colours[b].name);
      }
   }
}

static void visit_levels(const struct visit *visit)
{
   static const struct {
      float bias, low, high;
   } rows[] = {{0, 1.25f, 2.5f}, {0.75f, 0, 1000}, {-1.5f, 0, 1000}, {0, 0, 0},
               {2, 1, 3},        {0, 0, 0.25f},    {0, 3, 3}};
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      const struct shape *shape = image_find_shape(VK_IMAGE_VIEW_TYPE_2D);
      struct image_case c = image_make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
      image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      c.sampler.mipLodBias = rows[i].bias;
      c.sampler.minLod = rows[i].low;
      c.sampler.maxLod = rows[i].high;
      image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "lod bias %g min %g max %g", rows[i].bias,
                 rows[i].low, rows[i].high);
      image_emit(visit, &c, "texture(t, p.xy)", "implicit lod bias %g min %g max %g", rows[i].bias,
                 rows[i].low, rows[i].high);
      c.first_level = 1;
      c.level_count = 3;
      image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "levels 1-3 bias %g min %g max %g",
                 rows[i].bias, rows[i].low, rows[i].high);
   }
}

static void visit_odd_samplers(const struct visit *visit)
{
   const struct shape *shape = image_find_shape(VK_IMAGE_VIEW_TYPE_2D);
   struct image_case c = image_make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
   c.levels = 1;
   c.sampler.unnormalizedCoordinates = VK_TRUE;
   c.sampler.maxLod = 0;
   for (unsigned w = 2; w < 4; w++) {
      image_set_wrap(&c, wraps[w].mode);
      image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      image_emit(visit, &c, "textureLod(t, p.xy, 0.0)", "unnormalised %s nearest", wraps[w].name);
      image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      image_emit(visit, &c, "textureLod(t, p.xy, 0.0)", "unnormalised %s linear", wraps[w].name);
   }
   c = image_make_case(shape, VK_FORMAT_R8G8B8A8_UNORM);
   image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
   c.sampler.anisotropyEnable = VK_TRUE;
   c.sampler.maxAnisotropy = 8;
   image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "anisotropic lod");
   static const VkImageViewType cubes[] = {VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY};
   char text[200];
   for (unsigned i = 0; i < 2; i++) {
      shape = image_find_shape(cubes[i]);
      c = image_make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
      image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      image_set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE);
      c.is_seamful = true;
      snprintf(text, sizeof(text), "textureLod(t, %s, a.x)", shape->texture);
      image_emit(visit, &c, text, "seamful trilinear");
   }
}

/* ---- Gather, compare, projection, sizes -------------------------------------------------- */

static void visit_gathers(const struct visit *visit)
{
   static const VkImageViewType views[] = {VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D_ARRAY,
                                           VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY};
   static const VkFormat formats[] = {
      VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT,
      VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8_SINT,           VK_FORMAT_B10G11R11_UFLOAT_PACK32};
   char text[200];
   for (unsigned v = 0; v < AGX_COUNT(views); v++) {
      for (unsigned f = 0; f < AGX_COUNT(formats); f++) {
         const struct shape *shape = image_find_shape(views[v]);
         struct image_case c = image_make_case(shape, formats[f]);
         c.queries = IMAGE_GATHER;
         for (unsigned channel = 0; channel < 4; channel++) {
            snprintf(text, sizeof(text), "textureGather(t, %s, %u)", shape->texture, channel);
            image_emit(visit, &c, text, "gather %u", channel);
         }
         if (!*shape->offset)
            continue;
         snprintf(text, sizeof(text), "textureGatherOffset(t, %s, j.yz, 1)", shape->texture);
         image_emit(visit, &c, text, "gather offset");
         snprintf(text, sizeof(text),
                  "textureGatherOffsets(t, %s, ivec2[4](ivec2(-8, 7), ivec2(0, 1), ivec2(3, -4), "
                  "ivec2(7, -8)), 2)",
                  shape->texture);
         image_emit(visit, &c, text, "gather offsets");
         image_set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
         c.sampler.borderColor = image_is_filtered(&c) ? VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE
                                                       : VK_BORDER_COLOR_INT_OPAQUE_WHITE;
         snprintf(text, sizeof(text), "textureGather(t, %s, 1)", shape->texture);
         image_emit(visit, &c, text, "gather border");
      }
   }
}

static void visit_compares(const struct visit *visit)
{
   static const VkFormat formats[] = {VK_FORMAT_D16_UNORM, VK_FORMAT_D32_SFLOAT};
   static const struct {
      VkImageViewType view;
      const char *lod, *gather;
   } rows[] = {
      {VK_IMAGE_VIEW_TYPE_1D, "textureLod(t, vec3(p.x, 0, a.w), a.x)", NULL},
      {VK_IMAGE_VIEW_TYPE_2D, "textureLod(t, vec3(p.xy, a.w), a.x)", "textureGather(t, p.xy, a.w)"},
      {VK_IMAGE_VIEW_TYPE_2D_ARRAY, "textureLod(t, vec4(p.xyz, a.w), a.x)",
       "textureGather(t, p.xyz, a.w)"},
      {VK_IMAGE_VIEW_TYPE_CUBE, "textureLod(t, vec4(p.xyz, a.w), a.x)",
       "textureGather(t, p.xyz, a.w)"},
      {VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, "textureLod(t, p, a.w, a.x)", "textureGather(t, p, a.w)"},
   };
   for (unsigned r = 0; r < AGX_COUNT(rows); r++) {
      for (unsigned f = 0; f < AGX_COUNT(formats); f++) {
         for (unsigned op = VK_COMPARE_OP_NEVER; op <= VK_COMPARE_OP_ALWAYS; op++) {
            struct image_case c = image_make_case(image_find_shape(rows[r].view), formats[f]);
            c.is_shadow = true;
            c.sampler.compareEnable = VK_TRUE;
            c.sampler.compareOp = (VkCompareOp)op;
            image_set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
            c.sampler.borderColor = op & 1 ? VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE
                                           : VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
            image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
            image_emit(visit, &c, rows[r].lod, "compare %u nearest", op);
            image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
            image_emit(visit, &c, rows[r].lod, "compare %u trilinear", op);
            if (!rows[r].gather)
               continue;
            image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
            c.queries = IMAGE_GATHER;
            image_emit(visit, &c, rows[r].gather, "compare %u gather", op);
         }
      }
   }
}

static void visit_rest(const struct visit *visit)
{
   static const struct {
      VkImageViewType view;
      const char *expression, *about;
   } rows[] = {
      {VK_IMAGE_VIEW_TYPE_1D, "ivec4(textureSize(t, j.x), textureQueryLevels(t), 0, 0)", "size"},
      {VK_IMAGE_VIEW_TYPE_1D_ARRAY, "ivec4(textureSize(t, j.x), textureQueryLevels(t), 0)", "size"},
      {VK_IMAGE_VIEW_TYPE_2D, "ivec4(textureSize(t, j.x), textureQueryLevels(t), 0)", "size"},
      {VK_IMAGE_VIEW_TYPE_2D_ARRAY, "ivec4(textureSize(t, j.x), textureQueryLevels(t))", "size"},
      {VK_IMAGE_VIEW_TYPE_3D, "ivec4(textureSize(t, j.x), textureQueryLevels(t))", "size"},
      {VK_IMAGE_VIEW_TYPE_CUBE, "ivec4(textureSize(t, j.x), textureQueryLevels(t), 0)", "size"},
      {VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, "ivec4(textureSize(t, j.x), textureQueryLevels(t))", "size"},
      {VK_IMAGE_VIEW_TYPE_1D, "textureProjLod(t, vec2(p.x * b.x, b.x), a.x)", "projection"},
      {VK_IMAGE_VIEW_TYPE_2D, "textureProjLod(t, vec3(p.xy * b.x, b.x), a.x)", "projection"},
      {VK_IMAGE_VIEW_TYPE_2D, "textureProjLodOffset(t, vec3(p.xy * b.x, b.x), a.x, ivec2(1, -1))",
       "projection offset"},
      {VK_IMAGE_VIEW_TYPE_3D, "textureProjLod(t, vec4(p.xyz * b.x, b.x), a.x)", "projection"},
      {VK_IMAGE_VIEW_TYPE_2D, "textureGradOffset(t, p.xy, vec2(0), vec2(0), ivec2(4, 2))",
       "zero gradients"},
   };
   for (unsigned r = 0; r < AGX_COUNT(rows); r++) {
      struct image_case c =
         image_make_case(image_find_shape(rows[r].view), VK_FORMAT_R8G8B8A8_UNORM);
      image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      if (strcmp(rows[r].about, "zero gradients") == 0)
         c.levels = 1;
      image_emit(visit, &c, rows[r].expression, "%s", rows[r].about);
      if (strcmp(rows[r].about, "size") != 0)
         continue;
      c.first_level = 1;
      c.level_count = 2;
      if (rows[r].view == VK_IMAGE_VIEW_TYPE_2D_ARRAY)
         c.first_layer = 1, c.layer_count = 2;
      image_emit(visit, &c, rows[r].expression, "size of a view");
   }
}

static void visit_views(const struct visit *visit)
{
   static const VkComponentMapping swizzles[] = {
      {VK_COMPONENT_SWIZZLE_G, VK_COMPONENT_SWIZZLE_ONE, VK_COMPONENT_SWIZZLE_A,
       VK_COMPONENT_SWIZZLE_ZERO},
      {VK_COMPONENT_SWIZZLE_A, VK_COMPONENT_SWIZZLE_B, VK_COMPONENT_SWIZZLE_G,
       VK_COMPONENT_SWIZZLE_R},
      {VK_COMPONENT_SWIZZLE_ONE, VK_COMPONENT_SWIZZLE_ZERO, VK_COMPONENT_SWIZZLE_R,
       VK_COMPONENT_SWIZZLE_R},
   };
   static const VkFormat formats[] = {
      VK_FORMAT_R8G8B8A8_UNORM,    VK_FORMAT_R32G32_SFLOAT,           VK_FORMAT_B8G8R8A8_SRGB,
      VK_FORMAT_R16G16B16A16_SINT, VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_D16_UNORM,
      VK_FORMAT_R8_UINT,           VK_FORMAT_A2R10G10B10_UNORM_PACK32};
   for (unsigned s = 0; s < AGX_COUNT(swizzles); s++) {
      for (unsigned f = 0; f < AGX_COUNT(formats); f++) {
         struct image_case c = image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D), formats[f]);
         c.swizzle = swizzles[s];
         c.queries = IMAGE_BEYOND;
         c.tolerance = formats[f] == VK_FORMAT_B8G8R8A8_SRGB ? 1.0 / 500 : 0.0;
         image_emit(visit, &c, "texelFetch(t, i.xy, j.x)", "swizzle %u fetch beyond", s);
         c.queries = IMAGE_GATHER;
         image_emit(visit, &c, "textureGather(t, p.xy, 0)", "swizzle %u gather 0", s);
         image_emit(visit, &c, "textureGather(t, p.xy, 2)", "swizzle %u gather 2", s);
      }
   }
   struct image_case c =
      image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D_ARRAY), VK_FORMAT_R32_UINT);
   c.first_layer = 1;
   c.layer_count = 2;
   c.first_level = 2;
   c.level_count = 3;
   c.queries = IMAGE_FETCH;
   image_emit(visit, &c, "texelFetch(t, i.xyz, j.x)", "view of levels and layers, fetch");
   c.queries = IMAGE_BEYOND;
   image_emit(visit, &c, "texelFetch(t, i.xyz, j.x)", "view of levels and layers, fetch beyond");
   c = image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D), VK_FORMAT_R8G8B8A8_UNORM);
   c.view_format = image_format_find(VK_FORMAT_R32_UINT);
   c.queries = IMAGE_FETCH;
   image_emit(visit, &c, "texelFetch(t, i.xy, j.x)", "as R32_UINT");
   c.view_format = image_format_find(VK_FORMAT_R8G8B8A8_SRGB);
   c.tolerance = 1.0 / 500;
   image_emit(visit, &c, "texelFetch(t, i.xy, j.x)", "as SRGB");
}

void image_cases_visit(image_found *found, void *user)
{
   const struct visit visit = {found, user};
   visit_formats(&visit);
   visit_shapes(&visit);
   visit_wraps(&visit);
   visit_borders(&visit);
   visit_levels(&visit);
   visit_odd_samplers(&visit);
   visit_gathers(&visit);
   visit_compares(&visit);
   visit_rest(&visit);
   visit_views(&visit);
   image_visit_stores(&visit);
}
