/* SPDX-License-Identifier: MIT
 *
 * The texture unit for one thread: texel fetch, filtering, wrap modes, cube maps,
 * gather, depth compare, and stores. source: docs/hw/machine.md 14,
 * docs/hw/cmdstream.md 4. [U] Filter weights are exact here, the way of
 * anisotropic probes and of cube corners is ours.
 */
#pragma once

#include "agx/sim/image/texture.h"

struct agxs_lookup {
   struct agxs_tlb *tlb;
   const struct agxs_texture *texture;
   const struct agxs_sampler *sampler; /* NULL for stores */
   bool has_reference;                 /* compare with it */
   double reference;
   int offset[3];
   /* Each texel's address, for statistics; may be NULL. */
   void (*touch)(void *user, uint64_t va, unsigned bytes);
   void *user;
   /* Check mode: R, G, B, A of a texel to store that are undefined (a bit each); after a
    * failure for that reason, those that would have been stored. */
   uint32_t undefined;
   struct agxs_image_error error; /* of the last call that failed */
};

/* What a thread gets: R, G, B, A. */
struct agxs_result {
   struct agxs_texel texel;
   bool is_exact; /* one texel as it was: bits of 32-bit floats may be passed on */
};

struct agxs_position {
   double at[3];        /* normalised, or texels with a sampler of pixel coordinates */
   uint32_t layer;      /* arrays only */
   double dx[3], dy[3]; /* per pixel, in the units of `at` */
};

/* The level of detail from the derivatives, before bias and clamping; anisotropy lowers it,
 * then *out_probes samples along out_step are to be averaged. */
double agxs_sample_lod(const struct agxs_lookup *lookup, const struct agxs_position *position,
                       unsigned *out_probes, double out_step[3]);
/* Clamped to the sampler's range. */
double agxs_sample_clamp(const struct agxs_lookup *lookup, double lod);

/* False: memory failed. */
bool agxs_sample(struct agxs_lookup *lookup, const struct agxs_position *position, double lod,
                 struct agxs_result *out);
/* Channel `channel` of the four texels that a linear filter would mix. */
bool agxs_sample_gather(struct agxs_lookup *lookup, const struct agxs_position *position,
                        unsigned channel, struct agxs_result *out);

struct agxs_texel_position {
   int64_t at[3];  /* texels; y and z 0 where the dimension has none */
   uint32_t layer; /* arrays, and the faces of cubes */
   uint32_t sample;
   int64_t level; /* of the view */
};

/* The texel; outside, what the sampler's wrap modes give. A level or layer outside of the
 * view is clamped, as hardware does; *out_clamped tells when it mattered. */
bool agxs_sample_fetch(struct agxs_lookup *lookup, const struct agxs_texel_position *position,
                       struct agxs_result *out, bool *out_clamped);

/* Writes a texel of a PBE; outside it is dropped. texel: R, G, B, A. */
bool agxs_sample_store(struct agxs_lookup *lookup, const struct agxs_texel_position *position,
                       const struct agxs_texel *texel, bool toward_zero);

/* Marks the block of 16x16 samples around a texel as stored plainly, where the image is
 * compressed and the texel inside. */
bool agxs_sample_set_plain(struct agxs_lookup *lookup, const struct agxs_texel_position *position);
