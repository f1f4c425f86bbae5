/* SPDX-License-Identifier: MIT
 *
 * Where the texels of an image lie: linear, twiddled and GPU-tiled memory, with
 * mip levels, layers and samples, and the metadata of compressed images. An
 * element is a texel with all its samples, or a compressed block. The layout is
 * computed once from the image's shape; addresses then are a few shifts.
 * source: docs/hw/layouts.md
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define AGX_LAYOUT_MAX_LEVELS  16u
#define AGX_LAYOUT_MAX_SIDE    16384u /* texels in each of x, y and z */
#define AGX_LAYOUT_ALIGN_B     128u   /* of levels, metadata and linear layers */
#define AGX_LAYOUT_META_TILE   16u    /* samples a side that 8 bytes of metadata describe */
#define AGX_LAYOUT_META_TILE_B 8u

/* The hardware's codes. */
enum agx_layout_tiling {
   AGX_LAYOUT_LINEAR = 0,
   AGX_LAYOUT_TWIDDLED = 1,
   AGX_LAYOUT_GPU = 2, /* 16 KiB tiles: the normal case */
};

enum agx_layout_page_rule {
   AGX_LAYOUT_PAGES_AUTO, /* as Mesa decides it: `writeable` and the rest below count */
   AGX_LAYOUT_PAGES_OFF,
   AGX_LAYOUT_PAGES_ON, /* layers start on 16 KiB pages */
};

struct agx_layout_shape {
   enum agx_layout_tiling tiling;
   uint32_t width, height; /* texels of level 0 */
   uint32_t depth;         /* layers (six for each cube), or slices of a 3D image */
   uint32_t levels;        /* more than one: the whole chain is laid out */
   uint32_t samples;       /* 1, 2 or 4 */
   uint32_t block_B;       /* bytes of a texel's sample or of a compressed block: 1 to 16 */
   uint32_t block_w, block_h;
   uint32_t stride_B;       /* linear: bytes of a row, a multiple of 16; 0: chosen */
   uint64_t layer_stride_B; /* linear: bytes of a layer; 0: chosen */
   enum agx_layout_page_rule pages;
   bool is_3d; /* the chain goes on until the depth is 1 as well */
   bool is_depth_stencil, is_writeable, is_renderable;
   bool is_compressed; /* lossless: metadata follows the body */
};

struct agx_layout_level {
   uint64_t offset_B;                /* from the layer's start */
   uint32_t stride_el;               /* elements of a row */
   uint8_t tile_w_log2, tile_h_log2; /* elements; 0, 0 when linear */
   uint64_t meta_offset_B;           /* from the layer's metadata */
   uint8_t meta_w_log2, meta_h_log2; /* grid of metadata tiles */
};

struct agx_layout {
   enum agx_layout_tiling tiling;
   uint32_t width, height, depth;
   uint32_t level_count; /* as allocated */
   uint32_t samples;
   uint32_t element_B; /* with all samples */
   uint32_t block_w, block_h;
   uint32_t stride_B; /* linear only */
   uint64_t layer_stride_B, size_B;
   bool is_page_aligned;
   uint32_t meta_level_count; /* 0: not compressed */
   uint64_t meta_offset_B, meta_layer_stride_B;
   struct agx_layout_level level[AGX_LAYOUT_MAX_LEVELS];
};

/* AGX_OUT_OF_RANGE for sides, levels or strides that the hardware does not have,
 * AGX_INVALID_ARGUMENT for shapes that the tiling does not allow; the text names it. */
AGX_MUST_CHECK agx_status agx_layout_init(const struct agx_layout_shape *shape,
                                          struct agx_layout *out_layout);

/* Bytes from the image's start to an element's sample. In range: the caller's business. */
uint64_t agx_layout_offset(const struct agx_layout *layout, uint32_t level, uint32_t layer,
                           uint32_t x_el, uint32_t y_el, uint32_t sample);

/* Bytes from the image's start to the metadata of the 16x16 samples around texel x, y;
 * the level must have some. */
uint64_t agx_layout_meta_offset(const struct agx_layout *layout, uint32_t level, uint32_t layer,
                                uint32_t x, uint32_t y);

/* A sparse image's page table: 4 bytes for each 16 KiB of a layer, in folios of 256 entries whose
 * other half stays empty. Each layer begins a folio. Layers are page-aligned, or there is one. */
#define AGX_LAYOUT_SPARSE_ENTRY_B 4u

/* Bytes from the table's start to the entry of the page that holds a byte of a layer. */
uint64_t agx_layout_sparse_offset(const struct agx_layout *layout, uint32_t layer,
                                  uint64_t offset_B);
/* Bytes of the whole table. */
uint64_t agx_layout_sparse_size(const struct agx_layout *layout);
