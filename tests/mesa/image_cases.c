/* SPDX-License-Identifier: MIT
 *
 * Which image accesses are compared: tables, and what is crossed with what.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "image_case.h"

#define TOLERANCE (1.0 / 128) /* of the range: lavapipe's filters have 8 bits of weight */

struct visit {
   image_found *found;
   void *user;
};

struct shape {
   VkImageViewType view;
   const char *name, *texture;  /* GLSL: the place, and what textureLod takes */
   const char *texel, *storage; /* texel of fetches ("" where there is none) and of stores */
   uint32_t width, height, depth, layers, levels;
   const char *gradients, *offset;
};

static const struct shape shapes[] = {
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

static const struct shape *find_shape(VkImageViewType view)
{
   const struct shape *shape = shapes;
   while (shape->view != view)
      shape++;
   return shape;
}

/* The letter before sampler and image types. */
static const char *prefix_of(const struct image_format *format)
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

static struct image_case make_case(const struct shape *shape, VkFormat format)
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

static void set_filter(struct image_case *c, VkFilter filter, VkSamplerMipmapMode mip)
{
   c->sampler.magFilter = c->sampler.minFilter = filter;
   c->sampler.mipmapMode = mip;
   bool is_linear = filter == VK_FILTER_LINEAR || mip == VK_SAMPLER_MIPMAP_MODE_LINEAR;
   c->queries = is_linear ? IMAGE_LINEAR : IMAGE_NEAREST;
   c->tolerance = is_linear ? TOLERANCE : 0.0;
}

static void set_wrap(struct image_case *c, VkSamplerAddressMode mode)
{
   c->sampler.addressModeU = c->sampler.addressModeV = c->sampler.addressModeW = mode;
}

static void emit(const struct visit *visit, struct image_case *c, const char *expression,
                 const char *about, ...)
{
   char type[64], words[80];
   const struct shape *shape = find_shape(c->view);
   va_list arguments;
   va_start(arguments, about);
   vsnprintf(words, sizeof(words), about, arguments);
   va_end(arguments);
   snprintf(c->expression, sizeof(c->expression), "%s", expression);
   snprintf(c->name, sizeof(c->name), "%s %ux%ux%u %s %s%s", shape->name, c->width, c->height,
            c->depth * c->layers, c->format->name, words,
            c->tiling == VK_IMAGE_TILING_LINEAR ? " linear-tiling" : "");
   if (!c->declaration)
      c->declaration =
         storage_for(type, "%ssampler%s%s", prefix_of(c->view_format ? c->view_format : c->format),
                     c->is_buffer ? "Buffer" : shape->name, c->is_shadow ? "Shadow" : "");
   visit->found(visit->user, c);
   c->declaration = NULL;
}

/* ---- Texel fetches of every format and shape ------------------------------------------ */

static void visit_formats(const struct visit *visit)
{
   for (unsigned f = 0; f < image_format_count; f++) {
      VkFormat format = image_formats[f].format;
      const struct shape *shape = find_shape(VK_IMAGE_VIEW_TYPE_2D);
      struct image_case c = make_case(shape, format);
      /* Lavapipe's curve of the sRGB formats is a polynomial. */
      bool is_srgb = strstr(c.format->name, "SRGB");
      double curve = is_srgb ? 1.0 / 500 : 0.0;
      c.tolerance = curve;
      c.queries = IMAGE_FETCH;
      emit(visit, &c, "texelFetch(t, i.xy, j.x)", "fetch");
      c.tiling = VK_IMAGE_TILING_LINEAR;
      c.levels = 1;
      emit(visit, &c, "texelFetch(t, i.xy, j.x)", "fetch");
      c = make_case(shape, format);
      set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      /* Lavapipe goes over 8 bits from words of few. */
      c.tolerance = c.format->channel_B || c.format->numbers != IMAGE_UNORM ? curve : 1.0 / 255;
      emit(visit, &c, "textureLod(t, p.xy, a.x)", "nearest");
      if (c.format->numbers == IMAGE_UINT || c.format->numbers == IMAGE_SINT)
         continue;
      set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      emit(visit, &c, "textureLod(t, p.xy, a.x)", "linear");
   }
}

static const VkFormat few_formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT,
                                       VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
                                       VK_FORMAT_R8_SINT};

static bool is_filtered(const struct image_case *c)
{
   return c->format->numbers != IMAGE_UINT && c->format->numbers != IMAGE_SINT;
}

/* Each kind of access on each shape. */
static void visit_shape(const struct visit *visit, const struct shape *shape, VkFormat format)
{
   char text[200];
   struct image_case c = make_case(shape, format);
   if (*shape->texel) {
      snprintf(text, sizeof(text), "texelFetch(t, %s, j.x)", shape->texel);
      c.queries = IMAGE_FETCH;
      emit(visit, &c, text, "fetch");
      c.queries = IMAGE_BEYOND;
      emit(visit, &c, text, "fetch beyond");
      c.queries = IMAGE_FETCH;
      snprintf(text, sizeof(text), "texelFetchOffset(t, %s, j.x, %s)", shape->texel, shape->offset);
      emit(visit, &c, text, "fetch offset");
   }
   set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
   snprintf(text, sizeof(text), "textureLod(t, %s, a.x)", shape->texture);
   emit(visit, &c, text, "lod nearest");
   if (*shape->offset) {
      char offset[200];
      snprintf(offset, sizeof(offset), "textureLodOffset(t, %s, a.x, %s)", shape->texture,
               shape->offset);
      emit(visit, &c, offset, "lod offset");
   }
   if (!is_filtered(&c))
      return;
   set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
   c.queries = IMAGE_NEAREST; /* whole levels */
   emit(visit, &c, text, "lod linear");
   set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
   emit(visit, &c, text, "lod trilinear");
   set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
   if (image_is_cube(c.view))
      return;
   c.queries = IMAGE_GRADIENT;
   snprintf(text, sizeof(text), "textureGrad(t, %s, %s)", shape->texture, shape->gradients);
   emit(visit, &c, text, "gradients");
}

static void visit_shapes(const struct visit *visit)
{
   for (unsigned s = 0; s < AGX_COUNT(shapes); s++)
      for (unsigned f = 0; f < AGX_COUNT(few_formats); f++)
         visit_shape(visit, &shapes[s], few_formats[f]);
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
         const struct shape *shape = find_shape(views[v]);
         struct image_case c = make_case(shape, VK_FORMAT_R8G8B8A8_UNORM);
         set_wrap(&c, wraps[w].mode);
         snprintf(text, sizeof(text), "textureLod(t, %s, a.x)", shape->texture);
         set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
         emit(visit, &c, text, "wrap %s nearest", wraps[w].name);
         set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
         emit(visit, &c, text, "wrap %s linear", wraps[w].name);
         if (views[v] != VK_IMAGE_VIEW_TYPE_2D)
            continue;
         c = make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
         set_wrap(&c, wraps[w].mode);
         c.sampler.addressModeV = wraps[(w + 1) % AGX_COUNT(wraps)].mode;
         set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
         emit(visit, &c, text, "wrap %s mixed linear", wraps[w].name);
         set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
         c.sampler.minFilter = VK_FILTER_NEAREST;
         c.queries = IMAGE_NEAREST;
         c.sampler.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
         emit(visit, &c, text, "wrap %s linear magnify", wraps[w].name);
         c.sampler.minFilter = VK_FILTER_LINEAR;
         c.sampler.magFilter = VK_FILTER_NEAREST;
         emit(visit, &c, text, "wrap %s linear minify", wraps[w].name);
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
            make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D), image_formats[f].format);
         set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
         c.sampler.borderColor = is_filtered(&c) ? colours[b].floats : colours[b].integers;
         if (strcmp(colours[b].name, "custom") == 0) {
            c.has_custom_border = true;
            if (is_filtered(&c))
               c.border = (VkClearColorValue){.float32 = {0.25f, 0.5f, 0.75f, 0.375f}};
            else
               c.border = (VkClearColorValue){.uint32 = {1, 2, 3, 1}};
         }
         set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
         if (c.has_custom_border || strstr(c.format->name, "SRGB"))
            c.tolerance = is_filtered(&c) ? 0.02 : 0.0; /* encoded in the format's few bits */
         emit(visit, &c, "textureLod(t, p.xy, a.x)", "border %s nearest", colours[b].name);
         if (!is_filtered(&c))
            continue;
         set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
         c.queries = IMAGE_NEAREST;
         c.tolerance = 0.02;
         emit(visit, &c, "textureLod(t, p.xy, a.x)", "border %s linear", colours[b].name);
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
      const struct shape *shape = find_shape(VK_IMAGE_VIEW_TYPE_2D);
      struct image_case c = make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
      set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      c.sampler.mipLodBias = rows[i].bias;
      c.sampler.minLod = rows[i].low;
      c.sampler.maxLod = rows[i].high;
      emit(visit, &c, "textureLod(t, p.xy, a.x)", "lod bias %g min %g max %g", rows[i].bias,
           rows[i].low, rows[i].high);
      emit(visit, &c, "texture(t, p.xy)", "implicit lod bias %g min %g max %g", rows[i].bias,
           rows[i].low, rows[i].high);
      c.first_level = 1;
      c.level_count = 3;
      emit(visit, &c, "textureLod(t, p.xy, a.x)", "levels 1-3 bias %g min %g max %g", rows[i].bias,
           rows[i].low, rows[i].high);
   }
}

static void visit_odd_samplers(const struct visit *visit)
{
   const struct shape *shape = find_shape(VK_IMAGE_VIEW_TYPE_2D);
   struct image_case c = make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
   c.levels = 1;
   c.sampler.unnormalizedCoordinates = VK_TRUE;
   c.sampler.maxLod = 0;
   for (unsigned w = 2; w < 4; w++) {
      set_wrap(&c, wraps[w].mode);
      set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      emit(visit, &c, "textureLod(t, p.xy, 0.0)", "unnormalised %s nearest", wraps[w].name);
      set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      emit(visit, &c, "textureLod(t, p.xy, 0.0)", "unnormalised %s linear", wraps[w].name);
   }
   c = make_case(shape, VK_FORMAT_R8G8B8A8_UNORM);
   set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
   c.sampler.anisotropyEnable = VK_TRUE;
   c.sampler.maxAnisotropy = 8;
   emit(visit, &c, "textureLod(t, p.xy, a.x)", "anisotropic lod");
   static const VkImageViewType cubes[] = {VK_IMAGE_VIEW_TYPE_CUBE, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY};
   char text[200];
   for (unsigned i = 0; i < 2; i++) {
      shape = find_shape(cubes[i]);
      c = make_case(shape, VK_FORMAT_R32G32B32A32_SFLOAT);
      set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE);
      c.is_seamful = true;
      snprintf(text, sizeof(text), "textureLod(t, %s, a.x)", shape->texture);
      emit(visit, &c, text, "seamful trilinear");
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
         const struct shape *shape = find_shape(views[v]);
         struct image_case c = make_case(shape, formats[f]);
         c.queries = IMAGE_GATHER;
         for (unsigned channel = 0; channel < 4; channel++) {
            snprintf(text, sizeof(text), "textureGather(t, %s, %u)", shape->texture, channel);
            emit(visit, &c, text, "gather %u", channel);
         }
         if (!*shape->offset)
            continue;
         snprintf(text, sizeof(text), "textureGatherOffset(t, %s, j.yz, 1)", shape->texture);
         emit(visit, &c, text, "gather offset");
         snprintf(text, sizeof(text),
                  "textureGatherOffsets(t, %s, ivec2[4](ivec2(-8, 7), ivec2(0, 1), ivec2(3, -4), "
                  "ivec2(7, -8)), 2)",
                  shape->texture);
         emit(visit, &c, text, "gather offsets");
         set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
         c.sampler.borderColor =
            is_filtered(&c) ? VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE : VK_BORDER_COLOR_INT_OPAQUE_WHITE;
         snprintf(text, sizeof(text), "textureGather(t, %s, 1)", shape->texture);
         emit(visit, &c, text, "gather border");
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
            struct image_case c = make_case(find_shape(rows[r].view), formats[f]);
            c.is_shadow = true;
            c.sampler.compareEnable = VK_TRUE;
            c.sampler.compareOp = (VkCompareOp)op;
            set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER);
            c.sampler.borderColor = op & 1 ? VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE
                                           : VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
            set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
            emit(visit, &c, rows[r].lod, "compare %u nearest", op);
            set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
            emit(visit, &c, rows[r].lod, "compare %u trilinear", op);
            if (!rows[r].gather)
               continue;
            set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
            c.queries = IMAGE_GATHER;
            emit(visit, &c, rows[r].gather, "compare %u gather", op);
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
      struct image_case c = make_case(find_shape(rows[r].view), VK_FORMAT_R8G8B8A8_UNORM);
      set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      if (strcmp(rows[r].about, "zero gradients") == 0)
         c.levels = 1;
      emit(visit, &c, rows[r].expression, "%s", rows[r].about);
      if (strcmp(rows[r].about, "size") != 0)
         continue;
      c.first_level = 1;
      c.level_count = 2;
      if (rows[r].view == VK_IMAGE_VIEW_TYPE_2D_ARRAY)
         c.first_layer = 1, c.layer_count = 2;
      emit(visit, &c, rows[r].expression, "size of a view");
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
         struct image_case c = make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D), formats[f]);
         c.swizzle = swizzles[s];
         c.queries = IMAGE_BEYOND;
         c.tolerance = formats[f] == VK_FORMAT_B8G8R8A8_SRGB ? 1.0 / 500 : 0.0;
         emit(visit, &c, "texelFetch(t, i.xy, j.x)", "swizzle %u fetch beyond", s);
         c.queries = IMAGE_GATHER;
         emit(visit, &c, "textureGather(t, p.xy, 0)", "swizzle %u gather 0", s);
         emit(visit, &c, "textureGather(t, p.xy, 2)", "swizzle %u gather 2", s);
      }
   }
   struct image_case c = make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D_ARRAY), VK_FORMAT_R32_UINT);
   c.first_layer = 1;
   c.layer_count = 2;
   c.first_level = 2;
   c.level_count = 3;
   c.queries = IMAGE_FETCH;
   emit(visit, &c, "texelFetch(t, i.xyz, j.x)", "view of levels and layers, fetch");
   c.queries = IMAGE_BEYOND;
   emit(visit, &c, "texelFetch(t, i.xyz, j.x)", "view of levels and layers, fetch beyond");
   c = make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D), VK_FORMAT_R8G8B8A8_UNORM);
   c.view_format = image_format_find(VK_FORMAT_R32_UINT);
   c.queries = IMAGE_FETCH;
   emit(visit, &c, "texelFetch(t, i.xy, j.x)", "as R32_UINT");
   c.view_format = image_format_find(VK_FORMAT_R8G8B8A8_SRGB);
   c.tolerance = 1.0 / 500;
   emit(visit, &c, "texelFetch(t, i.xy, j.x)", "as SRGB");
}

/* ---- Storage images and buffers ------------------------------------------------------------ */

/* A value for a texel, in the format's range, the same for each driver. */
static const char *value_of(const struct image_format *format)
{
   switch (format->numbers) {
   case IMAGE_UINT:
      if (!format->channel_B)
         return "uvec4(i.x * 7 + i.y * 3 + i.z, i.x, i.y + i.z, i.x ^ i.y) & 3u";
      return "uvec4(i.x * 7 + i.y * 3 + i.z, i.x, i.y + i.z, i.x ^ i.y) & 255u";
   case IMAGE_SINT:
      return "(ivec4(i.x * 7 + i.y * 3 + i.z, i.x, i.y + i.z, i.x ^ i.y) & 255) - 128";
   case IMAGE_SNORM:
      return "mod(vec4(i.x * 7 + i.y * 3 + i.z, i.x, i.y + i.z, i.x + 2 * i.y) / 37.0, 2.5) - 1.25";
   case IMAGE_FLOAT:
      return "vec4(i.x * 7 + i.y * 3 + i.z, i.x, i.y + i.z, i.x + 2 * i.y) / 37.0";
   default:
      return "mod(vec4(i.x * 7 + i.y * 3 + i.z, i.x, i.y + i.z, i.x + 2 * i.y) / 37.0, 1.25)";
   }
}

/* Rounding is a driver's choice: one unit of the last place. */
static void set_rounding(struct image_case *c)
{
   const struct image_format *format = c->format;
   c->tolerance = c->relative = 0.0;
   if (!is_filtered(c) || format->channel_B == 4)
      return;
   if (format->numbers == IMAGE_FLOAT)
      c->relative = format->channel_B == 2 ? 0x1p-10 : 0x1p-5;
   else
      c->tolerance = format->channel_B == 2 ? 1.0 / 2048 : format->channel_B ? 1.0 / 200 : 1.0 / 15;
   if (format->format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32)
      c->tolerance = 0.04; /* the least channel has the greatest one's steps */
}

static const char *storage_names[] = {"1D",      "1DArray", "2D",      "2D",
                                      "2DArray", "3D",      "2DArray", "2DArray"};

static void visit_storage(const struct visit *visit, const struct shape *shape,
                          const struct image_format *format, uint32_t first_level)
{
   char type[96], load[200], store[200];
   struct image_case c = make_case(shape, format->format);
   const char *suffix = storage_names[shape - shapes];
   if (!format->qualifier)
      return;
   if (image_is_cube(c.view))
      c.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
   snprintf(type, sizeof(type), "%simage%s", prefix_of(format), suffix);
   snprintf(load, sizeof(load), "imageLoad(t, %s)", shape->storage);
   snprintf(store, sizeof(store), "imageStore(t, %s, %s)", shape->storage, value_of(format));
   c.is_storage = true;
   c.first_level = first_level;
   c.level_count = 1;
   for (unsigned beyond = 0; beyond < 2; beyond++) {
      c.queries = beyond ? IMAGE_BEYOND : IMAGE_FETCH;
      c.store = NULL;
      c.declaration = type;
      emit(visit, &c, load, "level %u load%s", first_level, beyond ? " beyond" : "");
      c.store = store;
      c.declaration = type;
      set_rounding(&c);
      emit(visit, &c, load, "level %u store%s", first_level, beyond ? " beyond" : "");
      c.tolerance = c.relative = 0.0;
   }
   if (c.levels == 1 || first_level)
      return;
   c.store = NULL;
   snprintf(load, sizeof(load),
            strlen(suffix) > 2 || suffix[0] == '3' ? "ivec4(imageSize(t), 0)"
            : suffix[0] == '1'                     ? "ivec4(imageSize(t))"
                                                   : "ivec4(imageSize(t), 0, 0)");
   if (strcmp(suffix, "1DArray") == 0)
      snprintf(load, sizeof(load), "ivec4(imageSize(t), 0, 0)");
   c.declaration = type;
   emit(visit, &c, load, "image size");
}

static void visit_storages(const struct visit *visit)
{
   for (unsigned s = 0; s < AGX_COUNT(shapes); s++) {
      for (unsigned f = 0; f < AGX_COUNT(few_formats); f++) {
         visit_storage(visit, &shapes[s], image_format_find(few_formats[f]), 0);
         visit_storage(visit, &shapes[s], image_format_find(few_formats[f]), 2);
      }
   }
   for (unsigned f = 0; f < image_format_count; f++)
      visit_storage(visit, find_shape(VK_IMAGE_VIEW_TYPE_2D), &image_formats[f], 1);
}

static void visit_atomics(const struct visit *visit)
{
   static const struct {
      const char *name, *arguments;
   } operations[] = {
      {"Add", "%s(i.x * 3 + i.y)"},      {"Min", "%s(i.x * 123456 - i.y)"},
      {"Max", "%s(i.x * 654321)"},       {"And", "%s(~i.x)"},
      {"Or", "%s(i.x | i.y << 8)"},      {"Xor", "%s(n)"},
      {"Exchange", "%s(i.x * 9 + i.y)"},
   };
   static const VkFormat formats[] = {VK_FORMAT_R32_UINT, VK_FORMAT_R32_SINT};
   char type[96], store[200], load[96], value[64];
   for (unsigned s = 0; s < AGX_COUNT(shapes); s++) {
      for (unsigned f = 0; f < 2; f++) {
         for (unsigned o = 0; o < AGX_COUNT(operations); o++) {
            struct image_case c = make_case(&shapes[s], formats[f]);
            if (image_is_cube(c.view))
               c.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
            c.is_storage = true;
            c.level_count = 1;
            c.queries = o & 1 ? IMAGE_BEYOND : IMAGE_FETCH;
            snprintf(type, sizeof(type), "layout(%s) %simage%s", c.format->qualifier,
                     prefix_of(c.format), storage_names[s]);
            snprintf(value, sizeof(value), operations[o].arguments, f ? "int" : "uint");
            snprintf(store, sizeof(store), "imageAtomic%s(t, %s, %s)", operations[o].name,
                     shapes[s].storage, value);
            snprintf(load, sizeof(load), "imageLoad(t, %s)", shapes[s].storage);
            c.store = store;
            c.declaration = type;
            emit(visit, &c, load, "atomic %s", operations[o].name);
         }
      }
   }
}

static void visit_buffers(const struct visit *visit)
{
   char type[96], store[200];
   static const uint32_t sizes[] = {100, 40000};
   for (unsigned f = 0; f < image_format_count; f++) {
      for (unsigned s = 0; s < AGX_COUNT(sizes); s++) {
         struct image_case c =
            make_case(find_shape(VK_IMAGE_VIEW_TYPE_1D), image_formats[f].format);
         c.width = sizes[s];
         c.levels = 1;
         c.is_buffer = true;
         for (unsigned beyond = 0; beyond < 2; beyond++) {
            const char *words = beyond ? " beyond" : "";
            c.queries = beyond ? IMAGE_BEYOND : IMAGE_FETCH;
            c.is_storage = false;
            c.store = NULL;
            c.tolerance = strstr(c.format->name, "SRGB") ? 1.0 / 500 : 0.0;
            c.relative = 0.0;
            emit(visit, &c, "texelFetch(t, i.x)", "buffer fetch%s", words);
            if (!c.format->qualifier)
               continue;
            c.is_storage = true;
            snprintf(type, sizeof(type), "%simageBuffer", prefix_of(c.format));
            c.declaration = type;
            emit(visit, &c, "imageLoad(t, i.x)", "buffer load%s", words);
            snprintf(store, sizeof(store), "imageStore(t, i.x, %s)", value_of(c.format));
            c.store = store;
            set_rounding(&c);
            c.declaration = type;
            emit(visit, &c, "imageLoad(t, i.x)", "buffer store%s", words);
         }
      }
   }
}

/* Shapes of many sizes whose texels the driver's processor code has put in place. */
static void visit_layouts(const struct visit *visit)
{
   static const struct {
      VkImageViewType view;
      uint32_t width, height, depth, layers;
   } sizes[] = {
      {VK_IMAGE_VIEW_TYPE_1D, 16384, 1, 1, 1},     {VK_IMAGE_VIEW_TYPE_1D_ARRAY, 513, 1, 1, 70},
      {VK_IMAGE_VIEW_TYPE_2D, 1, 1, 1, 1},         {VK_IMAGE_VIEW_TYPE_2D, 1, 300, 1, 1},
      {VK_IMAGE_VIEW_TYPE_2D, 700, 3, 1, 1},       {VK_IMAGE_VIEW_TYPE_2D, 129, 129, 1, 1},
      {VK_IMAGE_VIEW_TYPE_2D, 200, 513, 1, 1},     {VK_IMAGE_VIEW_TYPE_2D, 1021, 67, 1, 1},
      {VK_IMAGE_VIEW_TYPE_2D, 64, 64, 1, 1},       {VK_IMAGE_VIEW_TYPE_2D_ARRAY, 33, 65, 1, 9},
      {VK_IMAGE_VIEW_TYPE_2D_ARRAY, 4, 4, 1, 300}, {VK_IMAGE_VIEW_TYPE_3D, 37, 18, 25, 1},
      {VK_IMAGE_VIEW_TYPE_3D, 3, 5, 90, 1},        {VK_IMAGE_VIEW_TYPE_3D, 129, 70, 2, 1},
   };
   static const VkFormat formats[] = {VK_FORMAT_R8_UINT, VK_FORMAT_R16_UINT, VK_FORMAT_R32_UINT,
                                      VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32B32A32_UINT};
   char text[200];
   for (unsigned s = 0; s < AGX_COUNT(sizes); s++) {
      for (unsigned f = 0; f < AGX_COUNT(formats); f++) {
         const struct shape *shape = find_shape(sizes[s].view);
         struct image_case c = make_case(shape, formats[f]);
         uint32_t longest = AGX_MAX(AGX_MAX(sizes[s].width, sizes[s].height), sizes[s].depth);
         c.width = sizes[s].width;
         c.height = sizes[s].height;
         c.depth = sizes[s].depth;
         c.layers = sizes[s].layers;
         c.is_host_copy = true;
         c.queries = IMAGE_FETCH;
         snprintf(text, sizeof(text), "texelFetch(t, %s, j.x)", shape->texel);
         c.levels = 32u - (uint32_t)__builtin_clz(longest);
         emit(visit, &c, text, "host copy, %u levels", c.levels);
         if (c.levels > 2) {
            c.levels = c.levels / 2;
            emit(visit, &c, text, "host copy, %u levels", c.levels);
            c.levels = 1;
            emit(visit, &c, text, "host copy, %u levels", c.levels);
         }
         c.levels = 1;
         c.tiling = VK_IMAGE_TILING_LINEAR;
         emit(visit, &c, text, "host copy, %u levels", c.levels);
      }
   }
}

static void visit_wild(const struct visit *visit)
{
   static const VkFormat formats[] = {VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
                                      VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                                      VK_FORMAT_E5B9G9R9_UFLOAT_PACK32};
   for (unsigned f = 0; f < AGX_COUNT(formats); f++) {
      struct image_case c = make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D), formats[f]);
      c.is_wild = true;
      c.queries = IMAGE_FETCH;
      emit(visit, &c, "texelFetch(t, i.xy, j.x)", "wild fetch");
      set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      emit(visit, &c, "textureLod(t, p.xy, a.x)", "wild nearest");
      c.queries = IMAGE_GATHER;
      emit(visit, &c, "textureGather(t, p.xy, 0)", "wild gather");
   }
}

/* How many probes an anisotropic filter takes, and where, is the driver's choice: the image is
 * slow enough for it not to matter much. */
static void visit_anisotropy(const struct visit *visit)
{
   static const float ratios[] = {1, 2, 4, 16};
   for (unsigned r = 0; r < AGX_COUNT(ratios); r++) {
      struct image_case c = make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D), VK_FORMAT_R8G8B8A8_UNORM);
      c.width = c.height = 128;
      c.levels = 8;
      c.is_smooth = true;
      set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE);
      c.sampler.anisotropyEnable = VK_TRUE;
      c.sampler.maxAnisotropy = ratios[r];
      c.tolerance = 0.05;
      emit(visit, &c, "textureGrad(t, fract(p.xy) * 0.4 + 0.3, vec2(0.03, 0), vec2(0, 0.03))",
           "anisotropic %g, round", ratios[r]);
      emit(visit, &c, "textureGrad(t, fract(p.xy) * 0.4 + 0.3, vec2(0.06, 0), vec2(0, 0.015))",
           "anisotropic %g, 4", ratios[r]);
      emit(visit, &c, "textureGrad(t, fract(p.xy) * 0.4 + 0.3, vec2(0.01, 0), vec2(0, 0.08))",
           "anisotropic %g, 8", ratios[r]);
   }
}

/* Each thread takes a texture and a sampler of its own: a view of one level, and a wrap mode. */
static void visit_indexed(const struct visit *visit)
{
   for (unsigned f = 0; f < AGX_COUNT(few_formats); f++) {
      struct image_case c = make_case(find_shape(VK_IMAGE_VIEW_TYPE_2D), few_formats[f]);
      c.levels = IMAGE_INDEXED;
      c.is_indexed = true;
      set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      emit(visit, &c, "textureLod(t[nonuniformEXT(j.x)], p.xy, 0.0)", "indexed nearest");
      c.queries = IMAGE_FETCH;
      emit(visit, &c, "texelFetch(t[nonuniformEXT(j.x)], i.xy, 0)", "indexed fetch");
      c.queries = IMAGE_BEYOND;
      emit(visit, &c, "texelFetch(t[nonuniformEXT(j.x & 3)], i.xy, 0)", "indexed fetch beyond");
      if (!is_filtered(&c))
         continue;
      set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      emit(visit, &c, "textureLod(t[nonuniformEXT(j.x)], p.xy, 0.0)", "indexed linear");
   }
}

/* Derivatives of a direction, in the face's plane: a whole level each. */
static void visit_cube_gradients(const struct visit *visit)
{
   struct image_case c =
      make_case(find_shape(VK_IMAGE_VIEW_TYPE_CUBE), VK_FORMAT_R32G32B32A32_SFLOAT);
   char text[200];
   for (unsigned level = 0; level < 5; level++) {
      double length = (double)(1u << level) / 16.0;
      set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      snprintf(text, sizeof(text), "textureGrad(t, p.xyz, along(p.xyz, %g), along(p.xyz, %g))",
               length, length);
      emit(visit, &c, text, "gradients for level %u", level);
   }
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
   visit_storages(&visit);
   visit_atomics(&visit);
   visit_buffers(&visit);
   visit_layouts(&visit);
   visit_wild(&visit);
   visit_anisotropy(&visit);
   visit_cube_gradients(&visit);
   visit_indexed(&visit);
}
