/* SPDX-License-Identifier: MIT
 *
 * Operations across lanes: ballots, shuffles, reductions and scans, and the 8x8
 * matrix multiply. Source: docs/hw/semantics.md 11, machine.md 12; [U] identities of
 * scans, the order in which floats are combined (here: by lane), the matrix
 * instruction's rounding (here: a fused chain over k in single, rounded at the end).
 */
#include "agx/sim/exec/compare.h"
#include "agx/sim/exec/functions_impl.h"

static void put_ballot(struct agxs_group *group, const struct agxs_uop *uop,
                       const struct agxs_row *truth)
{
   uint32_t votes = agxs_mask_bits(truth) & group->active;
   struct agxs_row d;
   AGXS_FOR_LANES (i)
      d.lane[i] = uop->window ? votes : votes >> (i & ~3u) & 15;
   agxs_put_u32(group, &uop->dst, &d);
}

const struct agxs_uop *AGXS_EXEC(icmp_ballot)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row truth;
   agxs_compare_int(group, uop, &truth);
   put_ballot(group, uop, &truth);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(fcmp_ballot)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row truth;
   agxs_compare_float(group, uop, &truth);
   put_ballot(group, uop, &truth);
   return uop + 1;
}

/* B's low two bits are the OR over the quad, inactive lanes included: the source
 * quad's, not the asking lane's. Registers of a lane without a thread add nothing [U]:
 * they hold whatever the last group left there. */
const struct agxs_uop *AGXS_EXEC(shuffle)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, d;
   unsigned k[AGXS_LANES / 4];
   uint32_t counted = uop->src[1].bank == AGXS_BANK_REG ? group->exists : ~0u;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   for (unsigned q = 0; q < AGXS_LANES / 4; q++) {
      k[q] = 0;
      for (unsigned i = 4 * q; i < 4 * q + 4; i++)
         k[q] |= counted >> i & 1 ? b.lane[i] & 3 : 0;
   }
   AGXS_FOR_LANES (i) {
      uint32_t wanted = agxs_shuffle_wanted(uop, i, b.lane[i]);
      if (wanted >= AGXS_LANES) {
         d.lane[i] = a.lane[i];
         continue;
      }
      unsigned quad = wanted & ~3u;
      d.lane[i] = a.lane[agxs_shuffle_source(uop, quad, i & 3, k[quad / 4])];
   }
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}

static bool is_float_op(unsigned op)
{
   return op == AGX_ISA_SUBOP_FADD || op == AGX_ISA_SUBOP_FMUL || op == AGX_ISA_SUBOP_FMIN ||
          op == AGX_ISA_SUBOP_FMAX;
}

static uint32_t combine_floats(unsigned op, uint32_t x, uint32_t y, unsigned bits)
{
   float a = agxs_float(x), b = agxs_float(y), d;
   switch (op) {
   case AGX_ISA_SUBOP_FADD:
      d = a + b;
      break;
   case AGX_ISA_SUBOP_FMUL:
      d = a * b;
      break;
   case AGX_ISA_SUBOP_FMIN:
      return a < b || b != b ? x : y;
   default:
      return a > b || b != b ? x : y;
   }
   uint32_t raw = agxs_bits(d);
   if ((raw & 0x7fffffff) > 0x7f800000u)
      return AGXS_NAN32;
   return bits == 16 ? agxs_half_to_single(agxs_single_to_half(raw)) : agxs_flush(raw);
}

/* Floats are single bits here, whatever their size. */
static uint32_t combine(unsigned op, uint32_t x, uint32_t y, unsigned bits)
{
   switch (op) {
   case AGX_ISA_SUBOP_AND:
      return x & y;
   case AGX_ISA_SUBOP_OR:
      return x | y;
   case AGX_ISA_SUBOP_XOR:
      return x ^ y;
   case AGX_ISA_SUBOP_IADD:
      return x + y;
   case AGX_ISA_SUBOP_SMIN:
      return (int32_t)x < (int32_t)y ? x : y;
   case AGX_ISA_SUBOP_SMAX:
      return (int32_t)x > (int32_t)y ? x : y;
   case AGX_ISA_SUBOP_UMIN:
      return x < y ? x : y;
   case AGX_ISA_SUBOP_UMAX:
      return x > y ? x : y;
   default:
      return combine_floats(op, x, y, bits);
   }
}

static uint32_t identity(unsigned op, unsigned bits)
{
   switch (op) {
   case AGX_ISA_SUBOP_AND:
   case AGX_ISA_SUBOP_UMIN:
      return bits == 16 ? 0xffff : ~0u;
   case AGX_ISA_SUBOP_SMIN:
      return bits == 16 ? 0x7fff : 0x7fffffff;
   case AGX_ISA_SUBOP_SMAX:
      return bits == 16 ? 0xffff8000u : 0x80000000u;
   case AGX_ISA_SUBOP_FADD:
      return 0x80000000u; /* -0.0 */
   case AGX_ISA_SUBOP_FMUL:
      return 0x3f800000u;
   case AGX_ISA_SUBOP_FMIN:
      return 0x7f800000u;
   case AGX_ISA_SUBOP_FMAX:
      return 0xff800000u;
   default:
      return 0;
   }
}

/* Reductions and exclusive scans, of the SIMD-group or of each quad. */
const struct agxs_uop *AGXS_EXEC(reduce)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, d;
   unsigned width = uop->window ? AGXS_LANES : 4, bits = uop->count;
   bool is_float = is_float_op(uop->mode);
   if (is_float)
      agxs_get_float(group, &uop->src[0], &a);
   else
      agxs_get_u32(group, &uop->src[0], &a);
   for (unsigned first = 0; first < AGXS_LANES; first += width) {
      uint32_t total = identity(uop->mode, bits);
      for (unsigned i = first; i < first + width; i++) {
         d.lane[i] = total;
         if (group->exec.lane[i])
            total = combine(uop->mode, total, a.lane[i], bits);
      }
      for (unsigned i = first; i < first + width && !uop->prefix; i++)
         d.lane[i] = total;
   }
   AGXS_FOR_LANES (i)
      d.lane[i] = is_float && uop->dst.bits == 16 ? agxs_single_to_half(d.lane[i]) : d.lane[i];
   agxs_put_u32(group, &uop->dst, &d);
   return uop + 1;
}

/* Where lane l's first element stands in an 8x8 tile; the second is the next column. */
static unsigned matrix_cell(unsigned lane)
{
   unsigned q = lane >> 3;
   return ((q >> 1) * 4 + (lane >> 1 & 3)) * 8 + (q & 1) * 4 + (lane & 1) * 2;
}

static void get_matrix(const struct agxs_group *group, const struct agxs_source *source,
                       float *tile)
{
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 2; e++) {
         uint32_t raw = agxs_get_lane(group, source, e, i);
         raw = source->bits == 16 ? agxs_half_to_single(raw) : agxs_flush(raw);
         tile[matrix_cell(i) + e] = agxs_float((raw & source->keep) ^ source->flip);
      }
   }
}

/* c += a * b. The chain keeps denormals, so the processor must not flush its sources. */
static __attribute__((noinline)) void multiply_add(const float *a, const float *b, float *c)
{
   bool flushed = agxs_host_flush(false);
   __asm__ volatile("" ::: "memory");
   for (unsigned cell = 0; cell < 64; cell++) {
      for (unsigned k = 0; k < 8; k++)
         c[cell] = fmaf(a[(cell & ~7u) + k], b[8 * k + (cell & 7)], c[cell]);
   }
   __asm__ volatile("" ::: "memory");
   agxs_host_flush(flushed);
}

const struct agxs_uop *AGXS_EXEC(matrix)(struct agxs_group *group, const struct agxs_uop *uop)
{
   float a[64], b[64], c[64];
   if (group->active != ~0u)
      return agxs_group_fail(group, uop, AGX_UNIMPLEMENTED, "not all lanes are active (0x%08x)",
                             group->active);
   get_matrix(group, &uop->src[0], a);
   get_matrix(group, &uop->src[1], b);
   get_matrix(group, &uop->src[2], c);
   multiply_add(a, b, c);
   AGXS_FOR_LANES (i) {
      for (unsigned e = 0; e < 2; e++) {
         uint32_t raw = agxs_bits(c[matrix_cell(i) + e]);
         raw = (raw & 0x7fffffff) > 0x7f800000u ? AGXS_NAN32 : raw;
         raw = uop->dst.bits == 16 ? agxs_single_to_half(raw) : agxs_flush(raw);
         agxs_put_lane(group, &uop->dst, e, i, raw);
      }
   }
   return uop + 1;
}
