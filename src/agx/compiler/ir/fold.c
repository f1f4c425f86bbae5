/* SPDX-License-Identifier: MIT
 *
 * Computes generic operations whose operands are constants, by a table with one rule for each
 * operation. The front end calls it for whatever it builds, opt_algebraic for what other passes
 * leave.
 */
#include "agx/compiler/ir/fold.h"

#include <string.h>

#include "base/half.h"

/* What a rule sees: sources of w bits, zero-extended, and sign-extended as sa, sb. */
struct inputs {
   unsigned w, to; /* to: of the result */
   uint64_t a, b;
   int64_t sa, sb;
};

static int64_t sign_extended(uint64_t value, unsigned bits)
{
   return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static uint64_t umulh(const struct inputs *in)
{
   return (uint64_t)((unsigned __int128)in->a * in->b >> in->w);
}

static uint64_t smulh(const struct inputs *in)
{
   return (uint64_t)((__int128)in->sa * in->sb >> in->w);
}

/* The least integer divided by -1 wraps; in C it would be undefined. */
static uint64_t sdiv(const struct inputs *in)
{
   return in->sb == -1 ? 0u - in->a : in->sb ? (uint64_t)(in->sa / in->sb) : 0;
}

static uint64_t srem(const struct inputs *in)
{
   return in->sb == -1 || in->sb == 0 ? 0 : (uint64_t)(in->sa % in->sb);
}

static uint64_t smod(const struct inputs *in)
{
   int64_t rest = (int64_t)srem(in);
   return (uint64_t)(rest && (rest < 0) != (in->sb < 0) ? rest + in->sb : rest);
}

static uint64_t bitrev(const struct inputs *in)
{
   uint64_t out = 0;
   for (unsigned i = 0; i < in->w; i++)
      out |= (in->a >> i & 1) << (in->w - 1 - i);
   return out;
}

static uint32_t flushed(uint32_t bits)
{
   return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static uint64_t long_float(uint32_t bits)
{
   float value;
   bits = flushed(bits);
   memcpy(&value, &bits, sizeof(value));
   double wide = (double)value;
   uint64_t out;
   memcpy(&out, &wide, sizeof(out));
   return out;
}

/* For a half the single is rounded to odd, toward zero with a last bit for what is lost, so that
 * nothing is rounded twice. */
static uint64_t from_long_float(uint64_t in, unsigned to)
{
   double value, back;
   float near;
   uint32_t bits;
   memcpy(&value, &in, sizeof(value));
   near = (float)value;
   memcpy(&bits, &near, sizeof(bits));
   if (to == 32)
      return flushed(bits);
   back = (double)near;
   if (value == value && back != value) {
      bool is_beyond = value < 0 ? back < value : back > value;
      bits = (bits - is_beyond) | 1;
   }
   memcpy(&near, &bits, sizeof(near));
   return agx_half_from_float(near);
}

/* Exact upwards, to nearest even downwards; 32-bit denormals count as 0, as everywhere. */
static uint64_t f2f(const struct inputs *in)
{
   uint32_t bits = (uint32_t)in->a;
   float value;
   if (in->w == 64)
      return in->to == 64 ? in->a : from_long_float(in->a, in->to);
   if (in->w == in->to)
      return in->w == 32 && !(bits & 0x7f800000u) ? bits & 0x80000000u : in->a;
   if (in->w == 16) {
      value = agx_half_to_float((uint16_t)in->a);
      memcpy(&bits, &value, sizeof(bits));
      return in->to == 64 ? long_float(bits) : bits;
   }
   if (in->to == 64)
      return long_float(bits);
   memcpy(&value, &bits, sizeof(value));
   return agx_half_from_float(value);
}

#define SIGN(in) (1ull << ((in)->w - 1))

/* RULE(operation, expression over `in`) */
#define RULES                                                                                      \
   RULE(PACK64, in->a | in->b << 32)                                                               \
   RULE(PACK32, in->a | in->b << 16)                                                               \
   RULE(IADD, in->a + in->b)                                                                       \
   RULE(ISUB, in->a - in->b)                                                                       \
   RULE(IMUL, in->a * in->b)                                                                       \
   RULE(UMULH, umulh(in))                                                                          \
   RULE(SMULH, smulh(in))                                                                          \
   RULE(UDIV, in->b ? in->a / in->b : 0)                                                           \
   RULE(UMOD, in->b ? in->a % in->b : 0)                                                           \
   RULE(SDIV, sdiv(in))                                                                            \
   RULE(SREM, srem(in))                                                                            \
   RULE(SMOD, smod(in))                                                                            \
   RULE(INEG, 0u - in->a)                                                                          \
   RULE(IAND, in->a & in->b)                                                                       \
   RULE(IOR, in->a | in->b)                                                                        \
   RULE(IXOR, in->a ^ in->b)                                                                       \
   RULE(INOT, ~in->a)                                                                              \
   RULE(ISHL, in->b < in->w ? in->a << in->b : 0)                                                  \
   RULE(USHR, in->b < in->w ? in->a >> in->b : 0)                                                  \
   RULE(ASHR, (uint64_t)(in->sa >> AGX_MIN(in->b, (uint64_t)in->w - 1)))                           \
   RULE(IMIN, in->sa < in->sb ? in->a : in->b)                                                     \
   RULE(IMAX, in->sa > in->sb ? in->a : in->b)                                                     \
   RULE(UMIN, AGX_MIN(in->a, in->b))                                                               \
   RULE(UMAX, AGX_MAX(in->a, in->b))                                                               \
   RULE(BITCOUNT, (uint64_t)__builtin_popcountll(in->a))                                           \
   RULE(BITREV, bitrev(in))                                                                        \
   RULE(FIND_UMSB, in->a ? 63u - (uint64_t)__builtin_clzll(in->a) : ~0ull)                         \
   RULE(ZEXT, in->a)                                                                               \
   RULE(SEXT, (uint64_t)in->sa)                                                                    \
   RULE(F2F, f2f(in))                                                                              \
   RULE(TRUNC, in->a)                                                                              \
   RULE(IEQ, in->a == in->b)                                                                       \
   RULE(INE, in->a != in->b)                                                                       \
   RULE(ULT, in->a < in->b)                                                                        \
   RULE(UGE, in->a >= in->b)                                                                       \
   RULE(SLT, in->sa < in->sb)                                                                      \
   RULE(SGE, in->sa >= in->sb)                                                                     \
   RULE(FNEG, in->a ^ SIGN(in))                                                                    \
   RULE(FABS, in->a & ~SIGN(in))

#define RULE(op, value)                                                                            \
   static uint64_t fold_##op(const struct inputs *in)                                              \
   {                                                                                               \
      return value;                                                                                \
   }
RULES
#undef RULE

static uint64_t (*const rules[AGXC_OP_ISA])(const struct inputs *in) = {
#define RULE(op, value) [AGXC_OP_##op] = fold_##op,
   RULES
#undef RULE
};

struct agxc_ref agxc_fold(enum agxc_op op, unsigned bits, struct agxc_ref a, struct agxc_ref b)
{
   bool is_const = a.kind == AGXC_IMM && (b.kind == AGXC_IMM || b.kind == AGXC_NONE);
   if (op >= AGXC_OP_ISA || !rules[op] || !is_const)
      return agxc_none();
   struct inputs in = {.w = a.bits, .to = bits, .a = (uint64_t)a.imm};
   in.sa = sign_extended(in.a, a.bits);
   if (b.kind == AGXC_IMM) {
      in.b = (uint64_t)b.imm;
      in.sb = sign_extended(in.b, b.bits);
   }
   return agxc_imm(rules[op](&in), bits);
}

/* ---- floats --------------------------------------------------------------- */

#define NAN_BITS      0x7fc00000u
#define LONG_NAN_BITS 0x7ff8000000000000ull

float agxc_float_of(const struct agxc_ref *ref)
{
   if (ref->bits == 16)
      return agx_half_to_float((uint16_t)ref->imm);
   uint32_t bits = flushed((uint32_t)ref->imm);
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* Sums and products of halves, computed as singles, round to what they would have been at once. */
struct agxc_ref agxc_float_constant(unsigned width, float value)
{
   uint32_t bits;
   if (width == 16)
      return agxc_imm(agx_half_from_float(value), 16);
   memcpy(&bits, &value, sizeof(bits));
   return agxc_u32(value != value ? NAN_BITS : flushed(bits));
}

static double double_of(struct agxc_ref ref)
{
   double value;
   uint64_t bits = (uint64_t)ref.imm;
   if (ref.bits != 64)
      return (double)agxc_float_of(&ref);
   memcpy(&value, &bits, sizeof(value));
   return value;
}

static struct agxc_ref double_constant(double value)
{
   uint64_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return agxc_imm(value != value ? LONG_NAN_BITS : bits, 64);
}

static struct agxc_ref fold_compare(enum agxc_op op, double x, double y)
{
   bool results[] = {
      [AGXC_OP_FEQ - AGXC_OP_FEQ] = x == y,
      [AGXC_OP_FNE - AGXC_OP_FEQ] = x != y,
      [AGXC_OP_FLT - AGXC_OP_FEQ] = x < y,
      [AGXC_OP_FGE - AGXC_OP_FEQ] = x >= y,
   };
   return agxc_imm(results[op - AGXC_OP_FEQ], 1);
}

static struct agxc_ref fold_double(enum agxc_op op, double x, double y)
{
   switch (op) {
   case AGXC_OP_FADD:
      return double_constant(x + y);
   case AGXC_OP_FSUB:
      return double_constant(x - y);
   case AGXC_OP_FMUL:
      return double_constant(x * y);
   default:
      return agxc_none();
   }
}

static uint32_t to_integer(float x, bool is_signed)
{
   if (x != x)
      return 0;
   if (is_signed)
      return x >= 2147483648.0f   ? INT32_MAX
             : x < -2147483648.0f ? 0x80000000u
                                  : (uint32_t)(int32_t)x;
   return x >= 4294967296.0f ? UINT32_MAX : x > 0 ? (uint32_t)x : 0;
}

/* Between words. */
static struct agxc_ref fold_conversion(enum agxc_op op, uint32_t bits, float x)
{
   switch (op) {
   case AGXC_OP_F2U:
      return agxc_u32(to_integer(x, false));
   case AGXC_OP_F2S:
      return agxc_u32(to_integer(x, true));
   case AGXC_OP_U2F:
      return agxc_float_constant(32, (float)bits);
   case AGXC_OP_S2F:
      return agxc_float_constant(32, (float)(int32_t)bits);
   default:
      return agxc_none();
   }
}

struct agxc_ref agxc_fold_float(enum agxc_op op, unsigned width, struct agxc_ref a,
                                struct agxc_ref b)
{
   if (a.kind != AGXC_IMM || (b.kind != AGXC_IMM && b.kind != AGXC_NONE))
      return agxc_none();
   if (op >= AGXC_OP_FEQ && op <= AGXC_OP_FGE)
      return fold_compare(op, double_of(a), double_of(b));
   if (a.bits == 64 || width == 64)
      return a.bits == width && b.bits == width ? fold_double(op, double_of(a), double_of(b))
                                                : agxc_none();
   float x = agxc_float_of(&a), y = b.kind == AGXC_IMM ? agxc_float_of(&b) : 0;
   switch (op) {
   case AGXC_OP_FADD:
      return agxc_float_constant(width, x + y);
   case AGXC_OP_FSUB:
      return agxc_float_constant(width, x - y);
   case AGXC_OP_FMUL:
      return agxc_float_constant(width, x * y);
   case AGXC_OP_FMIN:
      return x == x && !(y < x) ? a : b;
   case AGXC_OP_FMAX:
      return x == x && !(y > x) ? a : b;
   case AGXC_OP_FSAT:
      return agxc_float_constant(width, x > 1 ? 1 : x > 0 ? x : 0);
   case AGXC_OP_FRCP:
      return agxc_float_constant(width, 1 / x);
   default:
      return a.bits == 32 && width == 32 ? fold_conversion(op, (uint32_t)a.imm, x) : agxc_none();
   }
}

/* ---- identities ------------------------------------------------------------- */

/* Operations with two sources: the number that changes nothing, and the one that the result is
 * then, as the second source; of commutative ones as the first source, too. */
static const struct {
   uint16_t op;
   int8_t neutral, absorbing; /* where they are equal, none absorbs */
} identities[] = {
   {AGXC_OP_IADD, 0, 0}, {AGXC_OP_ISUB, 0, 0}, {AGXC_OP_IMUL, 1, 0},  {AGXC_OP_UDIV, 1, 1},
   {AGXC_OP_IOR, 0, -1}, {AGXC_OP_IXOR, 0, 0}, {AGXC_OP_IAND, -1, 0}, {AGXC_OP_ISHL, 0, 0},
   {AGXC_OP_USHR, 0, 0}, {AGXC_OP_ASHR, 0, 0}, {AGXC_OP_UMIN, -1, 0}, {AGXC_OP_UMAX, 0, -1},
};

static bool is_number(struct agxc_ref ref, int8_t number)
{
   return ref.kind == AGXC_IMM && (uint64_t)ref.imm == ((uint64_t)number & agx_bits(ref.bits));
}

struct agxc_ref agxc_fold_identity(enum agxc_op op, struct agxc_ref a, struct agxc_ref b)
{
   size_t i = 0;
   while (i < AGX_COUNT(identities) && identities[i].op != op)
      i++;
   if (i == AGX_COUNT(identities))
      return agxc_none();
   int8_t neutral = identities[i].neutral, absorbing = identities[i].absorbing;
   if (is_number(b, neutral))
      return a;
   if (is_number(b, absorbing))
      return b;
   if (!(agxc_op_info(op)->flags & AGXC_COMMUTATIVE))
      return op != AGXC_OP_ISUB && is_number(a, 0) ? a : agxc_none();
   if (is_number(a, neutral))
      return b;
   return is_number(a, absorbing) ? a : agxc_none();
}

struct agxc_ref agxc_build1_folded(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                                   struct agxc_ref a)
{
   struct agxc_ref folded = agxc_fold(op, bits, a, agxc_none());
   return folded.kind == AGXC_NONE ? agxc_build1(b, op, bits, a) : folded;
}

struct agxc_ref agxc_build2_folded(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                                   struct agxc_ref a, struct agxc_ref c)
{
   struct agxc_ref result = agxc_fold(op, bits, a, c);
   if (result.kind == AGXC_NONE)
      result = agxc_fold_identity(op, a, c);
   return result.kind == AGXC_NONE ? agxc_build2(b, op, bits, a, c) : result;
}

enum agxc_op agxc_opposite(enum agxc_op compare)
{
   static const enum agxc_op pairs[][2] = {
      {AGXC_OP_IEQ, AGXC_OP_INE},
      {AGXC_OP_ULT, AGXC_OP_UGE},
      {AGXC_OP_SLT, AGXC_OP_SGE},
      {AGXC_OP_FEQ, AGXC_OP_FNE},
   };
   for (size_t i = 0; i < AGX_COUNT(pairs); i++)
      for (unsigned k = 0; k < 2; k++)
         if (pairs[i][k] == compare)
            return pairs[i][1 - k];
   return AGXC_OP_ISA;
}

bool agxc_are_opposite(const struct agxc_instr *a, const struct agxc_instr *b)
{
   return !agxc_is_machine(a) && agxc_opposite((enum agxc_op)a->op) == b->op &&
          !agxc_is_machine(b) && agxc_same_ref(agxc_src_a(a), agxc_src_a(b)) &&
          agxc_same_ref(agxc_src_b(a), agxc_src_b(b));
}
