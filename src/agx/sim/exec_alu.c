/* SPDX-License-Identifier: MIT
 *
 * Integer arithmetic, shifts and bit fields, bit operations and selects.
 * Source: reference/isa semantics 5 to 9.
 */
#include "agx/sim/compare.h"
#include "agx/sim/exec.h"
#include "agx/sim/lanes.h"

const struct agxs_uop *AGXS_EXEC(mov)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

/* The addend of iadd and imadd: negated, then shifted; shifts above 4 give 0. */
static void shift_addend(const struct agxs_uop *uop, struct agxs_row *value)
{
   uint32_t flip = uop->negate ? ~0u : 0;
   uint32_t keep = uop->shift < 5 ? ~0u : 0;
   unsigned shift = uop->shift & 7;
   AGXS_FOR_LANES(i)
   value->lane[i] = (((value->lane[i] ^ flip) - flip) << shift) & keep;
}

static void shift_addend64(const struct agxs_uop *uop, uint64_t *value)
{
   uint64_t flip = uop->negate ? ~0ull : 0;
   uint64_t keep = uop->shift < 5 ? ~0ull : 0;
   unsigned shift = uop->shift & 7;
   AGXS_FOR_LANES(i)
   value[i] = (((value[i] ^ flip) - flip) << shift) & keep;
}

const struct agxs_uop *AGXS_EXEC(iadd)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   agxs_get_i32(group, &uop->src[0], &a);
   agxs_get_i32(group, &uop->src[1], &b);
   shift_addend(uop, &b);
   AGXS_FOR_LANES(i)
   a.lane[i] += b.lane[i];
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(iadd64)(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t a[AGXS_LANES], b[AGXS_LANES];
   agxs_get_i64(group, &uop->src[0], a);
   agxs_get_i64(group, &uop->src[1], b);
   shift_addend64(uop, b);
   AGXS_FOR_LANES(i)
   a[i] += b[i];
   agxs_put_u64(group, &uop->dst, a);
   return uop + 1;
}

/* Clamps to the destination's range, signed when any source is sign-extended. */
static uint32_t clamp_to(const struct agxs_uop *uop, __int128 value)
{
   unsigned bits = uop->dst.bits;
   bool is_signed = uop->src[0].is_signed || uop->src[1].is_signed || uop->src[2].is_signed;
   __int128 high = is_signed ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
   __int128 low = is_signed ? -high - 1 : 0;
   value = value > high ? high : value;
   return (uint32_t)(value < low ? low : value);
}

static __int128 widen(const struct agxs_source *source, uint64_t value)
{
   return source->is_signed ? (__int128)(int64_t)value : (__int128)value;
}

const struct agxs_uop *AGXS_EXEC(iadd_sat)(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t a[AGXS_LANES], b[AGXS_LANES];
   struct agxs_row d;
   agxs_get_i64(group, &uop->src[0], a);
   agxs_get_i64(group, &uop->src[1], b);
   AGXS_FOR_LANES(i)
   {
      __int128 addend = widen(&uop->src[1], b[i]);
      d.lane[i] = clamp_to(uop, widen(&uop->src[0], a[i]) + (uop->negate ? -addend : addend));
   }
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(imadd)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   agxs_get_i32(group, &uop->src[0], &a);
   agxs_get_i32(group, &uop->src[1], &b);
   agxs_get_i32(group, &uop->src[2], &c);
   shift_addend(uop, &c);
   AGXS_FOR_LANES(i)
   a.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(imadd64)(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t a[AGXS_LANES], b[AGXS_LANES], c[AGXS_LANES];
   agxs_get_i64(group, &uop->src[0], a);
   agxs_get_i64(group, &uop->src[1], b);
   agxs_get_i64(group, &uop->src[2], c);
   shift_addend64(uop, c);
   AGXS_FOR_LANES(i)
   a[i] = a[i] * b[i] + c[i];
   agxs_put_u64(group, &uop->dst, a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(imadd_sat)(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t a[AGXS_LANES], b[AGXS_LANES], c[AGXS_LANES];
   struct agxs_row d;
   agxs_get_i64(group, &uop->src[0], a);
   agxs_get_i64(group, &uop->src[1], b);
   agxs_get_i64(group, &uop->src[2], c);
   AGXS_FOR_LANES(i)
   {
      __int128 addend = widen(&uop->src[2], c[i]);
      __int128 product = widen(&uop->src[0], a[i]) * widen(&uop->src[1], b[i]);
      d.lane[i] = clamp_to(uop, product + (uop->negate ? -addend : addend));
   }
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}

/* The truth table as a polynomial over xor and and: t0 ^ (t0^t1)a ^ (t0^t2)b ^ (...)ab. */
const struct agxs_uop *AGXS_EXEC(bitop)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   uint32_t t[4];
   for (unsigned i = 0; i < 4; i++)
      t[i] = uop->mode >> i & 1 ? ~0u : 0;
   uint32_t k0 = t[0], ka = t[0] ^ t[1], kb = t[0] ^ t[2], kab = t[0] ^ t[1] ^ t[2] ^ t[3];
   AGXS_FOR_LANES(i)
   a.lane[i] = k0 ^ (ka & a.lane[i]) ^ (kb & b.lane[i]) ^ (kab & a.lane[i] & b.lane[i]);
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

/* Shifts by 0..127, as if the register were that wide. */
static inline uint32_t shift_left(uint32_t value, uint32_t amount)
{
   return amount < 32 ? value << (amount & 31) : 0;
}

static inline uint32_t shift_right(uint32_t value, uint32_t amount)
{
   return amount < 32 ? value >> (amount & 31) : 0;
}

static inline uint64_t shift_right64(uint64_t value, uint32_t amount)
{
   return amount < 64 ? value >> (amount & 63) : 0;
}

static uint32_t field_mask(const struct agxs_uop *uop)
{
   unsigned bits = (unsigned)uop->imm & 31;
   return bits ? (1u << bits) - 1 : ~0u;
}

const struct agxs_uop *AGXS_EXEC(bfi)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   agxs_get_u32(group, &uop->src[2], &c);
   uint32_t mask = field_mask(uop);
   AGXS_FOR_LANES(i)
   {
      uint32_t s = c.lane[i] & 127;
      a.lane[i] = (a.lane[i] & ~shift_left(mask, s)) | shift_left(b.lane[i] & mask, s);
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(bfeil)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   agxs_get_u32(group, &uop->src[2], &c);
   uint32_t mask = field_mask(uop);
   AGXS_FOR_LANES(i)
   a.lane[i] = (a.lane[i] & ~mask) | (shift_right(b.lane[i], c.lane[i] & 127) & mask);
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(extr)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   agxs_get_u32(group, &uop->src[2], &c);
   uint32_t mask = field_mask(uop);
   AGXS_FOR_LANES(i)
   {
      uint64_t pair = a.lane[i] | (uint64_t)b.lane[i] << 32;
      a.lane[i] = (uint32_t)shift_right64(pair, c.lane[i] & 127) & mask;
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(shlhi)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   agxs_get_u32(group, &uop->src[2], &c);
   uint32_t mask = field_mask(uop);
   AGXS_FOR_LANES(i)
   {
      uint32_t s = c.lane[i] & 127;
      uint32_t kept = s < 32 ? mask : shift_left(mask, s - 32);
      uint32_t high =
         s < 32 ? (uint32_t)((uint64_t)b.lane[i] << (s & 31) >> 32) : shift_left(b.lane[i], s - 32);
      a.lane[i] = (high & kept) | (a.lane[i] & ~kept);
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(shrhi)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   agxs_get_u32(group, &uop->src[2], &c);
   uint64_t mask = (uint64_t)field_mask(uop) << 32;
   AGXS_FOR_LANES(i)
   {
      uint32_t s = c.lane[i] & 127;
      uint32_t kept = (uint32_t)(mask >> (s < 32 ? s : 32));
      uint32_t low = (uint32_t)shift_right64((uint64_t)b.lane[i] << 32, s);
      a.lane[i] = (low & kept) | (a.lane[i] & ~kept);
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(asr)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   agxs_get_i32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   {
      uint32_t s = b.lane[i] & 127;
      a.lane[i] = (uint32_t)((int32_t)a.lane[i] >> (s < 31 ? s : 31));
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(asrh)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   agxs_get_i32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   {
      uint32_t s = b.lane[i] & 127;
      int64_t wide = (int64_t)((uint64_t)a.lane[i] << 32);
      a.lane[i] = (uint32_t)(wide >> (s < 63 ? s : 63));
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

static inline uint32_t reverse_bits(uint32_t v)
{
   v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
   v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
   v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
   return __builtin_bswap32(v);
}

const struct agxs_uop *AGXS_EXEC(bitrev)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_get_u32(group, &uop->src[0], &a);
   AGXS_FOR_LANES(i)
   a.lane[i] = reverse_bits(a.lane[i]);
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(popcnt)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_get_u32(group, &uop->src[0], &a);
   AGXS_FOR_LANES(i)
   a.lane[i] = (uint32_t)__builtin_popcount(a.lane[i]);
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(ffs)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_get_u32(group, &uop->src[0], &a);
   AGXS_FOR_LANES(i)
   a.lane[i] = a.lane[i] ? 31 - (uint32_t)__builtin_clz(a.lane[i]) : ~0u;
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

/* Spreads the low 16 bits to the even positions. */
static inline uint32_t spread_bits(uint32_t v)
{
   v &= 0xffff;
   v = (v | v << 8) & 0x00ff00ff;
   v = (v | v << 4) & 0x0f0f0f0f;
   v = (v | v << 2) & 0x33333333;
   return (v | v << 1) & 0x55555555;
}

const struct agxs_uop *AGXS_EXEC(intl)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   AGXS_FOR_LANES(i)
   a.lane[i] = spread_bits(a.lane[i]) | spread_bits(b.lane[i]) << 1;
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

static void select_lanes(struct agxs_group *group, const struct agxs_uop *uop,
                         const struct agxs_row *truth)
{
   struct agxs_row x, y;
   agxs_get_u32(group, &uop->src[2], &x);
   agxs_get_u32(group, &uop->src[3], &y);
   AGXS_FOR_LANES(i)
   x.lane[i] = (x.lane[i] & truth->lane[i]) | (y.lane[i] & ~truth->lane[i]);
   agxs_put_u32(group, &uop->dst, &x);
}

const struct agxs_uop *AGXS_EXEC(icsel)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row truth;
   agxs_compare_int(group, uop, &truth);
   select_lanes(group, uop, &truth);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(fcsel)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row truth;
   agxs_compare_float(group, uop, &truth);
   select_lanes(group, uop, &truth);
   return uop + 1;
}
