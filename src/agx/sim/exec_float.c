/* SPDX-License-Identifier: MIT
 *
 * Add, multiply and fused multiply-add of the single and half families.
 * Source: reference/isa semantics 1 and 2. [U] A result that rounds up to the
 * smallest normal number is kept; whether the hardware flushes it (by the
 * exponent before rounding) is an open question.
 */
#include "agx/sim/exec.h"
#include "agx/sim/floats.h"

const struct agxs_uop *AGXS_EXEC(fadd)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   d.lane[i] = agxs_float(a.lane[i]) + agxs_float(b.lane[i]);
   agxs_put_single(group, uop, &d);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(fmul)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   d.lane[i] = agxs_float(a.lane[i]) * agxs_float(b.lane[i]);
   agxs_put_single(group, uop, &d);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(ffma)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   agxs_get_float(group, &uop->src[2], &c);
   AGXS_FOR_LANES(i)
   d.lane[i] = fmaf(agxs_float(a.lane[i]), agxs_float(b.lane[i]), agxs_float(c.lane[i]));
   agxs_put_single(group, uop, &d);
   return uop + 1;
}

/* A sum of two halves that single can't hold is so far from any tie of half
 * precision that rounding twice gives what rounding once does (24 >= 2 * 11 + 2). */
const struct agxs_uop *AGXS_EXEC(hadd)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   d.lane[i] = agxs_float(a.lane[i]) + agxs_float(b.lane[i]);
   agxs_put_half(group, uop, &d);
   return uop + 1;
}

/* The product of two halves is exact in single. */
const struct agxs_uop *AGXS_EXEC(hmul)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   d.lane[i] = agxs_float(a.lane[i]) * agxs_float(b.lane[i]);
   agxs_put_half(group, uop, &d);
   return uop + 1;
}

/* Rounds a double to single so that rounding to half afterwards is right: to odd,
 * that is cut, with the last bit set when anything was lost. */
static inline float round_to_odd(double value)
{
   uint64_t wide;
   memcpy(&wide, &value, sizeof(wide));
   wide |= (wide & 0x1fffffff) ? 0x20000000 : 0;
   wide &= ~0x1fffffffull;
   memcpy(&value, &wide, sizeof(value));
   return (float)value;
}

/* The product is exact in double. Where the sum is not, what double rounding loses
 * lies below 2^-26 of a half denormal or of the sum: no tie of half precision. */
const struct agxs_uop *AGXS_EXEC(hfma)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   agxs_get_float(group, &uop->src[2], &c);
   AGXS_FOR_LANES(i)
   {
      double product = (double)agxs_float(a.lane[i]) * (double)agxs_float(b.lane[i]);
      d.lane[i] = round_to_odd(product + (double)agxs_float(c.lane[i]));
   }
   agxs_put_half(group, uop, &d);
   return uop + 1;
}
