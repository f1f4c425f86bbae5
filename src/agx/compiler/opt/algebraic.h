/* SPDX-License-Identifier: MIT
 *
 * What the files of opt_algebraic share. A rule looks at one instruction and returns what may
 * stand for it, or AGXC_NONE; what it builds on the way has been simplified itself.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Shifts up to here cost no more than an addition, and often nothing: additions and
 * addresses shift on the way. Source: docs/hw/idioms.md 2. */
#define AGXC_ALG_FREE_SHIFT 4

struct agxc_algebra {
   struct agxc_shader *shader;
   const struct agxc_instr *instr; /* that is looked at ... */
   struct agxc_builder at;         /* ... and the place before it */
   unsigned depth;                 /* of rules that build what rules look at */
   /* By value id, as the pass began: how many operands name it. */
   uint32_t *uses;
   uint32_t use_count;
};

/* Whether two products by constants may become one. An application's own (AGXC_INSTR_WRAPS) wraps
 * as it likes, a stride of the access chain does not (opt/address.c): what is made of both would
 * pass for a stride. */
static inline bool agxc_alg_may_join(const struct agxc_instr *outer, const struct agxc_instr *inner)
{
   return (outer->flags & AGXC_INSTR_WRAPS) || !(inner->flags & AGXC_INSTR_WRAPS);
}

/* Whether nothing but the instruction that is looked at uses the value. */
static inline bool agxc_alg_used_once(const struct agxc_algebra *a, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE &&
          (ref->value->id >= a->use_count || a->uses[ref->value->id] == 1);
}

/* A rule for a->instr, whose sources are x and y; of a SELECT these are what it chooses from. */
typedef struct agxc_ref agxc_rule(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y);
/* Rules for integers of 32 bits, booleans, and floats of 32 bits, by operation. */
extern agxc_rule *const agxc_int_rules[AGXC_OP_ISA];
extern agxc_rule *const agxc_bool_rules[AGXC_OP_ISA];
extern agxc_rule *const agxc_float_rules[AGXC_OP_ISA];

/* The instruction before the one that is looked at, simplified; sources follow. */
struct agxc_ref agxc_algebra_build(struct agxc_algebra *a, enum agxc_op op, unsigned bits,
                                   unsigned count, const struct agxc_ref *srcs);

/* agxc_algebra_build with one source. */
static inline struct agxc_ref agxc_alg1(struct agxc_algebra *a, enum agxc_op op, unsigned bits,
                                        struct agxc_ref x)
{
   return agxc_algebra_build(a, op, bits, 1, &x);
}

/* agxc_algebra_build with two sources. */
static inline struct agxc_ref agxc_alg2(struct agxc_algebra *a, enum agxc_op op, unsigned bits,
                                        struct agxc_ref x, struct agxc_ref y)
{
   return agxc_algebra_build(a, op, bits, 2, (struct agxc_ref[]){x, y});
}

/* agxc_algebra_build with three sources. */
static inline struct agxc_ref agxc_alg3(struct agxc_algebra *a, enum agxc_op op, unsigned bits,
                                        struct agxc_ref x, struct agxc_ref y, struct agxc_ref z)
{
   return agxc_algebra_build(a, op, bits, 3, (struct agxc_ref[]){x, y, z});
}

/* ---- looking ------------------------------------------------------------ */

/* A constant. */
static inline bool agxc_alg_is_const(const struct agxc_ref *ref)
{
   return ref->kind == AGXC_IMM;
}

/* The constant `value`, of 32 bits or fewer. */
static inline bool agxc_alg_equals(const struct agxc_ref *ref, uint32_t value)
{
   return ref->kind == AGXC_IMM && (uint32_t)ref->imm == value;
}

/* The definition, when it is that operation with a constant as second source. */
static inline const struct agxc_instr *agxc_alg_def_const(const struct agxc_ref *ref,
                                                          enum agxc_op op)
{
   const struct agxc_instr *def = agxc_def_as(*ref, op);
   return def && agxc_alg_is_const(agxc_src_b(def)) ? def : NULL;
}
