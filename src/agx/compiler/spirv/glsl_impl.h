/* SPDX-License-Identifier: MIT
 *
 * Between glsl.c (the table), glsl_math.c (functions of components) and
 * glsl_vector.c (functions of whole vectors and matrices).
 */
#pragma once

#include "agx/compiler/spirv/value_impl.h"

/* in's operands start behind the instruction number. */
#define DIRECT(name, kinds, op)
#define EACH(name, kinds, function)                                                                \
   struct agxc_ref function(struct agxc_spv *s, const struct agxc_ref *x);
#define DIRECT32 DIRECT
#define EACH32   EACH
#define WHOLE(name, function)                                                                      \
   void function(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t number);
#include "agx/compiler/spirv/glsl.def"
#undef DIRECT
#undef EACH
#undef DIRECT32
#undef EACH32
#undef WHOLE

/* A float of those bits: halves are widened, which is exact, or 32 bits rounded. */
struct agxc_ref agxc_spv_glsl_to_bits(struct agxc_spv *s, struct agxc_ref ref, unsigned bits);

/* A constant that halves hold exactly. */
struct agxc_ref agxc_spv_glsl_float(float value, unsigned bits);

/* Short names: float operations on as many bits as the operands have, 32 or 64. */
static inline struct agxc_ref agxc_spv_fadd(struct agxc_spv *s, struct agxc_ref a,
                                            struct agxc_ref b)
{
   return agxc_spv_build2(s, AGXC_OP_FADD, a, b);
}

/* a - b */
static inline struct agxc_ref agxc_spv_fsub(struct agxc_spv *s, struct agxc_ref a,
                                            struct agxc_ref b)
{
   return agxc_spv_build2(s, AGXC_OP_FSUB, a, b);
}

/* a * b */
static inline struct agxc_ref agxc_spv_fmul(struct agxc_spv *s, struct agxc_ref a,
                                            struct agxc_ref b)
{
   return agxc_spv_build2(s, AGXC_OP_FMUL, a, b);
}

/* a * b + c, rounded once; of 64 bits twice, which costs less */
static inline struct agxc_ref agxc_spv_ffma(struct agxc_spv *s, struct agxc_ref a,
                                            struct agxc_ref b, struct agxc_ref c)
{
   if (a.bits == 64)
      return agxc_spv_fadd(s, agxc_spv_fmul(s, a, b), c);
   return agxc_spv_build3(s, AGXC_OP_FFMA, 32, a, b, c);
}

/* An operation with one source. */
static inline struct agxc_ref agxc_spv_fop(struct agxc_spv *s, enum agxc_op op, struct agxc_ref a)
{
   return agxc_spv_build1(s, op, a.bits, a);
}
