/* SPDX-License-Identifier: MIT
 *
 * A clear or copy of an image as the application gave it, for image_transfer.c to record and for
 * deferred commands to keep.
 */
#pragma once

#include "agx/image.h"

enum agx_image_transfer_kind {
   AGX_IMAGE_TRANSFER_CLEAR,
   AGX_IMAGE_TRANSFER_COPY, /* from image to image */
   AGX_IMAGE_TRANSFER_TO,   /* texels of a buffer to an image */
   AGX_IMAGE_TRANSFER_FROM, /* an image to texels of a buffer */
};

/* What an agx_cmd_..._image function was given. */
struct agx_image_transfer {
   enum agx_image_transfer_kind kind;
   struct agx_image *source, *target; /* NULL: texels */
   struct agx_image_region source_region, target_region;
   bool is_whole; /* a clear of all levels */
   struct agx_texels texels;
   union agx_color color;
};
