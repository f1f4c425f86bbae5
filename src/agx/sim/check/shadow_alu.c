/* SPDX-License-Identifier: MIT
 *
 * How undefined bits pass through integer, bit and float operations. Moves, shifts,
 * fields, truth tables, selects, additions and comparisons are followed bit by bit
 * (what the undefined bits can change is undefined, nothing else); the rest is
 * undefined as a whole.
 */
#include "agx/sim/exec/compare.h"
#include "agx/sim/check/shadow_impl.h"

/* Masks of up to three sources, and the values of two. */
struct masks {
   struct agxs_row a, b, c;
};

static void get_masks(const struct agxs_group *group, const struct agxs_uop *uop, struct masks *out)
{
   agxs_shadow_get(group, &uop->src[0], &out->a);
   agxs_shadow_get(group, &uop->src[1], &out->b);
   agxs_shadow_get(group, &uop->src[2], &out->c);
}

static uint32_t all_if(uint64_t any)
{
   return any ? ~0u : 0;
}

bool agxs_shadow_move(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_shadow_get(group, &uop->src[0], &a);
   agxs_shadow_put(group, uop, &a);
   return true;
}

static bool same_register(const struct agxs_source *a, const struct agxs_source *b)
{
   return a->bank == b->bank && a->row == b->row && a->left == b->left && a->bits == b->bits;
}

static uint32_t truth(unsigned table, uint32_t x, uint32_t y)
{
   uint32_t result = 0;
   result |= table & 1 ? ~x & ~y : 0;
   result |= table & 2 ? x & ~y : 0;
   result |= table & 4 ? ~x & y : 0;
   return result | (table & 8 ? x & y : 0);
}

/* A result bit is undefined when the undefined inputs can flip it. */
bool agxs_shadow_bitop(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row x, y;
   struct masks u;
   unsigned t = uop->mode;
   bool is_same = same_register(&uop->src[0], &uop->src[1]); /* such as xor of r1 and r1 */
   agxs_get_u32(group, &uop->src[0], &x);
   agxs_get_u32(group, &uop->src[1], &y);
   get_masks(group, uop, &u);
   AGXS_FOR_LANES (i) {
      uint32_t a = x.lane[i], b = y.lane[i], r = truth(t, a, b);
      uint32_t by_a = r ^ truth(t, ~a, b), by_b = r ^ truth(t, a, ~b);
      uint32_t by_both = r ^ truth(t, ~a, ~b);
      uint32_t ua = u.a.lane[i], ub = u.b.lane[i];
      u.a.lane[i] = is_same ? ua & by_both : (ua & by_a) | (ub & by_b) | (ua & ub & by_both);
   }
   agxs_shadow_put(group, uop, &u.a);
   return true;
}

static uint32_t field_mask(const struct agxs_uop *uop)
{
   unsigned bits = (unsigned)uop->imm & 31;
   return bits ? (1u << bits) - 1 : ~0u;
}

static uint32_t shift_left(uint32_t value, uint32_t amount)
{
   return amount < 32 ? value << amount : 0;
}

static uint32_t shift_right64(uint64_t value, uint32_t amount)
{
   return amount < 64 ? (uint32_t)(value >> amount) : 0;
}

/* bfi, bfeil, extr: masks move as values do; an undefined amount spoils everything. */
bool agxs_shadow_field(struct agxs_group *group, const struct agxs_uop *uop)
{
   const uint32_t m = field_mask(uop);
   struct agxs_row amount;
   struct masks u;
   agxs_get_u32(group, &uop->src[2], &amount);
   get_masks(group, uop, &u);
   AGXS_FOR_LANES (i) {
      uint32_t s = amount.lane[i] & 127, a = u.a.lane[i], b = u.b.lane[i], d;
      if (uop->exec_index == AGXS_X_bfi)
         d = (a & ~shift_left(m, s)) | shift_left(b & m, s);
      else if (uop->exec_index == AGXS_X_bfeil)
         d = (a & ~m) | (shift_right64(b, s) & m);
      else
         d = shift_right64(a | (uint64_t)b << 32, s) & m;
      u.a.lane[i] = d | all_if(u.c.lane[i] & 127);
   }
   agxs_shadow_put(group, uop, &u.a);
   return true;
}

bool agxs_shadow_shift_high(struct agxs_group *group, const struct agxs_uop *uop)
{
   const uint32_t m = field_mask(uop);
   struct agxs_row amount;
   struct masks u;
   agxs_get_u32(group, &uop->src[2], &amount);
   get_masks(group, uop, &u);
   AGXS_FOR_LANES (i) {
      uint32_t s = amount.lane[i] & 127, a = u.a.lane[i], b = u.b.lane[i], k, d;
      if (uop->exec_index == AGXS_X_shlhi) {
         k = s < 32 ? m : shift_left(m, s - 32);
         d = s < 32 ? (uint32_t)((uint64_t)b << s >> 32) : shift_left(b, s - 32);
      } else {
         k = (uint32_t)((uint64_t)m << 32 >> (s < 32 ? s : 32));
         d = shift_right64((uint64_t)b << 32, s);
      }
      u.a.lane[i] = (d & k) | (a & ~k) | all_if(u.c.lane[i] & 127);
   }
   agxs_shadow_put(group, uop, &u.a);
   return true;
}

/* asr, asrh: the sign's mask is drawn along. */
bool agxs_shadow_asr(struct agxs_group *group, const struct agxs_uop *uop)
{
   bool is_high = uop->exec_index == AGXS_X_asrh;
   struct agxs_row amount;
   struct masks u;
   agxs_get_u32(group, &uop->src[1], &amount);
   get_masks(group, uop, &u);
   AGXS_FOR_LANES (i) {
      uint32_t s = amount.lane[i] & 127;
      int64_t a = (int32_t)u.a.lane[i];
      a = is_high ? (int64_t)((uint64_t)a << 32) : a;
      u.a.lane[i] = (uint32_t)(a >> (s < 63 ? s : 63)) | all_if(u.b.lane[i] & 127);
   }
   agxs_shadow_put(group, uop, &u.a);
   return true;
}

bool agxs_shadow_bitrev(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, d = {{0}};
   agxs_shadow_get(group, &uop->src[0], &a);
   AGXS_FOR_LANES (i) {
      for (unsigned bit = 0; bit < 32; bit++)
         d.lane[i] |= (a.lane[i] >> bit & 1) << (31 - bit);
   }
   agxs_shadow_put(group, uop, &d);
   return true;
}

/* popcnt: at most 32 comes out. */
bool agxs_shadow_count(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_shadow_get(group, &uop->src[0], &a);
   AGXS_FOR_LANES (i)
      a.lane[i] = a.lane[i] ? 0x3f : 0;
   agxs_shadow_put(group, uop, &a);
   return true;
}

/* Defined when a bit above all undefined ones is set. */
bool agxs_shadow_ffs(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, u;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_shadow_get(group, &uop->src[0], &u);
   AGXS_FOR_LANES (i)
      u.lane[i] = all_if((a.lane[i] & ~u.lane[i]) < u.lane[i]);
   agxs_shadow_put(group, uop, &u);
   return true;
}

bool agxs_shadow_intl(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row d = {{0}};
   struct masks u;
   get_masks(group, uop, &u);
   AGXS_FOR_LANES (i) {
      for (unsigned bit = 0; bit < 16; bit++)
         d.lane[i] |= (u.a.lane[i] >> bit & 1) << 2 * bit | (u.b.lane[i] >> bit & 1)
                                                               << (2 * bit + 1);
   }
   agxs_shadow_put(group, uop, &d);
   return true;
}

/* ---- additions ------------------------------------------------------------------ */

/* Bits of x + y, or x - y, that differ between the smallest and the largest that x and y
 * can be; carries out of undefined bits change no others. */
static uint64_t add_masks(uint64_t x, uint64_t ux, uint64_t y, uint64_t uy, bool is_minus)
{
   uint64_t x_min = x & ~ux, x_max = x | ux, y_min = y & ~uy, y_max = y | uy;
   uint64_t d = is_minus ? (x_min - y_max) ^ (x_max - y_min) : (x_min + y_min) ^ (x_max + y_max);
   return d | ux | uy;
}

struct addition {
   uint64_t x[AGXS_LANES], ux[AGXS_LANES]; /* and what is undefined of it */
   uint64_t y[AGXS_LANES], uy[AGXS_LANES];
};

/* The addend is shifted; shifts above 4 give 0. */
static void get_addend(const struct agxs_group *group, const struct agxs_uop *uop,
                       const struct agxs_source *source, struct addition *out)
{
   agxs_get_i64(group, source, out->y);
   agxs_shadow_get64(group, source, out->uy);
   AGXS_FOR_LANES (i) {
      out->y[i] = uop->shift < 5 ? out->y[i] << uop->shift : 0;
      out->uy[i] = uop->shift < 5 ? out->uy[i] << uop->shift : 0;
   }
}

static void put_addition(struct agxs_group *group, const struct agxs_uop *uop,
                         const struct addition *sum)
{
   uint64_t d[AGXS_LANES];
   struct agxs_row low;
   AGXS_FOR_LANES (i) {
      d[i] = add_masks(sum->x[i], sum->ux[i], sum->y[i], sum->uy[i], uop->negate);
      low.lane[i] = uop->saturate ? all_if(sum->ux[i] | sum->uy[i]) : (uint32_t)d[i];
   }
   if (uop->dst.bits == 64)
      agxs_shadow_put64(group, uop, d);
   else
      agxs_shadow_put(group, uop, &low);
}

bool agxs_shadow_add(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct addition sum;
   agxs_get_i64(group, &uop->src[0], sum.x);
   agxs_shadow_get64(group, &uop->src[0], sum.ux);
   get_addend(group, uop, &uop->src[1], &sum);
   put_addition(group, uop, &sum);
   return true;
}

/* Bits of a product from the lowest undefined one on; times a defined 0 it is defined. */
static uint64_t multiply_masks(uint64_t x, uint64_t ux, uint64_t y, uint64_t uy)
{
   if ((!ux && !x) || (!uy && !y))
      return 0;
   uint64_t by_x = ux && !uy ? ux << __builtin_ctzll(y) : ux;
   uint64_t by_y = uy && !ux ? uy << __builtin_ctzll(x) : uy;
   return agxs_shadow_carry(by_x | by_y);
}

bool agxs_shadow_multiply(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct addition sum;
   uint64_t y[AGXS_LANES], uy[AGXS_LANES];
   agxs_get_i64(group, &uop->src[0], sum.x);
   agxs_shadow_get64(group, &uop->src[0], sum.ux);
   agxs_get_i64(group, &uop->src[1], y);
   agxs_shadow_get64(group, &uop->src[1], uy);
   AGXS_FOR_LANES (i) {
      sum.ux[i] = multiply_masks(sum.x[i], sum.ux[i], y[i], uy[i]);
      sum.x[i] *= y[i];
   }
   get_addend(group, uop, &uop->src[2], &sum);
   put_addition(group, uop, &sum);
   return true;
}

/* ---- comparisons and selects ------------------------------------------------------ */

static bool is_order_open(uint32_t x, uint32_t ux, uint32_t y, uint32_t uy)
{
   uint32_t x_min = x & ~ux, x_max = x | ux, y_min = y & ~uy, y_max = y | uy;
   return x_max >= y_min && x_min < y_max;
}

static bool is_int_open(unsigned condition, uint32_t x, uint32_t ux, uint32_t y, uint32_t uy)
{
   switch (condition) {
   case AGX_ISA_ICOND_ULT:
      return is_order_open(x, ux, y, uy);
   case AGX_ISA_ICOND_UGT:
      return is_order_open(y, uy, x, ux);
   case AGX_ISA_ICOND_SLT:
      return is_order_open(x ^ 0x80000000u, ux, y ^ 0x80000000u, uy);
   case AGX_ISA_ICOND_SGT:
      return is_order_open(y ^ 0x80000000u, uy, x ^ 0x80000000u, ux);
   default: /* a defined bit that differs settles it */
      return ((x ^ y) & ~ux & ~uy) == 0;
   }
}

static bool is_float_compare(const struct agxs_uop *uop)
{
   return uop->exec_index == AGXS_X_fcsel || uop->exec_index == AGXS_X_fcmp_ballot ||
          uop->exec_index == AGXS_X_if_fcmp || uop->exec_index == AGXS_X_else_fcmp ||
          uop->exec_index == AGXS_X_while_fcmp;
}

void agxs_shadow_condition(const struct agxs_group *group, const struct agxs_uop *uop,
                           struct agxs_row *out)
{
   struct agxs_row x, y;
   struct masks u;
   get_masks(group, uop, &u);
   if (is_float_compare(uop)) {
      AGXS_FOR_LANES (i)
         out->lane[i] = all_if((u.a.lane[i] & uop->src[0].keep) | (u.b.lane[i] & uop->src[1].keep));
      return;
   }
   agxs_get_u32(group, &uop->src[0], &x);
   agxs_get_u32(group, &uop->src[1], &y);
   AGXS_FOR_LANES (i) {
      uint32_t ux = u.a.lane[i], uy = u.b.lane[i];
      out->lane[i] = ux | uy ? all_if(is_int_open(uop->mode, x.lane[i], ux, y.lane[i], uy)) : 0;
   }
}

/* An open condition leaves defined only what both values agree on. */
bool agxs_shadow_select(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row open, holds, x, y, ux, uy;
   agxs_shadow_condition(group, uop, &open);
   if (is_float_compare(uop))
      agxs_compare_float(group, uop, &holds);
   else
      agxs_compare_int(group, uop, &holds);
   agxs_get_u32(group, &uop->src[2], &x);
   agxs_get_u32(group, &uop->src[3], &y);
   agxs_shadow_get(group, &uop->src[2], &ux);
   agxs_shadow_get(group, &uop->src[3], &uy);
   AGXS_FOR_LANES (i) {
      uint32_t chosen = holds.lane[i] ? ux.lane[i] : uy.lane[i];
      uint32_t either = ux.lane[i] | uy.lane[i] | (x.lane[i] ^ y.lane[i]);
      ux.lane[i] = open.lane[i] ? either : chosen;
   }
   agxs_shadow_put(group, uop, &ux);
   return true;
}

/* ---- floats --------------------------------------------------------------------- */

/* The sign that abs takes away may be undefined. */
static uint32_t float_mask(const struct agxs_source *source, uint32_t mask)
{
   uint32_t sign = source->bits == 16 ? 0x8000 : 0x80000000u;
   return source->keep == ~0u ? mask : mask & ~sign;
}

bool agxs_shadow_whole(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row d = {{0}};
   for (unsigned s = 0; s < 3; s++) {
      struct agxs_row u;
      if (!uop->src[s].bits)
         continue;
      agxs_shadow_get(group, &uop->src[s], &u);
      AGXS_FOR_LANES (i)
         d.lane[i] |= all_if(float_mask(&uop->src[s], u.lane[i]));
   }
   agxs_shadow_put(group, uop, &d);
   return true;
}

/* uop->count: bits of the integer that count. */
bool agxs_shadow_int_to_f(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row u;
   agxs_shadow_get(group, &uop->src[0], &u);
   AGXS_FOR_LANES (i)
      u.lane[i] = all_if(u.lane[i] << (32 - uop->count));
   agxs_shadow_put(group, uop, &u);
   return true;
}

/* Both lanes of the pair count. */
bool agxs_shadow_derive(struct agxs_group *group, const struct agxs_uop *uop)
{
   unsigned bit = uop->exec_index == AGXS_X_dfdx ? 1 : 2;
   struct agxs_row u, d;
   agxs_shadow_get(group, &uop->src[0], &u);
   AGXS_FOR_LANES (i)
      d.lane[i] = all_if(u.lane[i | bit] | u.lane[i & ~bit]);
   agxs_shadow_put(group, uop, &d);
   return true;
}
