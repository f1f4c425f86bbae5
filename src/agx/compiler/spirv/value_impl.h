/* SPDX-License-Identifier: MIT
 *
 * Values: builders that fold constants, what ids stand for, and slots. All handlers need them.
 */
#pragma once

#include "agx/compiler/spirv/reader_impl.h"

/* ---- values and builders ----------------------------------------------- */

/* The scalars of a value; the id must be a value that is in scope. */
struct agxc_ref *agxc_spv_value(struct agxc_spv *s, uint32_t id, struct agxc_spv_type **out_type);
/* As agxc_spv_value, with a check of the type's shape. */
struct agxc_ref *agxc_spv_value_like(struct agxc_spv *s, uint32_t id,
                                     const struct agxc_spv_type *type);
/* in's result type, whose component must be of that kind: a scalar, vector or cooperative matrix.
 */
struct agxc_spv_type *agxc_spv_result_type(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                           enum agxc_spv_kind kind);
/* Operand i, which must have count components of that kind. */
struct agxc_ref *agxc_spv_components(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                     uint32_t i, enum agxc_spv_kind kind, uint32_t count);
/* One scalar of that kind (AGXC_SPV_BOOL, AGXC_SPV_INT or AGXC_SPV_FLOAT). */
struct agxc_ref agxc_spv_scalar(struct agxc_spv *s, uint32_t id, enum agxc_spv_kind kind);
/* An integer scalar of any width as 32 bits: an index, an amount, a count. */
struct agxc_ref agxc_spv_index(struct agxc_spv *s, uint32_t id);
/* An integer cut or extended to that many bits. */
struct agxc_ref agxc_spv_resize(struct agxc_spv *s, struct agxc_ref ref, unsigned bits,
                                bool is_signed);
/* The pointer behind an id, which must be in scope; the id may be a value of pointer type. */
struct agxc_spv_pointer *agxc_spv_pointer_of(struct agxc_spv *s, uint32_t id);
/* A copy of a pointer in the arena, to be changed. */
struct agxc_spv_pointer *agxc_spv_pointer_copy(struct agxc_spv *s,
                                               const struct agxc_spv_pointer *p);
/* Publishes in's result; refs are count(type) scalars and are kept. */
void agxc_spv_define(struct agxc_spv *s, const struct agxc_spv_instr *in, struct agxc_ref *refs);
/* Publishes one scalar; in's result type must be of that kind and as wide. */
void agxc_spv_define_scalar(struct agxc_spv *s, const struct agxc_spv_instr *in,
                            enum agxc_spv_kind kind, struct agxc_ref value);
/* Likewise of a result that is a pointer, whose parts stay known; it is kept. */
void agxc_spv_define_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in,
                             struct agxc_spv_pointer *pointer);
/* An array of at least one reference, in the arena. */
struct agxc_ref *agxc_spv_refs(struct agxc_spv *s, uint32_t count);

/* An operation with one source and a result of those bits; folded for integer constants. */
struct agxc_ref agxc_spv_build1(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a);
/* One with two, likewise; the result is as wide as a, for a comparison one bit. */
struct agxc_ref agxc_spv_build2(struct agxc_spv *s, enum agxc_op op, struct agxc_ref a,
                                struct agxc_ref b);
/* One with three; not folded. */
struct agxc_ref agxc_spv_build3(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a, struct agxc_ref b, struct agxc_ref c);
/* yes where cond is 1, else no; folded when cond is a constant. */
struct agxc_ref agxc_spv_select(struct agxc_spv *s, struct agxc_ref cond, struct agxc_ref yes,
                                struct agxc_ref no);
/* The words of a 64-bit value, or the halves of a 32-bit one. */
void agxc_spv_unpack(struct agxc_spv *s, struct agxc_ref wide, struct agxc_ref *low,
                     struct agxc_ref *high);
/* An immediate of 32 bits. */
static inline struct agxc_ref agxc_spv_u32(uint32_t value)
{
   return agxc_imm(value, 32);
}
/* A 32-bit float as an immediate. */
struct agxc_ref agxc_spv_f32(float value);
/* An operation with count sources and one scalar as result, which a table names; not folded. */
struct agxc_ref agxc_spv_build_alu(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                   unsigned count, const struct agxc_ref *sources);

/* ---- float modes ------------------------------------------------------- */

/* Whether decorations of that result ask for it to be computed as written. */
bool agxc_spv_is_precise(struct agxc_spv *s, uint32_t id);
/* A result as the module's modes want it; the instruction that made it is marked. */
struct agxc_ref agxc_spv_apply_float_modes(struct agxc_spv *s, struct agxc_ref result);

/* ---- pointers as values ------------------------------------------------ */

/* A pointer as scalars. Fails for storage classes whose pointers have no values. */
struct agxc_ref *agxc_spv_pointer_refs(struct agxc_spv *s, const struct agxc_spv_pointer *p);
/* Makes a pointer to an array of buffers one to the buffer that index tells when it runs. */
void agxc_spv_choose_buffer(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index);
/* The same of a variable whose descriptors are in the heap, array or not. */
void agxc_spv_look_up_buffer(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref index);
/* The pointer, or where it is of a variable in the heap that is no array, one that says so. */
struct agxc_spv_pointer *agxc_spv_pointer_in_heap(struct agxc_spv *s, struct agxc_spv_pointer *p);
/* An index into p's array; where code is to be robust, at most the last element's. */
struct agxc_ref agxc_spv_clamp_element(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                       struct agxc_ref index);
/* The pointer that such scalars of a pointer type mean. */
struct agxc_spv_pointer *agxc_spv_pointer_from(struct agxc_spv *s, const struct agxc_spv_type *type,
                                               const struct agxc_ref *refs);

/* ---- slots (ir/ssa.h) -------------------------------------------------- */

/* What the slot holds where code is being emitted. */
static inline struct agxc_ref agxc_spv_slot_read(struct agxc_spv *s, uint32_t slot)
{
   return agxc_slot_read(s->ssa, s->b.block, slot);
}

/* Writes the slot where code is being emitted. */
static inline void agxc_spv_slot_write(struct agxc_spv *s, uint32_t slot, struct agxc_ref value)
{
   agxc_slot_write(s->ssa, s->b.block, slot, value);
}
