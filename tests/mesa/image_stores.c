/* SPDX-License-Identifier: MIT
 *
 * Which accesses of storage images, buffers, linear layouts, wild values, anisotropy, arrays and
 * cube gradients are compared: tables, and what is crossed with what.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "image_visit.h"

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
   if (!image_is_filtered(c) || format->channel_B == 4)
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
   struct image_case c = image_make_case(shape, format->format);
   const char *suffix = storage_names[shape - image_shapes];
   if (!format->qualifier)
      return;
   if (image_is_cube(c.view))
      c.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
   snprintf(type, sizeof(type), "%simage%s", image_prefix(format), suffix);
   snprintf(load, sizeof(load), "imageLoad(t, %s)", shape->storage);
   snprintf(store, sizeof(store), "imageStore(t, %s, %s)", shape->storage, value_of(format));
   c.is_storage = true;
   c.first_level = first_level;
   c.level_count = 1;
   for (unsigned beyond = 0; beyond < 2; beyond++) {
      c.queries = beyond ? IMAGE_BEYOND : IMAGE_FETCH;
      c.store = NULL;
      c.declaration = type;
      image_emit(visit, &c, load, "level %u load%s", first_level, beyond ? " beyond" : "");
      c.store = store;
      c.declaration = type;
      set_rounding(&c);
      image_emit(visit, &c, load, "level %u store%s", first_level, beyond ? " beyond" : "");
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
   image_emit(visit, &c, load, "image size");
}

static void visit_storages(const struct visit *visit)
{
   for (unsigned s = 0; s < AGX_COUNT(image_shapes); s++) {
      for (unsigned f = 0; f < AGX_COUNT(image_few_formats); f++) {
         visit_storage(visit, &image_shapes[s], image_format_find(image_few_formats[f]), 0);
         visit_storage(visit, &image_shapes[s], image_format_find(image_few_formats[f]), 2);
      }
   }
   for (unsigned f = 0; f < image_format_count; f++)
      visit_storage(visit, image_find_shape(VK_IMAGE_VIEW_TYPE_2D), &image_formats[f], 1);
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
   for (unsigned s = 0; s < AGX_COUNT(image_shapes); s++) {
      for (unsigned f = 0; f < 2; f++) {
         for (unsigned o = 0; o < AGX_COUNT(operations); o++) {
            struct image_case c = image_make_case(&image_shapes[s], formats[f]);
            if (image_is_cube(c.view))
               c.view = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
            c.is_storage = true;
            c.level_count = 1;
            c.queries = o & 1 ? IMAGE_BEYOND : IMAGE_FETCH;
            snprintf(type, sizeof(type), "layout(%s) %simage%s", c.format->qualifier,
                     image_prefix(c.format), storage_names[s]);
            snprintf(value, sizeof(value), operations[o].arguments, f ? "int" : "uint");
            snprintf(store, sizeof(store), "imageAtomic%s(t, %s, %s)", operations[o].name,
                     image_shapes[s].storage, value);
            snprintf(load, sizeof(load), "imageLoad(t, %s)", image_shapes[s].storage);
            c.store = store;
            c.declaration = type;
            image_emit(visit, &c, load, "atomic %s", operations[o].name);
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
            image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_1D), image_formats[f].format);
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
            image_emit(visit, &c, "texelFetch(t, i.x)", "buffer fetch%s", words);
            if (!c.format->qualifier)
               continue;
            c.is_storage = true;
            snprintf(type, sizeof(type), "%simageBuffer", image_prefix(c.format));
            c.declaration = type;
            image_emit(visit, &c, "imageLoad(t, i.x)", "buffer load%s", words);
            snprintf(store, sizeof(store), "imageStore(t, i.x, %s)", value_of(c.format));
            c.store = store;
            set_rounding(&c);
            c.declaration = type;
            image_emit(visit, &c, "imageLoad(t, i.x)", "buffer store%s", words);
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
         const struct shape *shape = image_find_shape(sizes[s].view);
         struct image_case c = image_make_case(shape, formats[f]);
         uint32_t longest = AGX_MAX(AGX_MAX(sizes[s].width, sizes[s].height), sizes[s].depth);
         c.width = sizes[s].width;
         c.height = sizes[s].height;
         c.depth = sizes[s].depth;
         c.layers = sizes[s].layers;
         c.is_host_copy = true;
         c.queries = IMAGE_FETCH;
         snprintf(text, sizeof(text), "texelFetch(t, %s, j.x)", shape->texel);
         c.levels = 32u - (uint32_t)__builtin_clz(longest);
         image_emit(visit, &c, text, "host copy, %u levels", c.levels);
         if (c.levels > 2) {
            c.levels = c.levels / 2;
            image_emit(visit, &c, text, "host copy, %u levels", c.levels);
            c.levels = 1;
            image_emit(visit, &c, text, "host copy, %u levels", c.levels);
         }
         c.levels = 1;
         c.tiling = VK_IMAGE_TILING_LINEAR;
         image_emit(visit, &c, text, "host copy, %u levels", c.levels);
      }
   }
}

static void visit_wild(const struct visit *visit)
{
   static const VkFormat formats[] = {VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
                                      VK_FORMAT_B10G11R11_UFLOAT_PACK32,
                                      VK_FORMAT_E5B9G9R9_UFLOAT_PACK32};
   for (unsigned f = 0; f < AGX_COUNT(formats); f++) {
      struct image_case c = image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D), formats[f]);
      c.is_wild = true;
      c.queries = IMAGE_FETCH;
      image_emit(visit, &c, "texelFetch(t, i.xy, j.x)", "wild fetch");
      image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      image_emit(visit, &c, "textureLod(t, p.xy, a.x)", "wild nearest");
      c.queries = IMAGE_GATHER;
      image_emit(visit, &c, "textureGather(t, p.xy, 0)", "wild gather");
   }
}

/* How many probes an anisotropic filter takes, and where, is the driver's choice: the image is
 * slow enough for it not to matter much. */
static void visit_anisotropy(const struct visit *visit)
{
   static const float ratios[] = {1, 2, 4, 16};
   for (unsigned r = 0; r < AGX_COUNT(ratios); r++) {
      struct image_case c =
         image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D), VK_FORMAT_R8G8B8A8_UNORM);
      c.width = c.height = 128;
      c.levels = 8;
      c.is_smooth = true;
      image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_LINEAR);
      image_set_wrap(&c, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE);
      c.sampler.anisotropyEnable = VK_TRUE;
      c.sampler.maxAnisotropy = ratios[r];
      c.tolerance = 0.05;
      image_emit(visit, &c, "textureGrad(t, fract(p.xy) * 0.4 + 0.3, vec2(0.03, 0), vec2(0, 0.03))",
                 "anisotropic %g, round", ratios[r]);
      image_emit(visit, &c,
                 "textureGrad(t, fract(p.xy) * 0.4 + 0.3, vec2(0.06, 0), vec2(0, 0.015))",
                 "anisotropic %g, 4", ratios[r]);
      image_emit(visit, &c, "textureGrad(t, fract(p.xy) * 0.4 + 0.3, vec2(0.01, 0), vec2(0, 0.08))",
                 "anisotropic %g, 8", ratios[r]);
   }
}

/* Each thread takes a texture and a sampler of its own: a view of one level, and a wrap mode. */
static void visit_indexed(const struct visit *visit)
{
   for (unsigned f = 0; f < AGX_COUNT(image_few_formats); f++) {
      struct image_case c =
         image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_2D), image_few_formats[f]);
      c.levels = IMAGE_INDEXED;
      c.is_indexed = true;
      image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      image_emit(visit, &c, "textureLod(t[nonuniformEXT(j.x)], p.xy, 0.0)", "indexed nearest");
      c.queries = IMAGE_FETCH;
      image_emit(visit, &c, "texelFetch(t[nonuniformEXT(j.x)], i.xy, 0)", "indexed fetch");
      c.queries = IMAGE_BEYOND;
      image_emit(visit, &c, "texelFetch(t[nonuniformEXT(j.x & 3)], i.xy, 0)",
                 "indexed fetch beyond");
      if (!image_is_filtered(&c))
         continue;
      image_set_filter(&c, VK_FILTER_LINEAR, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      image_emit(visit, &c, "textureLod(t[nonuniformEXT(j.x)], p.xy, 0.0)", "indexed linear");
   }
}

/* Derivatives of a direction, in the face's plane: a whole level each. */
static void visit_cube_gradients(const struct visit *visit)
{
   struct image_case c =
      image_make_case(image_find_shape(VK_IMAGE_VIEW_TYPE_CUBE), VK_FORMAT_R32G32B32A32_SFLOAT);
   char text[200];
   for (unsigned level = 0; level < 5; level++) {
      double length = (double)(1u << level) / 16.0;
      image_set_filter(&c, VK_FILTER_NEAREST, VK_SAMPLER_MIPMAP_MODE_NEAREST);
      snprintf(text, sizeof(text), "textureGrad(t, p.xyz, along(p.xyz, %g), along(p.xyz, %g))",
               length, length);
      image_emit(visit, &c, text, "gradients for level %u", level);
   }
}

void image_visit_stores(const struct visit *visit)
{
   visit_storages(visit);
   visit_atomics(visit);
   visit_buffers(visit);
   visit_layouts(visit);
   visit_wild(visit);
   visit_anisotropy(visit);
   visit_cube_gradients(visit);
   visit_indexed(visit);
}
