/* SPDX-License-Identifier: MIT
 *
 * For tests of textures and images: one launch whose preamble loads the state from descriptors in
 * memory, and whose threads do one access each.
 */
#pragma once

#include "sim_support.h"

#include "agx/hw/packet.h"
#include "agx/layout/layout.h"

#define HEAP    SIM_DATA              /* descriptors: texture, PBE, sampler at 64 */
#define INPUT   (SIM_DATA + 0x10000)  /* 16 words a thread */
#define OUTPUT  (SIM_DATA + 0x20000)  /* 4 words a thread */
#define PIXELS  (SIM_DATA + 0x100000) /* the image */
#define THREADS 32

/* u0: heap, u2: input, u4: output; 64 bits each. */
#define PREAMBLE                                                                                   \
   "tex_state_store ts=ts0 heap=du0 offset=0 group=a; "                                            \
   "tex_state_store ts=ts1 heap=du0 offset=24 group=a; "                                           \
   "sampler_state_store ss=ss0 heap=du0 offset=64 group=a"
#define READ                                                                                       \
   "mfsr d=r0 sr=thread_in_grid_x\n"                                                               \
   "shl d=r1 b=r0 c=2\n"                                                                           \
   "load r=r4..r7 base=du2 index=r1 shift=lsl2 format=i32 mask=xyzw group=a\n"                     \
   "iadd d=r2 a=r1 b=1\n"                                                                          \
   "load r=r8..r11 base=du2 index=r2 shift=lsl2 format=i32 mask=xyzw group=a\n"                    \
   "iadd d=r2 a=r1 b=2\n"                                                                          \
   "load r=r12..r15 base=du2 index=r2 shift=lsl2 format=i32 mask=xyzw group=a\n"                   \
   "iadd d=r2 a=r1 b=3\n"                                                                          \
   "load r=r16..r19 base=du2 index=r2 shift=lsl2 format=i32 mask=xyzw group=a\n"                   \
   "wait group=a\n"
#define WRITE                                                                                      \
   "\nwait group=a\n"                                                                              \
   "store r=r20..r23 base=du4 index=r0 shift=lsl2 format=i32 mask=xyzw group=a"

#define FETCH_2D                                                                                   \
   READ "smpi r=r20..r23 texture=ts0 sampler=ss0 coord=r4 dim=2d mask=xyzw "                       \
        "lod_mode=auto_lod group=a" WRITE
#define SAMPLE                                                                                     \
   READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=2d mask=xyzw "               \
        "lod_mode=lod_min group=a" WRITE

struct image_case {
   struct sim_launch launch;
   struct agx_hw_texture texture;
   struct agx_hw_pbe pbe;
   struct agx_hw_sampler sampler;
   uint8_t *heap, *pixels;
   uint32_t (*input)[16];
   uint32_t (*output)[4];
};

/* An image of 8 x 8 texels of 32 bits as texture and as target, all of it for image_run(). */
void image_begin(struct image_case *c, const char *program);
/* Writes the three descriptors and launches. */
agx_status image_run(struct image_case *c);
void image_end(struct image_case *c);

uint32_t image_bits(float value);
float image_float(uint32_t bits);

/* Of an image in the GPU's tiles. Left out: depth 1, 1 level, 4 bytes a texel, blocks of 1x1. */
struct agx_layout image_layout(struct agx_layout_shape shape);
/* Fills a level of an R32 image with x + 10 y + 100 level + 1000 layer. */
void image_fill_level(struct image_case *c, const struct agx_layout *layout, uint32_t level,
                      uint32_t layer, uint32_t width, uint32_t height);
/* The same for all levels of the 8 x 8 image that image_begin() describes. */
void image_fill_plain(struct image_case *c);
