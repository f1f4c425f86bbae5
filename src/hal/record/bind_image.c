/* SPDX-License-Identifier: MIT
 *
 * Checks the images, samplers and buffers of texels of a dispatch and resolves what of them it
 * sees. Recording calls it for each binding that the fast path does not take.
 */
#include "hal/record/bind_image.h"

#include <string.h>

#include "agx/isa/isa.h"
#include "base/util.h"
#include "hal/record/bind_buffer.h"
#include "hal/memory/buffer.h"
#include "robustness/image.h"

/* ---- checks ------------------------------------------------------------ */

static bool is_multisampled(uint32_t dim)
{
   return dim == AGX_ISA_DIM_2D_MS || dim == AGX_ISA_DIM_2D_MS_ARRAY;
}

static const char *dim_name(uint32_t dim)
{
   static const char *const names[] = {
      [AGX_ISA_DIM_1D] = "1D",
      [AGX_ISA_DIM_1D_ARRAY] = "1D array",
      [AGX_ISA_DIM_2D] = "2D",
      [AGX_ISA_DIM_2D_ARRAY] = "2D array",
      [AGX_ISA_DIM_2D_MS] = "2D multisampled",
      [AGX_ISA_DIM_3D] = "3D",
      [AGX_ISA_DIM_CUBE] = "cube (of a square)",
      [AGX_ISA_DIM_CUBE_ARRAY] = "cube array (of squares)",
      [AGX_ISA_DIM_2D_MS_ARRAY] = "2D multisampled array",
   };
   return dim < AGX_COUNT(names) ? names[dim] : "?";
}

static bool dim_fits(uint32_t dim, const struct agx_image *image)
{
   if (is_multisampled(dim) != (image->samples > 1))
      return false;
   if (agx_dim_is_cube(dim))
      return image->type == AGX_IMAGE_CUBE ||
             (image->type == AGX_IMAGE_2D && image->width == image->height);
   return (dim == AGX_ISA_DIM_3D) == (image->type == AGX_IMAGE_3D);
}

static agx_status check_layers(const struct agx_program_binding *wanted,
                               const struct agx_binding *binding, struct agx_bound *out)
{
   const struct agx_image *image = binding->image;
   uint32_t first = binding->first_layer, depth = image->depth, count = binding->layer_count;
   if (first >= depth || count > depth - first || (image->type == AGX_IMAGE_3D && (first || count)))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%u layers from %u of %u%s", count, first, depth,
                      image->type == AGX_IMAGE_3D ? " slices: a 3D image is bound as a whole" : "");
   out->first_layer = first;
   out->layer_count = count ? count : depth - first;
   if (agx_dim_is_cube(wanted->dim) && out->layer_count % 6)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "cubes of %u layers, no multiple of 6",
                      out->layer_count);
   if (wanted->access & AGX_BINDING_ATOMICS && first + out->layer_count != depth)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "atomics on %u layers from %u of %u; the last layer must be among them",
                      out->layer_count, first, depth);
   return AGX_OK;
}

static agx_status check_format(const struct agx_program_binding *wanted,
                               const struct agx_binding *binding, struct agx_bound *out)
{
   const struct agx_image *image = binding->image;
   out->format = image->format;
   if (binding->format) {
      out->format = agx_format_find(binding->format);
      if (!out->format)
         return AGX_FAIL(AGX_UNIMPLEMENTED, "unknown format %.64s", binding->format);
      if (out->format->texel_B != image->format->texel_B)
         return AGX_FAIL(
            AGX_INVALID_ARGUMENT, "%s seen as %s, of texels of another size: %u bytes, not %u",
            image->format->name, out->format->name, out->format->texel_B, image->format->texel_B);
   }
   if (wanted->access & AGX_BINDING_WRITES && image->flags & AGX_IMAGE_GPU_READ_ONLY)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the kernel writes to an image that can't be written, "
                                            "made with AGX_IMAGE_GPU_READ_ONLY");
   if (wanted->access & AGX_BINDING_WRITES &&
       (!image->format->is_storable || !out->format->is_storable))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "the kernel writes to an image that can't be written, of format %s",
                      image->format->is_storable ? out->format->name : image->format->name);
   if (!binding->swizzle)
      return AGX_OK;
   if (strlen(binding->swizzle) != 4 || strspn(binding->swizzle, "rgba01") != 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "swizzle \"%.8s\"; four of \"rgba01\" are a swizzle",
                      binding->swizzle);
   if (wanted->kind == AGX_BINDING_KIND_STORAGE_IMAGE && strcmp(binding->swizzle, "rgba") != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "swizzle \"%s\" of a storage image, which takes \"rgba\" or NULL",
                      binding->swizzle);
   memcpy(out->swizzle, binding->swizzle, sizeof(out->swizzle));
   return AGX_OK;
}

static agx_status check_image(const struct agx_program_binding *wanted,
                              const struct agx_binding *binding, const struct agx_device *device,
                              struct agx_bound *out)
{
   const struct agx_image *image = binding->image;
   if (image->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "an image %s",
                      agx_describe_owner(image->device, device).text);
   if (!dim_fits(wanted->dim, image))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "a %s image of %u x %u texels, %u samples; the kernel takes dimension %s",
                      agx_image_type_name(image->type), image->width, image->height, image->samples,
                      dim_name(wanted->dim));
   if (binding->first_level >= image->levels ||
       binding->level_count > image->levels - binding->first_level)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%u levels from %u of %u", binding->level_count,
                      binding->first_level, image->levels);
   AGX_TRY(check_layers(wanted, binding, out));
   AGX_TRY(check_format(wanted, binding, out));
   if (wanted->access & AGX_BINDING_ATOMICS && !(image->flags & AGX_IMAGE_ATOMICS))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "atomics on an image that was made without AGX_IMAGE_ATOMICS");
   uint64_t samples = image->layout.size_B / image->format->texel_B;
   if (image->samples > 1 && wanted->access & AGX_BINDING_WRITES && samples > AGXR_MAX_TEXELS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%llu samples to store to; the limit is 2^28",
                      (unsigned long long)samples);
   out->objects[0] = binding->image;
   out->image = image;
   out->first_level = binding->first_level;
   out->level_count =
      binding->level_count ? binding->level_count : image->levels - binding->first_level;
   return AGX_OK;
}

static agx_status bind_view(const struct agx_program_binding *wanted,
                            const struct agx_binding *binding, const struct agx_device *device,
                            struct agx_bound *out)
{
   agx_status status = check_image(wanted, binding, device, out);
   if (status != AGX_OK)
      agx_error_prefix("%s", binding->image->label);
   return status;
}

void agx_bind_nothing_seen(const struct agx_device *device, struct agx_bound *out)
{
   out->address = agxw_device_null(agx_context_of(device)->winsys, &out->sinks);
   out->length_B = 0;
   out->is_null = true;
}

static agx_status bind_texels(const struct agx_program_binding *wanted,
                              const struct agx_binding *binding, struct agx_device *device,
                              struct agx_bound *out)
{
   const struct agx_format *format = binding->format ? agx_format_find(binding->format) : NULL;
   if (!binding->format)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "a buffer of texels, %s, without a format",
                      binding->ref.buffer->label);
   if (!format)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "texels of %s: unknown format %.64s",
                      binding->ref.buffer->label, binding->format);
   if (wanted->access & AGX_BINDING_WRITES && !format->is_storable)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "the kernel writes texels of %s, which can't be written, of format %s",
                      binding->ref.buffer->label, format->name);
   if (binding->ref.offset_B % AGXR_TEXEL_ALIGN_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "texels at offset %llu of %s, no multiple of %u",
                      (unsigned long long)binding->ref.offset_B, binding->ref.buffer->label,
                      AGXR_TEXEL_ALIGN_B);
   struct agx_program_binding robust = *wanted;
   robust.robustness = AGX_PROGRAM_ROBUST_ZERO; /* for the sinks */
   AGX_TRY(agx_bind_range(&robust, binding, device, out));
   if (out->length_B / format->texel_B > AGXR_MAX_TEXELS)
      return AGX_FAIL(
         AGX_OUT_OF_RANGE, "%llu texels of %s; a kernel sees at most 2^28: bind a shorter range",
         (unsigned long long)(out->length_B / format->texel_B), binding->ref.buffer->label);
   out->format = format;
   out->texels = agxr_texel_count(out->length_B, format->texel_B);
   return AGX_OK;
}

agx_status agx_bind_seen(const struct agx_program_binding *wanted,
                         const struct agx_binding *binding, struct agx_device *device,
                         struct agx_bound *out)
{
   out->dim = wanted->dim;
   out->elements = 1;
   out->is_texels = agx_binding_is_texels(wanted->kind);
   /* NULL is an image that is not there, but not where only something else is given. */
   bool has_image = binding && binding->image, has_buffer = binding && binding->ref.buffer;
   if (has_image != has_buffer && has_image == out->is_texels &&
       agx_binding_has_image(wanted->kind))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s is wanted, not %s",
                      out->is_texels ? "a buffer of texels" : "an image",
                      out->is_texels ? "an image" : "a buffer");
   if (out->is_texels) {
      if (binding && binding->ref.buffer)
         AGX_TRY(bind_texels(wanted, binding, device, out));
      else
         agx_bind_nothing_seen(device, out);
   } else if (agx_binding_has_image(wanted->kind)) {
      if (!binding || !binding->image)
         agx_bind_nothing_seen(device, out);
      else
         AGX_TRY(bind_view(wanted, binding, device, out));
   }
   if (!agx_binding_has_sampler(wanted->kind) || (!binding && wanted->elements))
      return AGX_OK;
   if (!binding->sampler && wanted->access & AGX_BINDING_HEAP)
      return AGX_OK;
   if (!binding->sampler)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the kernel takes a sampler, and sampler is NULL");
   if (binding->sampler->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "a sampler %s",
                      agx_describe_owner(binding->sampler->device, device).text);
   out->objects[1] = binding->sampler;
   out->sampler = binding->sampler;
   return AGX_OK;
}

agx_status agx_bind_image(const char *name, const struct agx_program_binding *wanted,
                          const struct agx_binding *binding, struct agx_device *device,
                          struct agx_bound *out_bound)
{
   agx_status status = agx_bind_seen(wanted, binding, device, out_bound);
   if (status != AGX_OK)
      agx_error_prefix("dispatch of %s: set %u binding %u element %u", name, wanted->set,
                       wanted->binding, binding ? binding->element : 0);
   return status;
}
