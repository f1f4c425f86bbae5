/* SPDX-License-Identifier: MIT
 *
 * A buffer: a range of a winsys buffer, which it owns, or which it shares as a view of
 * another buffer.
 */
#pragma once

#include "hal/device.h"

#define AGX_BUFFER_LABEL_BYTES 32

struct agx_buffer {
   struct agx_object object;
   struct agx_device *device; /* a view's is kept alive by its parent */
   struct agxw_bo *bo;        /* a view's is its parent's */
   struct agx_buffer *parent; /* what it is a view of, retained; NULL: it owns bo and device */
   uint64_t offset_B;         /* of its first byte in bo */
   uint64_t size_B;
   uint64_t address; /* of its first byte */
   uint32_t flags;   /* enum agx_buffer_flags */
   char label[AGX_BUFFER_LABEL_BYTES];
};

/* Makes *view, zeroed memory of the caller's, a buffer that shows size_B bytes of parent from
 * offset_B on, with one reference. It keeps parent alive until agx_buffer_fini_view, which the
 * type's destroy calls before it frees the memory. flags beyond the parent's restrict the view
 * further. AGX_OUT_OF_RANGE where the parent is shorter. label is copied, NULL: the parent's. */
AGX_MUST_CHECK agx_status agx_buffer_init_view(struct agx_buffer *view,
                                               const struct agx_object_type *type,
                                               struct agx_buffer *parent, uint64_t offset_B,
                                               uint64_t size_B, uint32_t flags, const char *label);
void agx_buffer_fini_view(struct agx_buffer *view);
