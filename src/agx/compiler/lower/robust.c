/* SPDX-License-Identifier: MIT
 *
 * Accesses to bindings that are robust stay inside their buffer. Until here they look like any
 * other access, but for indices: ELEMENT says what a byte offset counts, so that it is the index
 * that is compared, and no product wraps on the way. An access at C + i * stride becomes
 *
 *    clamp   guard(C) + umin(i, last) * stride
 *    zero    address + C + (i < count ? i : sink) * stride
 *
 * where guard, last, count and sink are uniforms (src/robustness/buffer.h). Without an index the
 * guard alone is enough, so that nothing is executed at all.
 *
 * In zero mode each element is inside or outside by itself. A vector that is not wholly inside goes
 * to the sink; where some elements may be inside yet, which can only be at the one index i == count
 * when elements of the stride don't overlap, they are accessed one by one in an if behind it
 * (robust_parts.c).
 *
 * Before: generic SSA with ELEMENT. After: generic SSA without. The pass stands behind
 * opt_vectorize, so that a joined access is checked once, and in front of opt_address, opt_cse,
 * opt_preamble and opt_licm, which fold, share and move the checks.
 */
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/lower/robust_impl.h"
#include "agx/compiler/ir/launch_slots.h"

#define MAX_DEPTH 8

struct term {
   struct agxc_ref index;
   uint32_t stride; /* 1: bytes */
};

/* An access at constant + the sum of index * stride. */
struct sum {
   struct term terms[AGXC_OFFSET_MAX_TERMS];
   unsigned count;
   uint64_t constant;
};

/* ---- offsets ------------------------------------------------------------ */

/* Elements of one stride count together: a pointer into an array may go back by one. */
static void add_term(struct agxc_robust *r, struct sum *sum, struct agxc_ref index, uint32_t stride)
{
   for (unsigned i = 0; i < sum->count; i++)
      if (sum->terms[i].stride == stride) {
         sum->terms[i].index = agxc_build_iadd(&r->at, sum->terms[i].index, index);
         return;
      }
   sum->terms[sum->count++] = (struct term){index, stride};
}

static void take_apart(struct agxc_robust *r, struct sum *sum, struct agxc_ref offset)
{
   struct agxc_offset parts = agxc_offset_split(offset, AGXC_OFFSET_SUMS, MAX_DEPTH);
   sum->constant = parts.constant;
   for (uint32_t i = 0; i < parts.count; i++) {
      const struct agxc_instr *element = agxc_def_as(parts.terms[i].ref, AGXC_OP_ELEMENT);
      if (element)
         add_term(r, sum, agxc_skip_moves(*agxc_src_index(element)),
                  (uint32_t)agxc_src_stride(element)->imm);
      else
         add_term(r, sum, parts.terms[i].ref, 1);
   }
}

static uint64_t most(const struct agxc_robust *r, const struct agxc_ref *ref)
{
   return agxc_range_of(r->ranges, ref).max;
}

/* (i + c) * stride is i * stride + c * stride, and (i << k) * stride is i * (stride << k), where
 * nothing wraps. */
static bool peel(const struct agxc_robust *r, struct term *term, uint64_t *constant)
{
   const struct agxc_instr *def = agxc_def_of(term->index);
   uint64_t factor = def ? agxc_offset_factor(def) : 0;
   bool is_sum = def && def->op == AGXC_OP_IADD && agxc_src_b(def)->kind == AGXC_IMM;
   if (!factor && !is_sum)
      return false;
   uint64_t max = most(r, agxc_src_a(def)), by = is_sum ? (uint64_t)agxc_src_b(def)->imm : 0;
   if (is_sum && (max + by > UINT32_MAX || *constant + by * term->stride > INT32_MAX))
      return false;
   if (factor && (max * factor > UINT32_MAX || factor * term->stride > AGX_PROGRAM_MAX_STRIDE_B))
      return false;
   *constant += by * term->stride;
   term->stride *= is_sum ? 1 : (uint32_t)factor;
   term->index = agxc_skip_moves(*agxc_src_a(def));
   return true;
}

/* index * by; in zero mode what would wrap is all ones. */
static struct agxc_ref multiply(struct agxc_robust *r, bool saturates, struct agxc_ref index,
                                uint32_t by)
{
   if (by == 1)
      return index;
   if (saturates && most(r, &index) * by > UINT32_MAX)
      index = agxc_build_umin(&r->at, index, agxc_u32(UINT32_MAX / by));
   return agxc_build_times(&r->at, index, by);
}

static struct agxc_ref add(struct agxc_robust *r, bool saturates, struct agxc_ref a,
                           struct agxc_ref b)
{
   bool wraps = most(r, &a) + most(r, &b) > UINT32_MAX;
   struct agxc_ref sum = agxc_build_iadd(&r->at, a, b);
   if (!saturates || !wraps)
      return sum;
   struct agxc_ref wrapped = agxc_build_ult(&r->at, sum, a);
   return agxc_build_select(&r->at, wrapped, agxc_u32(UINT32_MAX), sum);
}

/* One index for all terms (and the constant, where that has to go along), in units of a power of
 * two; whatever the application took for elements is of elements. */
static void count_units(struct agxc_robust *r, struct agxc_robust_access *a, const struct sum *sum,
                        bool with_constant)
{
   uint32_t element_B = a->memory.bits / 8u, unit = 4 * element_B;
   uint32_t constant = with_constant ? a->constant : 0;
   for (unsigned i = 0; i < sum->count; i++)
      unit = AGX_MIN(unit, sum->terms[i].stride & -sum->terms[i].stride);
   unit = AGX_MAX(unit, element_B);
   while (unit > element_B && (constant % unit || (a->memory.reads && a->memory.writes)))
      unit /= 2;
   struct agxc_ref index = agxc_none();
   for (unsigned i = 0; i < sum->count; i++) {
      const struct term *term = &sum->terms[i];
      bool is_whole = term->stride % unit == 0;
      struct agxc_ref one =
         multiply(r, a->zero, term->index, is_whole ? term->stride / unit : term->stride);
      if (!is_whole)
         one = agxc_build_ushr(&r->at, one, agxc_u32((uint32_t)__builtin_ctz(unit)));
      index = index.kind == AGXC_NONE ? one : add(r, a->zero, index, one);
   }
   if (with_constant)
      index = index.kind == AGXC_NONE ? agxc_u32(constant / unit)
                                      : add(r, a->zero, index, agxc_u32(constant / unit));
   a->constant -= constant;
   a->index = index;
   a->stride = unit;
}

/* ---- limits ------------------------------------------------------------- */

static struct agxc_ref limit(struct agxc_robust *r, const struct agxc_robust_access *a,
                             enum agx_uniform_kind kind, uint32_t constant, uint32_t bytes)
{
   struct agx_program_access access = {.constant = constant, .stride = a->stride, .bytes = bytes};
   if (kind == AGX_UNIFORM_BUFFER_SINK)
      access.writes = a->writes;
   return agxc_uniform_slot(r->shader, kind, a->memory.binding, agx_program_access_pack(access),
                            32);
}

static bool has_base(const struct agxc_robust *r, enum agx_uniform_kind kind, uint32_t binding,
                     uint64_t value)
{
   const struct agxc_shader *shader = r->shader;
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].kind == (uint32_t)kind && shader->uniforms[i].index == binding &&
          shader->uniforms[i].value == value)
         return true;
   return agxc_has_room_for_base(shader);
}

static uint64_t guard_of(const struct agxc_robust_access *a, uint32_t constant, uint32_t bytes)
{
   return agx_program_access_pack((struct agx_program_access){
      .constant = constant, .stride = 1, .bytes = bytes, .writes = a->writes});
}

static bool has_guard(const struct agxc_robust *r, const struct agxc_robust_access *a)
{
   return has_base(r, AGX_UNIFORM_BUFFER_GUARD, a->memory.binding,
                   guard_of(a, a->constant, a->bytes));
}

struct agxc_ref agxc_robust_guard(struct agxc_robust *r, const struct agxc_robust_access *a,
                                  uint32_t constant, uint32_t bytes)
{
   return agxc_uniform_slot(r->shader, AGX_UNIFORM_BUFFER_GUARD, a->memory.binding,
                            guard_of(a, constant, bytes), 64);
}

struct agxc_ref agxc_robust_base(struct agxc_robust *r, const struct agxc_robust_access *a)
{
   return agxc_uniform_slot(r->shader, AGX_UNIFORM_BUFFER_ADDRESS, a->memory.binding, a->constant,
                            64);
}

static struct agxc_ref clamped(struct agxc_robust *r, const struct agxc_robust_access *a)
{
   struct agxc_ref last = limit(r, a, AGX_UNIFORM_BUFFER_LAST, a->constant, a->bytes);
   return agxc_build_umin(&r->at, a->index, last);
}

struct agxc_ref agxc_robust_redirected(struct agxc_robust *r, const struct agxc_robust_access *a,
                                       uint32_t bytes)
{
   struct agxc_ref inside =
      agxc_build_ult(&r->at, a->index, limit(r, a, AGX_UNIFORM_BUFFER_COUNT, a->constant, bytes));
   struct agxc_ref sink = limit(r, a, AGX_UNIFORM_BUFFER_SINK, a->constant, a->bytes);
   return agxc_build_select(&r->at, inside, a->index, sink);
}

struct agxc_ref agxc_robust_scaled(struct agxc_robust *r, const struct agxc_robust_access *a,
                                   struct agxc_ref index)
{
   uint32_t odd = a->stride >> __builtin_ctz(a->stride), shift = (uint32_t)__builtin_ctz(a->stride);
   if (odd > 1)
      index = agxc_build_imul(&r->at, index, agxc_u32(odd));
   return shift ? agxc_build_ishl(&r->at, index, agxc_u32(shift)) : index;
}

bool agxc_robust_has_one_index(const struct agxc_robust_access *a)
{
   return a->stride >= a->bytes;
}

struct agxc_ref agxc_robust_is_partial(struct agxc_robust *r, const struct agxc_robust_access *a)
{
   return agxc_build2(&r->at, agxc_robust_has_one_index(a) ? AGXC_OP_IEQ : AGXC_OP_UGE, 1, a->index,
                      limit(r, a, AGX_UNIFORM_BUFFER_COUNT, a->constant, a->bytes));
}

/* ---- checks ------------------------------------------------------------- */

static void set_address(const struct agxc_robust_access *a, struct agxc_ref base,
                        struct agxc_ref offset)
{
   *agxc_src_address(a->instr) = base;
   *agxc_src_offset(a->instr) = offset;
}

static void clamp(struct agxc_robust *r, struct agxc_robust_access *a)
{
   struct agxc_ref index = clamped(r, a);
   set_address(a, agxc_robust_guard(r, a, a->constant, a->bytes), agxc_robust_scaled(r, a, index));
}

static void zero(struct agxc_robust *r, struct agxc_robust_access *a)
{
   struct agxc_ref index = agxc_robust_redirected(r, a, a->bytes);
   set_address(a, agxc_robust_base(r, a), agxc_robust_scaled(r, a, index));
   if (a->by_element)
      agxc_robust_add_parts(r, a);
}

/* ---- pass --------------------------------------------------------------- */

static bool is_atomic(const struct agxc_robust_access *a)
{
   return a->memory.reads && a->memory.writes;
}

/* Finds the index, and a form in which it can be had. */
static void find_index(struct agxc_robust *r, struct agxc_robust_access *a)
{
   struct sum sum = {.constant = 0};
   take_apart(r, &sum, *agxc_src_offset(a->instr));
   const struct agx_program_uniform *slot = agxc_slot_at(r->shader, a->memory.base.half);
   sum.constant = (uint32_t)sum.constant + slot->value;
   for (unsigned i = 0; i < sum.count; i++)
      while (peel(r, &sum.terms[i], &sum.constant))
         ;
   a->constant = (uint32_t)AGX_MIN(sum.constant, (uint64_t)UINT32_MAX);
   a->index = agxc_none();
   a->stride = 1;
   enum agx_uniform_kind kind =
      a->zero && sum.count ? AGX_UNIFORM_BUFFER_ADDRESS : AGX_UNIFORM_BUFFER_GUARD;
   bool fits = kind == AGX_UNIFORM_BUFFER_GUARD ? has_guard(r, a)
                                                : has_base(r, kind, a->memory.binding, a->constant);
   if (!fits) { /* the binding's own address is there */
      a->zero = true;
      count_units(r, a, &sum, true);
   } else if (sum.count == 1 && sum.terms[0].stride <= AGX_PROGRAM_MAX_STRIDE_B &&
              sum.terms[0].stride % (a->memory.bits / 8u) == 0) {
      a->index = sum.terms[0].index;
      a->stride = sum.terms[0].stride;
   } else if (sum.count) {
      count_units(r, a, &sum, false);
   }
}

static void check(struct agxc_robust *r, struct agxc_instr *instr)
{
   struct agxc_robust_access a = {.instr = instr};
   if (!agxc_memory_ref_find(r->shader, instr, &a.memory) || !a.memory.robustness)
      return;
   a.bytes = agxc_memory_ref_bytes(&a.memory);
   a.writes = a.memory.writes;
   a.zero = a.memory.robustness == AGXC_ROBUST_ZERO;
   r->at = agxc_before(r->shader, instr);
   a.by_element = a.zero && a.memory.count > agxc_robust_part_elements(&a) && !is_atomic(&a);
   find_index(r, &a);
   if (a.index.kind == AGXC_NONE && a.by_element)
      agxc_robust_guard_parts(r, &a);
   else if (a.index.kind == AGXC_NONE)
      set_address(&a, agxc_robust_guard(r, &a, a.constant, a.bytes), agxc_u32(0));
   else if (a.zero)
      zero(r, &a);
   else
      clamp(r, &a);
}

/* What has served its purpose is arithmetic as any other. */
static void lower_element(struct agxc_instr *instr)
{
   uint32_t stride = (uint32_t)agxc_src_stride(instr)->imm;
   bool is_shift = stride && (stride & (stride - 1)) == 0;
   instr->op = is_shift ? AGXC_OP_ISHL : AGXC_OP_IMUL;
   if (is_shift)
      *agxc_src_b(instr) = agxc_u32((uint32_t)__builtin_ctz(stride));
}

static bool is_robust(const struct agxc_shader *shader)
{
   for (uint32_t i = 0; i < shader->binding_count; i++)
      if (shader->bindings[i].robustness)
         return true;
   return false;
}

bool agxc_lower_robust(struct agxc_shader *shader)
{
   if (!is_robust(shader))
      return false;
   struct agxc_robust r = {.shader = shader, .ranges = agxc_ranges_compute(shader)};
   uint32_t count = 0;
   struct agxc_instr **accesses =
      AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, shader->instr_count + 1ull);
   agxc_foreach_instr_of (instr, shader)
      if (instr->op >= AGXC_OP_LOAD_GLOBAL && instr->op <= AGXC_OP_ATOMIC_GLOBAL)
         accesses[count++] = instr;
   for (uint32_t i = 0; i < count; i++)
      check(&r, accesses[i]);
   agxc_index(shader);
   agxc_foreach_instr_of (instr, shader)
      if (instr->op == AGXC_OP_ELEMENT)
         lower_element(instr);
   return true;
}
