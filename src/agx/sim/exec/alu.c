/* SPDX-License-Identifier: MIT
 *
 * Integer arithmetic, shifts and bit fields, bit operations and selects.
 * Source: docs/hw/semantics.md 5 to 9.
 */
#include "agx/sim/exec/compare.h"
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/machine/lanes.h"

/* One loop over the lanes: x, y, z are the sources, the expression is the result;
 * setup computes what is the same for all lanes. */
#define INT_OPERATION(name, setup, expression)                                                     \
   AGXS_INLINE void name##_loop(struct agxs_group *group, const struct agxs_uop *uop,              \
                                bool is_plain, bool is_all)                                        \
   {                                                                                               \
      const struct agxs_reader a = agxs_reader(group, &uop->src[0]);                               \
      const struct agxs_reader b = agxs_reader(group, &uop->src[1]);                               \
      const struct agxs_reader c = agxs_reader(group, &uop->src[2]);                               \
      const struct agxs_writer d = agxs_writer(group, &uop->dst);                                  \
      setup;                                                                                       \
      AGXS_EACH_LANE (i) {                                                                         \
         const uint32_t x = agxs_read(&a, i, is_plain), y = agxs_read(&b, i, is_plain);            \
         const uint32_t z = agxs_read(&c, i, is_plain);                                            \
         (void)x, (void)y, (void)z;                                                                \
         agxs_write(&d, i, (expression), is_plain, is_all);                                        \
      }                                                                                            \
   }                                                                                               \
   const struct agxs_uop *AGXS_EXEC(name)(struct agxs_group * group, const struct agxs_uop *uop)   \
   {                                                                                               \
      AGXS_RUN_LOOP(name##_loop, group, uop);                                                      \
      return uop + 1;                                                                              \
   }

INT_OPERATION(mov, , x)

/* The addend of iadd and imadd: negated, then shifted; shifts above 4 give 0. */
struct addend {
   uint32_t flip, keep;
   unsigned shift;
};

static inline struct addend addend_of(const struct agxs_uop *uop)
{
   return (struct addend){
      .flip = uop->negate ? ~0u : 0, .keep = uop->shift < 5 ? ~0u : 0, .shift = uop->shift & 7};
}

static inline uint32_t shift_addend(const struct addend *addend, uint32_t value)
{
   return (((value ^ addend->flip) - addend->flip) << addend->shift) & addend->keep;
}

/* value + addend, in words: negated, shifted, added with carry. Only where lanes are active. */
AGXS_INLINE void add_wide(struct agxs_group *group, const struct agxs_uop *uop, const uint32_t *low,
                          const uint32_t *high, const struct agxs_wide addend, bool is_simple)
{
   const uint32_t flip = uop->negate ? ~0u : 0, keep = uop->shift < 5 ? ~0u : 0;
   const unsigned shift = uop->shift & 7;
   const uint32_t *exec = group->exec.lane;
   uint32_t *d = group->regs[uop->dst.row].lane, *dh = group->regs[uop->dst.row + 1].lane;
   AGXS_EACH_LANE (i) {
      uint32_t b = addend.low[i], bh = addend.high[i];
      if (!is_simple) {
         const uint32_t one = flip & 1, x = (b ^ flip) + one;
         const uint32_t xh = (bh ^ flip) + (x < one ? 1u : 0u);
         bh = (xh << shift | x >> 1 >> (31 - shift)) & keep;
         b = x << shift & keep;
      }
      const uint32_t written = exec[i];
      const uint32_t sum = low[i] + b;
      const uint32_t sum_high = high[i] + bh + (sum < b ? 1u : 0u);
      d[i] = (d[i] & ~written) | (sum & written);
      dh[i] = (dh[i] & ~written) | (sum_high & written);
   }
}

static void put_sum(struct agxs_group *group, const struct agxs_uop *uop, const uint32_t *low,
                    const uint32_t *high, const struct agxs_wide addend)
{
   if (uop->negate || uop->shift)
      add_wide(group, uop, low, high, addend, false);
   else
      add_wide(group, uop, low, high, addend, true);
}

INT_OPERATION(iadd, const struct addend addend = addend_of(uop), x + shift_addend(&addend, y))

const struct agxs_uop *AGXS_EXEC(iadd64)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row room[4];
   const struct agxs_wide a = agxs_get_wide(group, &uop->src[0], &room[0]);
   const struct agxs_wide b = agxs_get_wide(group, &uop->src[1], &room[2]);
   put_sum(group, uop, a.low, a.high, b);
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
   AGXS_FOR_LANES (i) {
      __int128 addend = widen(&uop->src[1], b[i]);
      d.lane[i] = clamp_to(uop, widen(&uop->src[0], a[i]) + (uop->negate ? -addend : addend));
   }
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}

INT_OPERATION(imadd, const struct addend addend = addend_of(uop), x *y + shift_addend(&addend, z))

AGXS_INLINE uint32_t multiply_high(uint32_t x, uint32_t y)
{
   return (uint32_t)((uint64_t)x * y >> 32);
}

const struct agxs_uop *AGXS_EXEC(imadd64)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row room[6], low, high;
   const struct agxs_wide a = agxs_get_wide(group, &uop->src[0], &room[0]);
   const struct agxs_wide b = agxs_get_wide(group, &uop->src[1], &room[2]);
   const struct agxs_wide c = agxs_get_wide(group, &uop->src[2], &room[4]);
   AGXS_FOR_LANES (i) {
      low.lane[i] = a.low[i] * b.low[i];
      high.lane[i] = multiply_high(a.low[i], b.low[i]);
   }
   if (!a.is_short || !b.is_short) {
      AGXS_FOR_LANES (i)
         high.lane[i] += a.high[i] * b.low[i] + a.low[i] * b.high[i];
   }
   put_sum(group, uop, low.lane, high.lane, c);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(imadd_sat)(struct agxs_group *group, const struct agxs_uop *uop)
{
   uint64_t a[AGXS_LANES], b[AGXS_LANES], c[AGXS_LANES];
   struct agxs_row d;
   agxs_get_i64(group, &uop->src[0], a);
   agxs_get_i64(group, &uop->src[1], b);
   agxs_get_i64(group, &uop->src[2], c);
   AGXS_FOR_LANES (i) {
      __int128 addend = widen(&uop->src[2], c[i]);
      __int128 product = widen(&uop->src[0], a[i]) * widen(&uop->src[1], b[i]);
      d.lane[i] = clamp_to(uop, product + (uop->negate ? -addend : addend));
   }
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}

static inline uint32_t all_or_none(unsigned bits)
{
   return bits & 1 ? ~0u : 0;
}

/* The table as a polynomial: t0 ^ (t0^t1)x ^ (t0^t2)y ^ (t0^t1^t2^t3)xy. */
struct polynomial {
   uint32_t k[4];
};

static inline struct polynomial polynomial_of(unsigned t)
{
   return (struct polynomial){{all_or_none(t), all_or_none(t ^ t >> 1), all_or_none(t ^ t >> 2),
                               all_or_none(t ^ t >> 1 ^ t >> 2 ^ t >> 3)}};
}

static inline uint32_t truth_table(const struct polynomial *table, uint32_t x, uint32_t y)
{
   const uint32_t *k = table->k;
   return k[0] ^ (k[1] & x) ^ (k[2] & y) ^ (k[3] & x & y);
}

INT_OPERATION(bitop, const struct polynomial table = polynomial_of(uop->mode),
              truth_table(&table, x, y))

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

static inline uint32_t insert_field(uint32_t mask, uint32_t x, uint32_t y, uint32_t s)
{
   return (x & ~shift_left(mask, s)) | shift_left(y & mask, s);
}

INT_OPERATION(bfi, const uint32_t mask = field_mask(uop), insert_field(mask, x, y, z & 127))

INT_OPERATION(bfeil, const uint32_t mask = field_mask(uop),
              (x & ~mask) | (shift_right(y, z & 127) & mask))

INT_OPERATION(extr, const uint32_t mask = field_mask(uop),
              (uint32_t)shift_right64(x | (uint64_t)y << 32, z & 127) & mask)

static inline uint32_t shift_left_high(uint32_t mask, uint32_t x, uint32_t y, uint32_t s)
{
   uint32_t kept = s < 32 ? mask : shift_left(mask, s - 32);
   uint32_t high = s < 32 ? (uint32_t)((uint64_t)y << (s & 31) >> 32) : shift_left(y, s - 32);
   return (high & kept) | (x & ~kept);
}

INT_OPERATION(shlhi, const uint32_t mask = field_mask(uop), shift_left_high(mask, x, y, z & 127))

static inline uint32_t shift_right_high(uint32_t mask, uint32_t x, uint32_t y, uint32_t s)
{
   uint32_t kept = (uint32_t)((uint64_t)mask << 32 >> (s < 32 ? s : 32));
   uint32_t low = (uint32_t)shift_right64((uint64_t)y << 32, s);
   return (low & kept) | (x & ~kept);
}

INT_OPERATION(shrhi, const uint32_t mask = field_mask(uop), shift_right_high(mask, x, y, z & 127))

static inline uint32_t shift_signed(uint32_t x, uint32_t s)
{
   return (uint32_t)((int32_t)x >> (s < 31 ? s : 31));
}

static inline uint32_t shift_signed_high(uint32_t x, uint32_t s)
{
   return (uint32_t)((int64_t)((uint64_t)x << 32) >> (s < 63 ? s : 63));
}

INT_OPERATION(asr, , shift_signed(x, y & 127))

INT_OPERATION(asrh, , shift_signed_high(x, y & 127))

static inline uint32_t reverse_bits(uint32_t v)
{
   v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
   v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
   v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
   return __builtin_bswap32(v);
}

INT_OPERATION(bitrev, , reverse_bits(x))

INT_OPERATION(popcnt, , (uint32_t)__builtin_popcount(x))

INT_OPERATION(ffs, , x ? 31 - (uint32_t)__builtin_clz(x) : ~0u)

/* Spreads the low 16 bits to the even positions. */
static inline uint32_t spread_bits(uint32_t v)
{
   v &= 0xffff;
   v = (v | v << 8) & 0x00ff00ff;
   v = (v | v << 4) & 0x0f0f0f0f;
   v = (v | v << 2) & 0x33333333;
   return (v | v << 1) & 0x55555555;
}

INT_OPERATION(intl, , spread_bits(x) | spread_bits(y) << 1)

AGXS_INLINE void select_loop(struct agxs_group *group, const struct agxs_uop *uop,
                             const struct agxs_row *truth, bool is_plain, bool is_all)
{
   const struct agxs_reader x = agxs_reader(group, &uop->src[2]);
   const struct agxs_reader y = agxs_reader(group, &uop->src[3]);
   const struct agxs_writer d = agxs_writer(group, &uop->dst);
   AGXS_EACH_LANE (i) {
      const uint32_t t = truth->lane[i];
      const uint32_t value = (agxs_read(&x, i, is_plain) & t) | (agxs_read(&y, i, is_plain) & ~t);
      agxs_write(&d, i, value, is_plain, is_all);
   }
}

static void select_lanes(struct agxs_group *group, const struct agxs_uop *uop,
                         const struct agxs_row *truth)
{
   if (!uop->is_plain)
      select_loop(group, uop, truth, false, false);
   else if (group->active == ~0u)
      select_loop(group, uop, truth, true, true);
   else
      select_loop(group, uop, truth, true, false);
}

/* Whole registers, all lanes active: compared and selected in one loop. */
AGXS_INLINE void icsel_loop(struct agxs_group *group, const struct agxs_uop *uop,
                            const struct agxs_int_condition condition, bool is_equal)
{
   const struct agxs_reader x = agxs_reader(group, &uop->src[2]);
   const struct agxs_reader y = agxs_reader(group, &uop->src[3]);
   const struct agxs_writer d = agxs_writer(group, &uop->dst);
   AGXS_EACH_LANE (i) {
      const uint32_t t = agxs_int_truth(&condition, i, true, is_equal);
      const uint32_t value = (agxs_read(&x, i, true) & t) | (agxs_read(&y, i, true) & ~t);
      agxs_write(&d, i, value, true, true);
   }
}

const struct agxs_uop *AGXS_EXEC(icsel)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row truth;
   if (uop->is_plain && group->active == ~0u) {
      const struct agxs_int_condition condition = agxs_int_condition(group, uop);
      if (condition.is_equal)
         icsel_loop(group, uop, condition, true);
      else
         icsel_loop(group, uop, condition, false);
      return uop + 1;
   }
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
