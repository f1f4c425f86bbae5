/* SPDX-License-Identifier: MIT
 *
 * Samplers: a descriptor that the hardware reads, packed once.
 */
#include <string.h>

#include "base/util.h"
#include "base/list.h"
#include "base/float_env.h"
#include "hal/core/desc.h"
#include "hal/memory/image.h"
#include "hal/memory/sampler_heap.h"

#define NO_LIMIT 14.0f /* the largest level there is */

static void sampler_destroy(struct agx_object *object)
{
   struct agx_sampler *sampler = agx_container_of(object, struct agx_sampler, object);
   struct agx_device *device = sampler->device;
   agx_sampler_heap_leave(device, atomic_load(&sampler->slot));
   agx_host_free(agx_context_of(device)->alloc, sampler, sizeof(*sampler));
   agx_release(device);
}

static const struct agx_object_type sampler_type = {"sampler", sampler_destroy};

static agx_status check_lod(const char *name, float lod)
{
   if (lod >= 0)
      return AGX_OK;
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "sampler: %s is %g; it must be 0 or more", name,
                   (double)lod);
}

static agx_status check_desc(const struct agx_sampler_desc *desc)
{
   const struct {
      const char *name;
      uint32_t value, last;
      const char *last_name;
   } fields[] = {
      {"magnify", desc->magnify, AGX_FILTER_LINEAR, "AGX_FILTER_LINEAR"},
      {"minify", desc->minify, AGX_FILTER_LINEAR, "AGX_FILTER_LINEAR"},
      {"between_levels", desc->between_levels, AGX_FILTER_NONE, "AGX_FILTER_NONE"},
      {"wrap[0]", desc->wrap[0], AGX_WRAP_MIRROR_ONCE, "AGX_WRAP_MIRROR_ONCE"},
      {"wrap[1]", desc->wrap[1], AGX_WRAP_MIRROR_ONCE, "AGX_WRAP_MIRROR_ONCE"},
      {"wrap[2]", desc->wrap[2], AGX_WRAP_MIRROR_ONCE, "AGX_WRAP_MIRROR_ONCE"},
      {"border", desc->border, AGX_BORDER_OPAQUE_WHITE, "AGX_BORDER_OPAQUE_WHITE"},
      {"compare", desc->compare, AGX_COMPARE_ALWAYS, "AGX_COMPARE_ALWAYS"},
   };
   const uint32_t ratio = desc->max_anisotropy;
   for (size_t i = 0; i < AGX_COUNT(fields); i++)
      if (fields[i].value > fields[i].last)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "sampler: %s is %u; the last is %s, %u",
                         fields[i].name, fields[i].value, fields[i].last_name, fields[i].last);
   if (ratio > 16 || ratio & (ratio - 1))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "sampler: max_anisotropy is %u; it takes 0, 1, 2, 4, 8 or 16", ratio);
   AGX_TRY(check_lod("min_lod", desc->min_lod));
   return check_lod("max_lod", desc->max_lod);
}

static const uint8_t compares[] = {
   [AGX_COMPARE_NEVER] = AGX_HW_COMPARE_FUNC_NEVER,
   [AGX_COMPARE_LESS] = AGX_HW_COMPARE_FUNC_LESS,
   [AGX_COMPARE_EQUAL] = AGX_HW_COMPARE_FUNC_EQUAL,
   [AGX_COMPARE_LESS_OR_EQUAL] = AGX_HW_COMPARE_FUNC_LEQUAL,
   [AGX_COMPARE_GREATER] = AGX_HW_COMPARE_FUNC_GREATER,
   [AGX_COMPARE_NOT_EQUAL] = AGX_HW_COMPARE_FUNC_NOT_EQUAL,
   [AGX_COMPARE_GREATER_OR_EQUAL] = AGX_HW_COMPARE_FUNC_GEQUAL,
   [AGX_COMPARE_ALWAYS] = AGX_HW_COMPARE_FUNC_ALWAYS,
};

static agx_status pack(const struct agx_sampler_desc *desc, uint8_t *words)
{
   static const uint8_t wraps[] = {
      [AGX_WRAP_REPEAT] = AGX_HW_WRAP_REPEAT,
      [AGX_WRAP_MIRROR] = AGX_HW_WRAP_MIRRORED_REPEAT,
      [AGX_WRAP_EDGE] = AGX_HW_WRAP_CLAMP_TO_EDGE,
      [AGX_WRAP_BORDER] = AGX_HW_WRAP_CLAMP_TO_BORDER,
      [AGX_WRAP_MIRROR_ONCE] = AGX_HW_WRAP_MIRRORED_CLAMP_TO_EDGE,
   };
   static const uint8_t mips[] = {
      [AGX_FILTER_NEAREST] = AGX_HW_MIP_FILTER_NEAREST,
      [AGX_FILTER_LINEAR] = AGX_HW_MIP_FILTER_LINEAR,
      [AGX_FILTER_NONE] = AGX_HW_MIP_FILTER_NONE,
   };
   struct agx_hw_sampler sampler = agx_hw_sampler_default();
   sampler.minimum_lod = desc->min_lod;
   sampler.maximum_lod = desc->max_lod > 0 ? desc->max_lod : NO_LIMIT;
   sampler.maximum_anisotropy = AGX_MAX(desc->max_anisotropy, 1u);
   sampler.magnify = desc->magnify; /* the same numbers */
   sampler.minify = desc->minify;
   sampler.mip_filter = mips[desc->between_levels];
   sampler.wrap_s = wraps[desc->wrap[0]];
   sampler.wrap_t = wraps[desc->wrap[1]];
   sampler.wrap_r = wraps[desc->wrap[2]];
   sampler.pixel_coordinates = desc->texel_coordinates;
   if (desc->compare != AGX_COMPARE_OFF) {
      sampler.compare_enable = true;
      sampler.compare_func = compares[desc->compare];
   }
   sampler.border_colour = desc->border; /* the same numbers */
   return agx_hw_sampler_pack(&sampler, words);
}

agx_status agx_sampler_create(struct agx_device *device, const struct agx_sampler_desc *desc,
                              struct agx_sampler **out_sampler)
{
   struct agx_sampler_desc read;
   *out_sampler = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_sampler_desc", desc, &read, sizeof(read)));
   struct agx_float_env env; /* comparing with a NaN and printing numbers raise flags, or trap */
   agx_float_env_enter(&env);
   const agx_status checked = check_desc(&read);
   agx_float_env_leave(&env);
   AGX_TRY(checked);
   struct agx_sampler *sampler = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*sampler));
   if (!sampler)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "sampler: out of host memory");
   agx_object_init(&sampler->object, &sampler_type);
   agx_retain(device);
   sampler->device = device;
   agx_float_env_enter(&env);
   agx_status status = pack(&read, sampler->words);
   agx_float_env_leave(&env);
   if (status != AGX_OK) {
      agx_release(sampler);
      return status;
   }
   *out_sampler = sampler;
   return AGX_OK;
}
