/* SPDX-License-Identifier: MIT
 *
 * Accesses to bindings that are robust stay inside their buffer. Until here they look like any
 * other access, but for indices: ELEMENT says what a byte offset counts, so that it is the index
 * that is compared, and no product wraps on the way. An access at C + i * stride becomes
 *
 *    clamp   guard(C) + umin(i, last) * stride
 *    zero    address + C + (i < count ? i : sink) * stride
 *
 * where guard, last, count and sink are uniforms (src/robustness/buffer.h). What opt_vectorize has
 * joined is checked as one; opt_cse shares the checks, and opt_preamble and opt_licm move
 * them. Without an index the guard alone is enough, so that nothing is executed at all.
 *
 * In zero mode each element is inside or outside by itself. A vector that is not wholly
 * inside goes to the sink; where some elements may be inside yet, which can only be at the one
 * index i == count when elements of the stride don't overlap, they are accessed one by one in an if
 * behind it.
 *
 * Before: generic SSA with ELEMENT. After: generic SSA without.
 */
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/analysis/range.h"

#define MAX_DEPTH 8
/* Uniform halves that bases may fill up to, as in opt_address; limits come later. */
#define BASE_HALVES_LIMIT 192
#define MAX_VECTOR        4

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

/* One access: what it touches, and how its index is checked. */
struct access {
   struct agxc_instr *instr;
   struct agxc_memory_ref memory;
   uint32_t bytes;
   bool writes, zero, exact; /* exact: elements count one by one */
   struct agxc_ref index;    /* AGXC_NONE: no index */
   uint32_t constant, stride;
};

struct robust {
   struct agxc_shader *shader;
   struct agxc_ranges *ranges;
   struct agxc_builder at; /* before the access */
   /* The last load of which elements are loaded one by one in an if, which copies share. */
   struct access load;
   struct agxc_if *branch;
   struct agxc_ref phis[MAX_VECTOR];
};

/* ---- offsets ------------------------------------------------------------ */

/* Elements of one stride count together: a pointer into an array may go back by one. */
static void add_term(struct robust *r, struct sum *sum, struct agxc_ref index, uint32_t stride)
{
   for (unsigned i = 0; i < sum->count; i++)
      if (sum->terms[i].stride == stride) {
         sum->terms[i].index = agxc_build_iadd(&r->at, sum->terms[i].index, index);
         return;
      }
   sum->terms[sum->count++] = (struct term){index, stride};
}

static void take_apart(struct robust *r, struct sum *sum, struct agxc_ref offset)
{
   struct agxc_offset parts = agxc_offset_split(offset, AGXC_OFFSET_SUMS, MAX_DEPTH);
   sum->constant = parts.constant;
   for (uint32_t i = 0; i < parts.count; i++) {
      const struct agxc_instr *element = agxc_def_as(parts.terms[i].ref, AGXC_OP_ELEMENT);
      if (element)
         add_term(r, sum, agxc_skip_moves(element->operand[1]), (uint32_t)element->operand[2].imm);
      else
         add_term(r, sum, parts.terms[i].ref, 1);
   }
}

static uint64_t most(const struct robust *r, const struct agxc_ref *ref)
{
   return agxc_range_of(r->ranges, ref).max;
}

/* (i + c) * stride is i * stride + c * stride, and (i << k) * stride is i * (stride << k), where
 * nothing wraps. */
static bool peel(const struct robust *r, struct term *term, uint64_t *constant)
{
   const struct agxc_instr *def = agxc_def_of(term->index);
   if (!def || def->src_count != 2 || def->operand[2].kind != AGXC_IMM)
      return false;
   uint64_t max = most(r, &def->operand[1]), by = (uint64_t)def->operand[2].imm;
   if (def->op == AGXC_OP_IADD && max + by <= UINT32_MAX &&
       *constant + by * term->stride <= INT32_MAX) {
      *constant += by * term->stride;
      term->index = agxc_skip_moves(def->operand[1]);
      return true;
   }
   by = agxc_offset_factor(def);
   if (by == 0 || max * by > UINT32_MAX || by * term->stride > AGX_PROGRAM_MAX_STRIDE_B)
      return false;
   term->index = agxc_skip_moves(def->operand[1]);
   term->stride *= (uint32_t)by;
   return true;
}

/* index * by; in zero mode what would wrap is all ones. */
static struct agxc_ref multiply(struct robust *r, bool saturates, struct agxc_ref index,
                                uint32_t by)
{
   if (by == 1)
      return index;
   if (saturates && most(r, &index) * by > UINT32_MAX)
      index = agxc_build_umin(&r->at, index, agxc_imm(UINT32_MAX / by, 32));
   if (by & (by - 1))
      return agxc_build_imul(&r->at, index, agxc_imm(by, 32));
   return agxc_build_ishl(&r->at, index, agxc_imm((uint32_t)__builtin_ctz(by), 32));
}

static struct agxc_ref add(struct robust *r, bool saturates, struct agxc_ref a, struct agxc_ref b)
{
   bool wraps = most(r, &a) + most(r, &b) > UINT32_MAX;
   struct agxc_ref sum = agxc_build_iadd(&r->at, a, b);
   if (!saturates || !wraps)
      return sum;
   struct agxc_ref wrapped = agxc_build_ult(&r->at, sum, a);
   return agxc_build_select(&r->at, wrapped, agxc_imm(UINT32_MAX, 32), sum);
}

/* One index for all terms (and the constant, where that has to go along), in units of a power of
 * two; whatever the application took for elements is of elements. */
static void count_units(struct robust *r, struct access *a, const struct sum *sum,
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
         one = agxc_build_ushr(&r->at, one, agxc_imm((uint32_t)__builtin_ctz(unit), 32));
      index = index.kind == AGXC_NONE ? one : add(r, a->zero, index, one);
   }
   if (with_constant)
      index = index.kind == AGXC_NONE ? agxc_imm(constant / unit, 32)
                                      : add(r, a->zero, index, agxc_imm(constant / unit, 32));
   a->constant -= constant;
   a->index = index;
   a->stride = unit;
}

/* ---- uniforms ----------------------------------------------------------- */

static struct agxc_ref limit(struct robust *r, const struct access *a, enum agx_uniform_kind kind,
                             uint32_t constant, uint32_t bytes)
{
   struct agx_program_access access = {.constant = constant, .stride = a->stride, .bytes = bytes};
   if (kind == AGX_UNIFORM_BUFFER_SINK)
      access.writes = a->writes;
   return agxc_uniform_slot(r->shader, kind, a->memory.binding, agx_program_access_pack(access),
                            32);
}

/* Whether there is room for a base, or it is there. */
static bool has_base(const struct agxc_shader *shader, enum agx_uniform_kind kind, uint32_t binding,
                     uint64_t value)
{
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].kind == (uint32_t)kind && shader->uniforms[i].index == binding &&
          shader->uniforms[i].value == value)
         return true;
   return shader->uniform_halves + 4 <= BASE_HALVES_LIMIT &&
          shader->uniform_count + 8 < AGX_PROGRAM_MAX_UNIFORMS;
}

static uint64_t guard_of(const struct access *a, uint32_t constant, uint32_t bytes)
{
   return agx_program_access_pack((struct agx_program_access){
      .constant = constant, .stride = 1, .bytes = bytes, .writes = a->writes});
}

static bool has_guard(const struct robust *r, const struct access *a)
{
   return has_base(r->shader, AGX_UNIFORM_BUFFER_GUARD, a->memory.binding,
                   guard_of(a, a->constant, a->bytes));
}

static struct agxc_ref guard(struct robust *r, const struct access *a, uint32_t constant,
                             uint32_t bytes)
{
   return agxc_uniform_slot(r->shader, AGX_UNIFORM_BUFFER_GUARD, a->memory.binding,
                            guard_of(a, constant, bytes), 64);
}

/* ---- checks ------------------------------------------------------------- */

/* i < count ? i : sink, for the bytes up to `bytes` of the access */
static struct agxc_ref redirected(struct robust *r, const struct access *a, uint32_t bytes)
{
   struct agxc_ref inside =
      agxc_build_ult(&r->at, a->index, limit(r, a, AGX_UNIFORM_BUFFER_COUNT, a->constant, bytes));
   struct agxc_ref sink = limit(r, a, AGX_UNIFORM_BUFFER_SINK, a->constant, a->bytes);
   return agxc_build_select(&r->at, inside, a->index, sink);
}

static struct agxc_ref scaled(struct robust *r, const struct access *a, struct agxc_ref index)
{
   uint32_t odd = a->stride >> __builtin_ctz(a->stride), shift = (uint32_t)__builtin_ctz(a->stride);
   if (odd > 1)
      index = agxc_build_imul(&r->at, index, agxc_imm(odd, 32));
   return shift ? agxc_build_ishl(&r->at, index, agxc_imm(shift, 32)) : index;
}

static void set_place(const struct access *a, struct agxc_ref base, struct agxc_ref offset)
{
   a->instr->operand[a->memory.base_operand] = base;
   a->instr->operand[a->memory.offset_operand] = offset;
}

static void clamp(struct robust *r, struct access *a)
{
   struct agxc_ref last = limit(r, a, AGX_UNIFORM_BUFFER_LAST, a->constant, a->bytes);
   struct agxc_ref index = agxc_build_umin(&r->at, a->index, last);
   set_place(a, guard(r, a, a->constant, a->bytes), scaled(r, a, index));
}

static struct agxc_ref base_of(struct robust *r, const struct access *a)
{
   return agxc_uniform_slot(r->shader, AGX_UNIFORM_BUFFER_ADDRESS, a->memory.binding, a->constant,
                            64);
}

/* ---- vectors, element by element ------------------------------------------ */

/* Elements that are inside or outside as one: of 64 bits two words. */
static uint32_t part_elements(const struct access *a)
{
   return a->memory.access & AGXC_ACCESS_PAIRS ? 2 : 1;
}

static struct agxc_instr *new_part(struct robust *r, const struct access *a, uint32_t first)
{
   struct agxc_instr *part = agxc_instr_new(r->shader, a->instr->op);
   int64_t access = a->memory.access | (int64_t)first << AGXC_ACCESS_SKIP_SHIFT;
   part->operand[part->operand_count - 1] = agxc_imm((uint64_t)access, 64);
   return part;
}

/* Loads or stores elements first .. first + count - 1 at that base and offset. */
static void access_part(struct robust *r, const struct access *a, uint32_t first, uint32_t skip,
                        struct agxc_ref base, struct agxc_ref offset, struct agxc_ref *elements)
{
   uint32_t count = part_elements(a);
   struct agxc_instr *part = new_part(r, a, skip);
   part->operand[a->memory.base_operand] = base;
   part->operand[a->memory.offset_operand] = offset;
   if (a->writes) {
      part->operand[a->memory.data_operand] =
         count == 1 ? elements[first] : agxc_collect(&r->at, count, elements + first);
      agxc_insert(&r->at, part);
      return;
   }
   struct agxc_value *value = agxc_value_new(r->shader, a->memory.bits, count);
   part->operand[0] = agxc_use(value);
   value->def = part;
   agxc_insert(&r->at, part);
   if (count == 1)
      elements[first] = agxc_use(value);
   else
      agxc_split(&r->at, agxc_use(value), elements + first);
}

/* What a store writes; nothing for a load. */
static void take_data(struct robust *r, const struct access *a, struct agxc_ref *elements)
{
   struct agxc_ref data = a->instr->operand[a->memory.data_operand];
   if (!a->writes)
      return;
   if (data.count == 1)
      elements[0] = data;
   else
      agxc_split(&r->at, data, elements);
}

/* The load's result is made of these. */
static void replace_load(struct robust *r, const struct access *a, const struct agxc_ref *elements)
{
   struct agxc_instr *collect =
      agxc_instr_new_n(r->shader, AGXC_OP_COLLECT, 1, a->instr->operand[0].count);
   collect->operand[0] = a->instr->operand[0];
   collect->operand[0].value->def = collect;
   for (unsigned i = 0; i < collect->src_count; i++)
      collect->operand[1 + i] = elements[i];
   agxc_insert(&r->at, collect);
}

/* Without an index, each element has its own guard. */
static void guard_parts(struct robust *r, struct access *a)
{
   struct agxc_ref elements[MAX_VECTOR];
   uint32_t step = part_elements(a), element_B = a->memory.bits / 8u;
   take_data(r, a, elements);
   for (uint32_t i = 0; i < a->memory.count; i += step)
      access_part(r, a, i, 0, guard(r, a, a->constant + i * element_B, step * element_B),
                  agxc_imm(0, 32), elements);
   if (!a->writes)
      replace_load(r, a, elements);
   agxc_instr_remove(a->instr);
}

/* A new block behind the access with all that follows it, and an if in between, whose condition
 * ends the old block. Returns the if. */
static struct agxc_if *split_block(struct robust *r, struct agxc_instr *at,
                                   struct agxc_ref condition)
{
   struct agxc_shader *shader = r->shader;
   struct agxc_block *block = at->block, *behind = agxc_block_new(shader);
   struct agxc_if *branch = agxc_if_new(shader);
   struct agxc_node *nodes[] = {&branch->node, &behind->node};
   for (struct agx_link *link = at->link.next, *next; link != &block->instrs; link = next) {
      struct agxc_instr *instr = agx_container_of(link, struct agxc_instr, link);
      next = link->next;
      agx_list_remove(link);
      agx_list_append(&behind->instrs, link);
      instr->block = behind;
   }
   struct agx_link *before = block->node.link.next;
   for (unsigned i = 0; i < AGX_COUNT(nodes); i++) {
      agx_list_insert_before(before, &nodes[i]->link);
      nodes[i]->parent = block->node.parent;
      nodes[i]->list = block->node.list;
   }
   agxc_node_append(&branch->then_list, &branch->node, &agxc_block_new(shader)->node);
   agxc_node_append(&branch->else_list, &branch->node, &agxc_block_new(shader)->node);
   struct agxc_builder b = agxc_at_end(shader, block);
   struct agxc_instr *test = agxc_instr_new(shader, AGXC_OP_BRANCH);
   test->operand[0] = condition;
   agxc_insert(&b, test);
   return branch;
}

static bool has_one_index(const struct access *a)
{
   return a->stride >= a->bytes;
}

static struct agxc_ref is_partial(struct robust *r, const struct access *a)
{
   return agxc_build2(&r->at, has_one_index(a) ? AGXC_OP_IEQ : AGXC_OP_UGE, 1, a->index,
                      limit(r, a, AGX_UNIFORM_BUFFER_COUNT, a->constant, a->bytes));
}

/* Elements from..to - 1, each where it belongs. */
static void access_parts(struct robust *r, const struct access *a, uint32_t from, uint32_t to,
                         struct agxc_ref *parts)
{
   uint32_t step = part_elements(a), element_B = a->memory.bits / 8u;
   struct agxc_ref base = a->instr->operand[a->memory.base_operand];
   for (uint32_t i = from; i < to; i += step) {
      struct agxc_ref index = redirected(r, a, (i + step) * element_B);
      access_part(r, a, i, i, base, scaled(r, a, index), parts);
   }
}

/* ---- copies ------------------------------------------------------------- */

/* What an element of a vector that was put together and taken apart is. */
static struct agxc_ref resolved(struct agxc_ref ref)
{
   for (;;) {
      ref = agxc_skip_moves(ref);
      const struct agxc_instr *split = agxc_def_as(ref, AGXC_OP_SPLIT);
      if (!split)
         return ref;
      const struct agxc_instr *collect =
         agxc_def_as(agxc_skip_moves(split->operand[split->dest_count]), AGXC_OP_COLLECT);
      uint32_t which = 0;
      while (split->operand[which].value != ref.value)
         which++;
      if (!collect)
         return ref;
      ref = collect->operand[1 + which];
   }
}

/* The elements of a store as the last load's if has them; false if it hasn't. */
static bool take_copied(const struct robust *r, const struct access *a, struct agxc_ref *elements)
{
   const struct agxc_instr *collect =
      agxc_def_as(agxc_skip_moves(a->instr->operand[a->memory.data_operand]), AGXC_OP_COLLECT);
   if (!collect)
      return false;
   for (uint32_t i = 0; i < a->memory.count; i++) {
      elements[i] = resolved(collect->operand[1 + i]);
      uint32_t k = 0;
      while (k < r->load.memory.count &&
             !(elements[i].kind == AGXC_VALUE && elements[i].value == r->phis[k].value))
         k++;
      if (k < r->load.memory.count)
         elements[i] = elements[i].value->def->operand[1];
      else if (elements[i].kind == AGXC_VALUE)
         return false;
   }
   return true;
}

/* Nothing touches memory between the if and the store. */
static bool stands_first(const struct agxc_instr *store)
{
   agxc_foreach_instr (instr, store->block) {
      if (instr == store)
         return true;
      if (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY))
         return false;
   }
   return false;
}

/* A store of what was just loaded, at the same index: one if for both. There every element is
 * loaded and stored by itself, since either of the two may be whole. */
static bool join_copy(struct robust *r, struct access *a)
{
   struct agxc_ref elements[MAX_VECTOR], loaded[MAX_VECTOR];
   struct access *load = &r->load;
   bool is_same = r->branch && a->writes && a->instr->block == agxc_block_after(&r->branch->node) &&
                  a->index.kind == AGXC_VALUE && load->index.kind == AGXC_VALUE &&
                  a->index.value == load->index.value;
   if (!is_same || !stands_first(a->instr) || !take_copied(r, a, elements))
      return false;
   uint32_t step = part_elements(load), count = load->memory.count;
   struct agxc_instr *test = agxc_terminator(agxc_block_before(&r->branch->node));
   r->at = agxc_before(r->shader, test);
   test->operand[0] = agxc_build_ior(&r->at, test->operand[0], is_partial(r, a));
   r->at = agxc_at_end(r->shader, agxc_first_block(&r->branch->then_list));
   if (has_one_index(load)) { /* whose last element was taken for one outside */
      access_parts(r, load, count - step, count, loaded);
      for (uint32_t i = count - step; i < count; i++)
         r->phis[i].value->def->operand[1] = loaded[i];
      take_copied(r, a, elements);
   }
   access_parts(r, a, 0, a->memory.count, elements);
   r->branch = NULL;
   return true;
}

/* ---- parts of vectors ----------------------------------------------------- */

/* Behind the access, for threads whose index is the one where some elements may be inside. */
static void add_parts(struct robust *r, struct access *a)
{
   struct agxc_shader *shader = r->shader;
   struct agxc_ref whole[MAX_VECTOR], parts[MAX_VECTOR];
   uint32_t step = part_elements(a), count = a->memory.count;
   /* Where one index is in question, the last element is outside. */
   uint32_t to = has_one_index(a) ? count - step : count;
   take_data(r, a, parts);
   struct agxc_if *branch = split_block(r, a->instr, is_partial(r, a));
   struct agxc_block *behind = agxc_block_after(&branch->node);
   r->at = agxc_at_end(shader, agxc_first_block(&branch->then_list));
   access_parts(r, a, 0, to, parts);
   if (a->writes)
      return;
   for (uint32_t i = to; i < count; i++)
      parts[i] = agxc_imm(0, a->memory.bits);
   struct agxc_value *vector = agxc_value_new(shader, a->memory.bits, count);
   r->at = agxc_before(shader, agxc_terminator(a->instr->block));
   struct agxc_ref dest = a->instr->operand[0];
   a->instr->operand[0] = agxc_use(vector);
   vector->def = a->instr;
   agxc_split(&r->at, agxc_use(vector), whole);
   r->at = agxc_at_end(shader, behind);
   if (!agx_list_empty(&behind->instrs))
      r->at.before = agx_container_of(behind->instrs.next, struct agxc_instr, link);
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_ref ways[2] = {parts[i], whole[i]};
      r->phis[i] = agxc_build(&r->at, AGXC_OP_PHI, a->memory.bits, 1, 2, ways);
   }
   a->instr->operand[0] = dest;
   replace_load(r, a, r->phis);
   a->instr->operand[0] = agxc_use(vector);
   r->load = *a;
   r->branch = branch;
}

static void zero(struct robust *r, struct access *a)
{
   struct agxc_ref index = redirected(r, a, a->bytes);
   set_place(a, base_of(r, a), scaled(r, a, index));
   if (a->exact && !join_copy(r, a))
      add_parts(r, a);
}

/* ---- pass --------------------------------------------------------------- */

static bool is_atomic(const struct access *a)
{
   return a->memory.reads && a->memory.writes;
}

/* Finds the index, and a form in which it can be had. */
static void find_index(struct robust *r, struct access *a)
{
   struct sum sum = {.constant = 0};
   take_apart(r, &sum, a->instr->operand[a->memory.offset_operand]);
   struct agx_program_uniform *slot = NULL;
   for (uint32_t i = 0; i < r->shader->uniform_count && !slot; i++)
      if (r->shader->uniforms[i].start == a->memory.base.half)
         slot = &r->shader->uniforms[i];
   sum.constant = (uint32_t)sum.constant + slot->value;
   for (unsigned i = 0; i < sum.count; i++)
      while (peel(r, &sum.terms[i], &sum.constant))
         ;
   a->constant = (uint32_t)AGX_MIN(sum.constant, (uint64_t)UINT32_MAX);
   a->index = agxc_none();
   a->stride = 1;
   enum agx_uniform_kind kind =
      a->zero && sum.count ? AGX_UNIFORM_BUFFER_ADDRESS : AGX_UNIFORM_BUFFER_GUARD;
   bool fits = kind == AGX_UNIFORM_BUFFER_GUARD
                  ? has_guard(r, a)
                  : has_base(r->shader, kind, a->memory.binding, a->constant);
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

static void check(struct robust *r, struct agxc_instr *instr)
{
   struct access a = {.instr = instr};
   if (!agxc_memory_ref_find(r->shader, instr, &a.memory) || !a.memory.robustness)
      return;
   a.bytes = agxc_memory_ref_bytes(&a.memory);
   a.writes = a.memory.writes;
   a.zero = a.memory.robustness == AGXC_ROBUST_ZERO;
   r->at = agxc_before(r->shader, instr);
   a.exact = a.zero && a.memory.count > part_elements(&a) && !is_atomic(&a);
   find_index(r, &a);
   if (a.index.kind == AGXC_NONE && a.exact)
      guard_parts(r, &a);
   else if (a.index.kind == AGXC_NONE)
      set_place(&a, guard(r, &a, a.constant, a.bytes), agxc_imm(0, 32));
   else if (a.zero)
      zero(r, &a);
   else
      clamp(r, &a);
}

/* What has served its purpose is arithmetic as any other. */
static void lower_element(struct agxc_instr *instr)
{
   uint32_t stride = (uint32_t)instr->operand[2].imm;
   bool is_shift = (stride & (stride - 1)) == 0;
   instr->op = is_shift ? AGXC_OP_ISHL : AGXC_OP_IMUL;
   if (is_shift)
      instr->operand[2] = agxc_imm((uint32_t)__builtin_ctz(stride), 32);
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
   struct robust r = {.shader = shader, .ranges = agxc_ranges_compute(shader)};
   uint32_t count = 0;
   struct agxc_instr **accesses =
      AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, shader->instr_count + 1ull);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (instr->op >= AGXC_OP_LOAD_GLOBAL && instr->op <= AGXC_OP_ATOMIC_GLOBAL)
            accesses[count++] = instr;
   for (uint32_t i = 0; i < count; i++)
      check(&r, accesses[i]);
   agxc_index(shader);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_ELEMENT)
            lower_element(instr);
   return true;
}
