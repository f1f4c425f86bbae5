/* SPDX-License-Identifier: MIT
 *
 * The functions that emit code for the opcodes of op.def, one for each or for a family.
 */
#pragma once

#include "agx/compiler/spirv/value_impl.h"

typedef void (*agxc_spv_handler)(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* Emits code for an instruction of a function body; none for those that mean nothing there. */
void agxc_spv_run_instruction(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* A product as the application wrote it: it may wrap, other than strides (opt/address.c). */
struct agxc_ref agxc_spv_as_written(struct agxc_ref product);

/* a + b kept inside the range of `bits`, which may be fewer than those of a and b (dot.c). */
struct agxc_ref agxc_spv_add_limited(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref b,
                                     bool is_signed, unsigned bits);

/* What the neighbour of the own quad along an axis has, minus the own value: the derivative but for
 * its sign. Fails where the entry point has no quads (quad.c). */
struct agxc_ref agxc_spv_quad_step(struct agxc_spv *s, struct agxc_ref value, uint32_t axis);

/* To fewer bits, toward zero (convert.c). */
struct agxc_ref agxc_spv_narrow_toward_zero(struct agxc_spv *s, unsigned bits, struct agxc_ref x);
/* Whether a conversion is from or to floats that are only stored; and emits such a one
 * (small_float.c). */
bool agxc_spv_converts_small_floats(struct agxc_spv *s, const struct agxc_spv_instr *in);
void agxc_spv_convert_small_floats(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* Emits an operation that is one to one, as op.def says. */
void agxc_spv_op_alu(struct agxc_spv *s, const struct agxc_spv_instr *in);
#define OP(name, words, flags, handler)                                                            \
   void handler(struct agxc_spv *, const struct agxc_spv_instr *);
#include "agx/compiler/spirv/op.def"
