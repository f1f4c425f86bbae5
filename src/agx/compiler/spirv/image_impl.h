/* SPDX-License-Identifier: MIT
 *
 * Images, samplers and their handles.
 */
#pragma once

#include "agx/compiler/spirv/memory_impl.h"

/* enum agx_binding_kind of a variable that is a handle, and the dimension of its descriptor. */
uint32_t agxc_spv_handle_kind(struct agxc_spv *s, const struct agxc_spv_type *type);
uint32_t agxc_spv_image_dim(const struct agxc_spv_type *image);
/* The value that OpLoad of such a variable gives, and what is made of it. */
void agxc_spv_load_handle(struct agxc_spv *s, const struct agxc_spv_instr *in,
                          const struct agxc_spv_pointer *p);
/* The variable of an image, which must have been loaded; with a sampler where one is needed. */
const struct agxc_spv_pointer *agxc_spv_image(struct agxc_spv *s, uint32_t id, bool sampled);
const struct agxc_spv_type *agxc_spv_image_type(const struct agxc_spv_pointer *image);
struct agxc_ref agxc_spv_image_info(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                                    enum agx_image_property property);
/* Which heap an element of an array is in, and where; both AGXC_NONE where a state register holds
 * the descriptor. */
void agxc_spv_heap_place(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                         enum agx_heap_part part, struct agxc_ref *out_heap,
                         struct agxc_ref *out_place);

/* ---- texel.c ----------------------------------------------------------- */

/* Column and row of texel `index` of a buffer of texels; far outside where there is none. */
void agxc_spv_texel_of_buffer(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                              struct agxc_ref index, struct agxc_ref out_at[2]);
/* Likewise of one sample of a multisampled image, in the image that stores to it see: all its
 * memory, one sample a texel. */
void agxc_spv_texel_of_sample(struct agxc_spv *s, const struct agxc_spv_pointer *image,
                              const struct agxc_ref at[2], struct agxc_ref layer,
                              struct agxc_ref sample, struct agxc_ref out_at[2]);
