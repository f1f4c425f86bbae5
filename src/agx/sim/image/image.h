/* SPDX-License-Identifier: MIT
 *
 * Textures, images, samplers and tile memory, from the bottom up: texels, unpacked descriptors,
 * one lane's access, and the instructions of a SIMD-group, which exec/memory.c calls.
 */
#pragma once

#include "agx/hw/packet.h"
#include "agx/hw/usc.h"
#include "agx/layout/layout.h"
#include "agx/sim/machine/format.h"
#include "agx/sim/machine/machine.h"
#include "agx/sim/memory/memory.h"

/* One texel between memory and numbers, in every format of descriptors. Channels are in memory
 * order here; swizzles and the sRGB curve belong to the descriptor. source: docs/hw/layouts.md 8 */

#define AGXS_TEXEL_MAX_BYTES 16u
/* Texels that a program loads by itself: a descriptor of them is there for its size, and for
 * fetches outside, which give zero. source: docs/hw/access.md 5.4 */
#define AGXS_TEXEL_EMULATED_BYTES 12u

struct agxs_texel_format;
struct agxs_texel;

/* Reads texel x, y of a block, whose channels that the format lacks are 0, the fourth 1. */
typedef void agxs_block_decoder(const struct agxs_texel_format *format, const uint8_t *bytes,
                                unsigned x, unsigned y, struct agxs_texel *out);

struct agxs_texel_format {
   uint8_t type;  /* enum agx_hw_texture_type */
   uint8_t bytes; /* of a texel or block: 1, 2, 4, 8 or 16; 12: emulated, hardware reads none */
   uint8_t count; /* channels in memory */
   uint8_t width[4];
   uint8_t packed; /* enum agx_isa_format of a word of small floats; 0: plain fields */
   bool is_int;    /* values are integers: not filtered */
   bool is_srgb;   /* of a block: its colours are meant for the sRGB curve */
   uint8_t block_w, block_h;
   agxs_block_decoder *decode; /* NULL: texels lie by themselves */
};

/* AGX_UNIMPLEMENTED names channels or a type that is not modelled (subsampled, PVRTC, ASTC's HDR
 * profile) or not known to exist together. */
AGX_MUST_CHECK agx_status agxs_texel_format_init(struct agxs_texel_format *format,
                                                 unsigned channels, unsigned type);

/* What texels are to arithmetic. Integer formats use bits (extended to 32), others real;
 * 32-bit floats have both, so that they can be passed on as they are. */
struct agxs_texel {
   double real[4];
   uint32_t bits[4];
};

/* Channels that memory lacks are 0, the fourth 1. x, y: of the texel in its block. */
void agxs_texel_load(const struct agxs_texel_format *format, const uint8_t *bytes, unsigned x,
                     unsigned y, struct agxs_texel *out);

/* Clamps and rounds to nearest even; toward_zero: floats are cut instead. Not for blocks. */
void agxs_texel_store(const struct agxs_texel_format *format, const struct agxs_texel *texel,
                      bool toward_zero, uint8_t *out_bytes);

/* A border colour's word for a memory channel, which is encoded as the format stores it;
 * is_curved: a colour channel of an sRGB format, which has 12 bits. */
void agxs_texel_border(const struct agxs_texel_format *format, unsigned channel, uint32_t word,
                       bool is_curved, struct agxs_texel *out);

/* Descriptors of textures, storage images and samplers, unpacked for use, and the
 * state registers that hold them in a dispatch. source: docs/hw/cmdstream.md
 * docs/hw/machine.md 14 */

#define AGXS_TEXTURE_STATES    256u
#define AGXS_SAMPLER_STATES    AGX_HW_SAMPLER_HEAP_FIRST
#define AGXS_TEXTURE_BYTES     24u
#define AGXS_SAMPLER_MAX_BYTES 24u

/* An image that a texture or PBE descriptor shows. */
struct agxs_texture {
   uint8_t descriptor[AGXS_TEXTURE_BYTES];
   uint8_t dimension; /* enum agx_hw_texture_dimension */
   struct agxs_texel_format format;
   uint8_t swizzle[4]; /* enum agx_hw_channel; PBE: what each memory channel takes */
   bool is_srgb;
   bool is_sparse; /* address: of its page table */
   uint64_t address;
   uint32_t first_level, level_count; /* of the view */
   uint32_t layers;                   /* layers, faces or slices */
   struct agx_layout layout;
};

/* From 24 bytes; AGX_UNIMPLEMENTED names what is not modelled, AGX_INVALID_ARGUMENT what
 * the hardware does not have. */
AGX_MUST_CHECK agx_status agxs_texture_init(struct agxs_texture *texture,
                                            const uint8_t descriptor[AGXS_TEXTURE_BYTES]);
/* The same of a PBE descriptor, which stores use. */
AGX_MUST_CHECK agx_status agxs_texture_init_pbe(struct agxs_texture *texture,
                                                const uint8_t descriptor[AGXS_TEXTURE_BYTES]);

struct agxs_sampler {
   struct agx_hw_sampler state;
   bool has_border;
   uint32_t border[4]; /* custom words, memory channels */
};

/* size: 8, or 24 with a border colour. */
AGX_MUST_CHECK agx_status agxs_sampler_init(struct agxs_sampler *sampler, const uint8_t *bytes,
                                            unsigned size);

/* The state registers of a dispatch. */
struct agxs_states {
   uint32_t texture_count; /* declared */
   uint32_t sampler_count, sampler_bytes;
   bool has_texture[AGXS_TEXTURE_STATES];
   bool has_sampler[AGXS_SAMPLER_STATES];
   uint8_t texture[AGXS_TEXTURE_STATES][AGXS_TEXTURE_BYTES];
   uint8_t sampler[AGXS_SAMPLER_STATES][AGXS_SAMPLER_MAX_BYTES];
};

/* How many samplers the launch's code declares, and the bytes of each; false: no code. */
bool agxs_states_declare_samplers(struct agxs_states *states, unsigned code);

/* Why an access failed. */
struct agxs_image_error {
   agx_status status; /* AGX_DATA_LOSS: memory; AGX_UNIMPLEMENTED; AGX_INVALID_ARGUMENT */
   uint64_t va;
   const char *reason; /* static */
};

/* An element inside of an image: a texel, or a block of a block-compressed format. */
struct agxs_texel_place {
   uint32_t level; /* of the image */
   uint32_t layer; /* or slice, or face */
   uint32_t x, y;
   uint32_t sample;
};

/* What was special about elements that were found. */
struct agxs_texel_notes {
   bool is_absent;      /* no memory: the image is sparse */
   uint64_t unknown_va; /* of metadata with a code that is not known, taken as unwritten; 0: none */
};

/* The bytes of an element to read: where it lies, or zeros. NULL: memory is not mapped. error->va
 * is where the element lies. */
const uint8_t *agxs_texture_read(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                                 const struct agxs_texel_place *place,
                                 struct agxs_texel_notes *notes, struct agxs_image_error *error);
/* The same to write; of a compressed image the block around it is stored plainly from then on.
 * NULL with error->status AGX_OK: a sparse image has no memory there, nothing is to be stored. */
uint8_t *agxs_texture_write(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                            const struct agxs_texel_place *place, struct agxs_texel_notes *notes,
                            struct agxs_image_error *error);

/* Marks the block around an element as stored plainly, before all of it is written; nothing to do
 * where the level has no metadata. False: it is not mapped. */
bool agxs_texture_set_plain(const struct agxs_texture *texture, struct agxs_tlb *tlb,
                            const struct agxs_texel_place *place, struct agxs_image_error *error);

/* The texture unit for one thread: texel fetch, filtering, wrap modes, cube maps,
 * gather, depth compare, and stores. source: docs/hw/machine.md 14,
 * docs/hw/cmdstream.md 4. [U] Filter weights are exact here, the way of
 * anisotropic probes and of cube corners is ours. */

struct agxs_texel_position {
   int64_t at[3];  /* texels; y and z 0 where the dimension has none */
   uint32_t layer; /* arrays, and the faces of cubes */
   uint32_t sample;
   int64_t level; /* of the view */
};

/* The geometry of cube maps: faces in the order +x, -x, +y, -y, +z, -z, each with s
 * to the right and t down, as Vulkan and GL have them. */

/* The face that a direction meets. */
unsigned agxs_cube_face(const double at[3]);
/* s and t in 0..1 of a direction on the face. */
void agxs_cube_to_face(const double at[3], unsigned face, double out[2]);
/* What s and t change by when the direction changes by `derivative`. */
void agxs_cube_derivative(const double at[3], const double derivative[3], double out[2]);
/* Moves a texel that lies beyond the edge of its face, of size by size texels, to the face
 * that it is on. */
void agxs_cube_cross_edge(int64_t size, unsigned *face, int64_t texel[2]);

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
   struct agxs_texel_notes notes; /* of the texels that counted */
   struct agxs_image_error error; /* of the last call that failed */
};

/* What a thread gets: R, G, B, A. */
struct agxs_result {
   struct agxs_texel texel;
   bool is_exact; /* one texel as it was: bits of 32-bit floats may be passed on */
   bool is_absent;
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

/* The texel; outside, what the sampler's wrap modes give, and 0 for a sample that the image lacks.
 * A level or layer outside of the view is clamped, as hardware does; *out_clamped tells when it
 * mattered. Coordinates of axes that the descriptor lacks don't count. */
bool agxs_sample_fetch(struct agxs_lookup *lookup, const struct agxs_texel_position *position,
                       struct agxs_result *out, bool *out_clamped);

/* Writes a texel of a PBE; outside it is dropped. Coordinates of axes that the descriptor lacks
 * don't count. texel: R, G, B, A. */
bool agxs_sample_store(struct agxs_lookup *lookup, const struct agxs_texel_position *position,
                       const struct agxs_texel *texel, bool toward_zero);

/* Marks the block of 16x16 samples around a texel as stored plainly, where the image is
 * compressed and the texel inside. */
bool agxs_sample_set_plain(struct agxs_lookup *lookup, const struct agxs_texel_position *position);

/* One lane of a texture or image access: its register values, the descriptors that
 * it names, and where it points to. */

/* What an access works with besides its coordinates. */
struct agxs_image_lane {
   struct agxs_group *group;
   const struct agxs_uop *uop;
   const struct agxs_image_op *op;
   struct agxs_image_cache *cache;
   unsigned index;
};

/* False: the group has failed. */
bool agxs_lane_begin(struct agxs_image_lane *lane, struct agxs_group *group,
                     const struct agxs_uop *uop);
/* Fails the group; returns false. */
bool agxs_lane_fail(const struct agxs_image_lane *lane, const struct agxs_image_error *error);
/* Tells of what a lane's texels had that is not known: a soft fault, in strict and check mode a
 * failure of the group. False: it has failed. */
bool agxs_lane_note(const struct agxs_image_lane *lane, const struct agxs_texel_notes *notes);

/* Element `element` of a register vector, in this lane. */
uint32_t agxs_lane_value(const struct agxs_image_lane *lane, const struct agxs_source *source,
                         unsigned element);

/* A lookup over the group's memory, its texture and sampler still open. */
struct agxs_lookup agxs_lane_lookup(const struct agxs_image_lane *lane);
/* What the instruction names, unpacked; good until the next one is asked for. NULL: the
 * group has failed. */
const struct agxs_texture *agxs_lane_texture(const struct agxs_image_lane *lane, bool is_pbe);
/* The sampler that the instruction names, unpacked; lives as the texture does. */
const struct agxs_sampler *agxs_lane_sampler(const struct agxs_image_lane *lane);

/* Layer and sample follow the coordinates, in low halves. */
void agxs_lane_layer(const struct agxs_image_lane *lane, uint32_t *out_layer, uint32_t *out_sample);
/* x, y, z as signed numbers of the register's size. */
void agxs_lane_position(const struct agxs_image_lane *lane, struct agxs_texel_position *position);

/* Pixels of a tile's row in tile memory when a compute program addresses it. [U] */
#define AGXS_TILE_SIDE 32u

/* Frees what a worker's image accesses have allocated; NULL is fine. */
void agxs_image_cache_free(struct agxs_image_cache *cache);

/* Each does one instruction for the active lanes; false: the group has failed. */
bool agxs_image_sample(struct agxs_group *group, const struct agxs_uop *uop);
/* Stores a texel of an image. */
bool agxs_image_write(struct agxs_group *group, const struct agxs_uop *uop);
/* Stores a tile of tile memory to an image. */
bool agxs_image_write_block(struct agxs_group *group, const struct agxs_uop *uop);
/* Loads a descriptor into a state register. */
bool agxs_image_load_state(struct agxs_group *group, const struct agxs_uop *uop, bool is_sampler);
/* Moves a pixel between registers and tile memory. */
bool agxs_image_tile(struct agxs_group *group, const struct agxs_uop *uop, bool is_store);
