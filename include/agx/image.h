/* SPDX-License-Identifier: MIT
 *
 * Images and samplers.
 */
#pragma once

#include "agx/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agx_image_type {
   AGX_IMAGE_1D = 0,
   AGX_IMAGE_2D = 1,
   AGX_IMAGE_3D = 2,
   AGX_IMAGE_CUBE = 3, /* six layers for each cube */
};

/* The name of a format for struct agx_image_desc, by the number that GL's headers give an internal
 * format: GL_RGBA8. NULL when there is none. */
AGX_API const char *agx_format_from_gl(uint32_t internal);

/* Likewise for struct agx_vertex_attribute, by what glVertexAttribPointer takes: size 1 to 4 or
 * GL_BGRA, type GL_SHORT and so on; integer: by what glVertexAttribIPointer does. */
AGX_API const char *agx_vertex_format_from_gl(uint32_t size, uint32_t type, bool normalized,
                                              bool integer);

/* What images and texel buffers of a format can be used for; to be read they all can. */
struct agx_format_info {
   uint32_t size; /* set by the caller */
   uint32_t texel_B;
   bool is_integer;    /* kernels see integers, else floats; not filtered then */
   bool is_filterable; /* AGX_FILTER_LINEAR */
   bool is_storable;   /* kernels may store to it */
   bool has_atomics;   /* AGX_IMAGE_ATOMICS */
   bool is_srgb;
};

/* By any name that agx_image_desc.format takes. AGX_UNIMPLEMENTED: there is none of that name. */
AGX_API AGX_MUST_CHECK agx_status agx_format_get_info(const char *format,
                                                      struct agx_format_info *out_info);

enum agx_image_flags {
   AGX_IMAGE_LINEAR = 1,        /* rows one behind the other: one level only */
   AGX_IMAGE_ATOMICS = 2,       /* kernels may use atomics on it: texels of 4 bytes, linear unless
                                 * they have several samples */
   AGX_IMAGE_HOST_READ = 4,     /* the host reads it: mapped with write-back caching */
   AGX_IMAGE_GPU_READ_ONLY = 8, /* kernels may only read it */
};

struct agx_image_desc {
   uint32_t size;
   const void *next;
   uint32_t type; /* enum agx_image_type */
   /* By the name that Vulkan, OpenGL or GLSL has for it: "R8G8B8A8_UNORM", "GL_RGBA8", "rgba8". */
   const char *format;
   uint32_t width, height;
   uint32_t depth;  /* slices of a 3D image, else layers; 0 counts as 1 (cubes: 6) */
   uint32_t levels; /* 0 counts as 1 */
   uint32_t flags;  /* enum agx_image_flags */
   const char *label;
   uint32_t samples; /* of each texel: 1, 2 or 4; 0 counts as 1; of 2D images of one level */
   /* Where its memory is, from offset_B on, which others may use as well; NULL: the image has its
    * own. A buffer of agx_buffer_create, or imported, that keeps its memory. */
   struct agx_buffer *memory;
   uint64_t offset_B; /* a multiple of agx_image_info.align_B */
};

/* GPU memory, zeroed unless it is a buffer's, which is kept alive. AGX_UNIMPLEMENTED for formats
 * that are not known; AGX_INVALID_ARGUMENT for types, flags, samples and shapes that there are none
 * of; AGX_OUT_OF_RANGE beyond what the hardware takes, and where the buffer is too short;
 * AGX_PERMISSION_DENIED: a buffer that kernels may only read, for an image that they may write. */
AGX_API AGX_MUST_CHECK agx_status agx_image_create(struct agx_device *device,
                                                   const struct agx_image_desc *desc,
                                                   struct agx_image **out_image);

struct agx_image_info {
   uint32_t size;                               /* set by the caller */
   uint32_t type, width, height, depth, levels; /* of level 0 */
   uint32_t texel_B;
   uint64_t size_B; /* of its memory */
   bool is_linear;
   uint32_t samples;
   uint32_t align_B;        /* of its memory */
   uint64_t row_B, layer_B; /* of a linear one: from row to row, and from layer to layer; else 0 */
};
AGX_API void agx_image_get_info(struct agx_image *image, struct agx_image_info *out_info);

/* agx_image_get_info of an image that agx_image_create would make, but for its memory. Fails as
 * that does. */
AGX_API AGX_MUST_CHECK agx_status agx_image_get_requirements(struct agx_device *device,
                                                             const struct agx_image_desc *desc,
                                                             struct agx_image_info *out_info);

/* A part of one level. */
struct agx_image_region {
   uint32_t level;
   uint32_t x, y, z; /* z: the first slice or layer */
   uint32_t width, height, depth;
   uint32_t sample; /* of a multisampled image: which one of each texel */
};

/* Copies between an image and host memory at once, whatever the image's layout: texels in the
 * image's format, rows row_B apart, slices slice_B (0: one right behind the other). The caller
 * orders this with the GPU's work by semaphores. AGX_OUT_OF_RANGE: the image has no such part;
 * AGX_INVALID_ARGUMENT: a part without texels, rows or slices that overlap, or texels at NULL. */
AGX_API AGX_MUST_CHECK agx_status agx_image_write(struct agx_image *image,
                                                  const struct agx_image_region *region,
                                                  const void *texels, uint64_t row_B,
                                                  uint64_t slice_B);
AGX_API AGX_MUST_CHECK agx_status agx_image_read(struct agx_image *image,
                                                 const struct agx_image_region *region,
                                                 void *texels, uint64_t row_B, uint64_t slice_B);

/* Texels in a buffer, in an image's format: rows of a region one behind the other, and slices (or
 * layers) likewise. Of a block-compressed format, both numbers are of texels, too. */
struct agx_texels {
   struct agx_buffer_ref ref; /* of the first one, at a multiple of its bytes, or of 4 */
   uint32_t row_texels;       /* from row to row; 0: the region's width */
   uint32_t slice_rows;       /* from slice to slice; 0: the region's height */
};

/* Red, green, blue, alpha; which of the three an image's format says: integers for UINT and SINT.
 */
union agx_color {
   float float32[4]; /* clamped and rounded as the format does it */
   int32_t int32[4]; /* the low bits count */
   uint32_t uint32[4];
};

enum agx_filter {
   AGX_FILTER_NEAREST = 0,
   AGX_FILTER_LINEAR = 1,
   AGX_FILTER_NONE = 2, /* between levels: the first one only */
};

enum agx_wrap {
   AGX_WRAP_REPEAT = 0,
   AGX_WRAP_MIRROR = 1,
   AGX_WRAP_EDGE = 2,
   AGX_WRAP_BORDER = 3,
   AGX_WRAP_MIRROR_ONCE = 4,
};

enum agx_border {
   AGX_BORDER_TRANSPARENT_BLACK = 0,
   AGX_BORDER_OPAQUE_BLACK = 1,
   AGX_BORDER_OPAQUE_WHITE = 2,
};

/* What passes gives 1, the rest 0: reference OP texel. */
enum agx_compare {
   AGX_COMPARE_OFF = 0,
   AGX_COMPARE_NEVER = 1,
   AGX_COMPARE_LESS = 2,
   AGX_COMPARE_EQUAL = 3,
   AGX_COMPARE_LESS_OR_EQUAL = 4,
   AGX_COMPARE_GREATER = 5,
   AGX_COMPARE_NOT_EQUAL = 6,
   AGX_COMPARE_GREATER_OR_EQUAL = 7,
   AGX_COMPARE_ALWAYS = 8,
};

struct agx_sampler_desc {
   uint32_t size;
   const void *next;
   uint32_t magnify, minify, between_levels; /* enum agx_filter */
   uint32_t wrap[3];                         /* enum agx_wrap, along x, y, z */
   uint32_t border;                          /* enum agx_border */
   uint32_t max_anisotropy;                  /* 1, 2, 4, 8, 16; 0 counts as 1 */
   float min_lod, max_lod;                   /* max_lod 0 counts as no limit */
   bool texel_coordinates;                   /* in texels, not 0 to 1 */
   uint32_t compare; /* enum agx_compare: for what is sampled with a reference */
};

/* desc may be NULL: nearest texels of the nearest level, repeated. AGX_INVALID_ARGUMENT: numbers
 * that the enums above don't have. */
AGX_API AGX_MUST_CHECK agx_status agx_sampler_create(struct agx_device *device,
                                                     const struct agx_sampler_desc *desc,
                                                     struct agx_sampler **out_sampler);

#ifdef __cplusplus
}
#endif
