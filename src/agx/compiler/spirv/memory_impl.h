/* SPDX-License-Identifier: MIT
 *
 * Memory: addresses, loads and stores, workgroup memory, variables that are builtins, and images.
 */
#pragma once

#include "agx/compiler/spirv/value_impl.h"

/* ---- address.c --------------------------------------------------------- */

/* Device memory, push constants and Blocks in workgroup memory are laid out by the module. */
static inline bool agxc_spv_has_layout(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_PUSH ||
          p->place == AGXC_SPV_PLACE_GLOBAL || p->is_block;
}
/* Whether loads and stores address what p points to; slots, push constants, builtins and handles
 * are read otherwise. */
static inline bool agxc_spv_in_memory(const struct agxc_spv_pointer *p)
{
   return p->place == AGXC_SPV_PLACE_BUFFER || p->place == AGXC_SPV_PLACE_SHARED ||
          p->place == AGXC_SPV_PLACE_PRIVATE || p->place == AGXC_SPV_PLACE_GLOBAL;
}
/* The byte offset of a memory pointer. */
struct agxc_ref agxc_spv_offset(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                uint32_t plus_B);
/* How accesses through p are checked. */
enum agxc_robustness agxc_spv_robustness(const struct agxc_spv *s,
                                         const struct agxc_spv_pointer *p);
/* Moves the dynamic part of p, which is in memory, by index elements of stride_B bytes. */
void agxc_spv_add_dynamic(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                          uint32_t stride_B);
/* Moves p, which is in memory, by a constant: bindings modulo 2^32, addresses in 64 bits. */
void agxc_spv_add_constant(struct agxc_spv *s, struct agxc_spv_pointer *p, int64_t by_B);
/* Moves an address by index elements, in 64 bits: memory behind it may have any size. */
void agxc_spv_move_address(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                           bool is_signed, uint32_t stride_B);
/* Moves it by that many bytes, of 32 bits and without sign; an address by 64 bits, too. */
void agxc_spv_add_bytes(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref by_B);
/* As agxc_spv_add_dynamic, for a buffer that is known only at run time: what would wrap stays
 * beyond its end. stride_B is not 0. */
void agxc_spv_add_saturated(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index,
                            uint32_t stride_B);
/* For GLOBAL pointers: base and offset of an access of that many bytes, which robust code makes
 * sure to be inside the buffer, or a sink. */
void agxc_spv_check_access(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t bytes,
                           bool writes, struct agxc_ref *base, struct agxc_ref *offset);
/* The index of p's binding, which is marked as used with that access (AGX_BINDING_READS and its
 * like); fails for an array of buffers as a whole and for writes to what is read-only. */
uint32_t agxc_spv_use_binding(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                              uint32_t access);

/* ---- memory.c, variable.c ---------------------------------------------- */

/* The scalars of what p points to, in memory, slots, push constants or builtins. A volatile access
 * happens as written. */
struct agxc_ref *agxc_spv_load(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                               bool is_volatile);
/* Writes scalars to what p points to; fails for places that are read-only. */
void agxc_spv_store(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                    const struct agxc_ref *refs, bool is_volatile);
/* A vector at a memory pointer: count elements of that many bits, 8 to 32. */
void agxc_spv_load_vector(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t bits,
                          uint32_t count, bool is_volatile, struct agxc_ref *out);
/* Likewise written: count elements, all as wide as the first. */
void agxc_spv_store_vector(struct agxc_spv *s, const struct agxc_spv_pointer *p, uint32_t count,
                           const struct agxc_ref *refs, bool is_volatile);
/* Makes p, which points into a Function or Private variable, a pointer to memory of its own: an
 * element of an array that has none. Code that never runs may access it. */
void agxc_spv_point_nowhere(struct agxc_spv *s, struct agxc_spv_pointer *p,
                            struct agxc_spv_type *type);
/* Whether an id is OpConstantNull of a type that is too large for values; fails unless of `type`.
 */
bool agxc_spv_is_zeros(struct agxc_spv *s, uint32_t id, const struct agxc_spv_type *type);
/* Stores zeros to what p, which is in memory, points to. */
void agxc_spv_clear(struct agxc_spv *s, const struct agxc_spv_pointer *p);
/* Moves p, which points to an array, vector or matrix, to a part of it by an index of 32 bits. */
void agxc_spv_step_to(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index);
/* Moves p to member i of a struct. */
void agxc_spv_step_into_member(struct agxc_spv *s, struct agxc_spv_pointer *p, uint32_t i);
/* Slots for Private variables, and their initializers; at the entry point's start. */
void agxc_spv_init_privates(struct agxc_spv *s);

/* ---- shared.c ---------------------------------------------------------- */

/* Gives a workgroup variable its place, once; fails where memory ends. */
void agxc_spv_allocate_shared(struct agxc_spv *s, struct agxc_spv_variable *var);
/* Of a pointer to dynamic_shared. */
struct agxc_ref agxc_spv_dynamic_shared_offset(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                               uint32_t plus_B);
/* Zeros for workgroup variables that ask for them; at the entry point's start. */
void agxc_spv_init_shared(struct agxc_spv *s);

/* ---- builtin.c --------------------------------------------------------- */

/* A component of what p points to, which is a variable decorated BuiltIn. */
struct agxc_ref agxc_spv_read_builtin(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                      uint32_t component);
/* A system value (enum agxc_sysval) as the module counts invocations: those of a quad are lanes 4k
 * to 4k + 3 (quad.c). */
struct agxc_ref agxc_spv_quad_sysval(struct agxc_spv *s, uint32_t sysval);
/* Threads of a workgroup along an axis, where the launch chooses. */
struct agxc_ref agxc_spv_local_size(struct agxc_spv *s, uint32_t axis);
/* The first word of SubgroupEqMask and its like. */
struct agxc_ref agxc_spv_subgroup_mask(struct agxc_spv *s, uint32_t builtin);

/* ---- image.c: images, samplers and their handles ---------------------------- */

/* enum agx_binding_kind of a variable that is a handle. */
uint32_t agxc_spv_handle_kind(const struct agxc_spv_type *type);
/* The dimension of an image's descriptor: AGX_ISA_DIM_*. */
uint32_t agxc_spv_image_dim(const struct agxc_spv_type *image);
/* The value that OpLoad of such a variable gives, and what is made of it. */
void agxc_spv_load_handle(struct agxc_spv *s, const struct agxc_spv_instr *in,
                          const struct agxc_spv_pointer *p);
/* The variable of an image, which must have been loaded; with a sampler where one is needed. */
const struct agxc_spv_pointer *agxc_spv_image(struct agxc_spv *s, uint32_t id, bool sampled);
/* The image's type, also of a sampled image. */
const struct agxc_spv_type *agxc_spv_image_type(const struct agxc_spv_pointer *image);
/* A property that the driver knows when it binds the image, in 32 bits; of AGX_IMAGE_ADDRESS 64. */
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
