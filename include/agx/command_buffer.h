/* SPDX-License-Identifier: MIT
 *
 * Recording.
 */
#pragma once

#include "agx/buffer.h"
#include "agx/executable.h"
#include "agx/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Recorded between begin and end, then submitted any number of times, also while an
 * earlier submission of it is in flight. begin discards what was recorded, and fails with
 * AGX_FAILED_PRECONDITION while the command buffer is in flight. */
struct agx_command_buffer_desc {
   uint32_t size;
   const void *next;
   const char *label; /* for messages and captures; NULL: none */
   uint32_t flags;    /* 0 */
};

/* desc may be NULL. */
AGX_API AGX_MUST_CHECK agx_status
agx_command_buffer_create(struct agx_device *device, const struct agx_command_buffer_desc *desc,
                          struct agx_command_buffer **out_commands);
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_begin(struct agx_command_buffer *commands);
AGX_API AGX_MUST_CHECK agx_status agx_command_buffer_end(struct agx_command_buffer *commands);

/* An image of NULL, or a texel buffer of none, reads as 0 and drops what is stored. */
struct agx_binding {
   uint32_t set, binding;
   struct agx_buffer_ref ref; /* buffers; those of texels at a multiple of 16 bytes */
   uint32_t element;          /* of an array, else 0 */
   struct agx_image *image;   /* images; a kernel sees its levels from first_level on, */
   uint32_t first_level;      /* level_count of them (0: all that follow); stores go to the first */
   uint32_t level_count;
   struct agx_sampler *sampler;
   const char
      *format; /* of texels in a buffer; of an image: another one of the same size, or NULL */
   /* Of images that are read: what R, G, B, A are, of "rgba01", as "bgra" or "rrr1"; or NULL. */
   const char *swizzle;
   uint32_t first_layer; /* a kernel sees layers from here on, layer_count of them (0: all that */
   uint32_t layer_count; /* follow); cubes may be made of six of a 2D image's */
};

struct agx_dispatch {
   uint32_t size;
   const void *next;
   struct agx_executable *executable;
   uint32_t workgroups[3]; /* 0 in any: nothing runs, which is legal */
   uint32_t binding_count;
   const struct agx_binding *bindings; /* each binding of the executable once, any order */
   const void *push;                   /* push constants; at least the executable's push_B */
   uint32_t push_B;
};

/* Dispatches between two barriers are not ordered among each other. A recording error is
 * returned here and again by agx_command_buffer_end. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_dispatch(struct agx_command_buffer *commands,
                                                   const struct agx_dispatch *dispatch);

/* Where the elements of a location lie. */
struct agx_vertex_buffer {
   uint32_t location;
   struct agx_buffer_ref ref; /* what may be read; in robust modes NULL is no bytes */
   uint64_t offset_B; /* of element 0 from there; ref and it together aligned to a component */
};

/* One thread runs for each vertex of each instance. Its outputs are record
 * instance * vertex_count + vertex of the feedback buffers: where the module's Xfb decorations say,
 * else in buffer 0, the position first and then by location, without gaps. */
struct agx_vertex_dispatch {
   uint32_t size;
   const void *next;
   struct agx_executable *executable;
   uint32_t first, vertex_count; /* vertices, or positions in the index buffer */
   int32_t base_vertex;          /* added to indices; 0 for executables that take none */
   uint32_t base_instance;
   uint32_t instance_count; /* up to 65535; 0 of either count: nothing runs, which is legal */
   uint32_t draw_index;     /* what the kernel reads as gl_DrawID */
   uint32_t vertex_buffer_count;
   const struct agx_vertex_buffer *vertex_buffers; /* one for each location of the executable */
   struct agx_buffer_ref indices; /* positions behind its end read its last index, or 0; NULL, too,
                                     for executables that take none */
   uint32_t feedback_count;
   const struct agx_buffer_ref *feedback; /* by number; each must hold all records */
   uint32_t binding_count;
   const struct agx_binding *bindings; /* as in agx_dispatch */
   const void *push;
   uint32_t push_B;
};

/* Ordered as other dispatches. Elements that lie outside of ref are what the executable's
 * robustness says: any inside (of ref without any: zeros), or zeros; with AGX_ROBUST_OFF they must
 * not occur. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_dispatch_vertices(
   struct agx_command_buffer *commands, const struct agx_vertex_dispatch *dispatch);

/* Fills the target with a pattern of 1, 2 or 4 bytes, which is captured; no other byte is touched,
 * so that others may write its neighbours at the same time. Offset and length are multiples of
 * pattern_B; a length of 0 is legal. Ordered as a dispatch. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_fill(struct agx_command_buffer *commands,
                                               struct agx_buffer_ref target, const void *pattern,
                                               uint32_t pattern_B);

/* Copies bytes between ranges of the same length, at any offset; no other byte is touched. The
 * ranges must not overlap. Ordered as a dispatch. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_copy(struct agx_command_buffer *commands,
                                               struct agx_buffer_ref source,
                                               struct agx_buffer_ref target);

/* What stands before it has run, and its memory is visible, before what follows starts. */
AGX_API AGX_MUST_CHECK agx_status agx_cmd_barrier(struct agx_command_buffer *commands);

#ifdef __cplusplus
}
#endif
