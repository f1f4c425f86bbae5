/* SPDX-License-Identifier: MIT
 *
 * Computes bounds of values for the passes that divide (lower/division.c), check accesses
 * (lower/robust.c) and fold offsets (opt/address.c); the rules for single operations serve
 * lower/int64_wide.c and opt/elide_bounds_checks.c, too.
 *
 * Bounds start as "not reached" and grow: the walk over the program repeats until nothing
 * changes. A phi that still grows in the third round has no bounds, unless its loop counts:
 * the phi starts somewhere, each round first leaves when `phi < limit` is false and then adds a
 * constant, so it never exceeds limit - 1 + step.
 */
#include "agx/compiler/analysis/range.h"

#include "agx/compiler/analysis/induction.h"

#define ROUNDS    3 /* before phis that grow are given up */
#define LAST      6 /* from here on all phis are */
#define MAX_DEPTH 8 /* of values made later */

struct agxc_ranges {
   const struct agxc_shader *shader;
   struct agxc_range *of; /* by value id; max < min: not reached yet */
   uint32_t count;
   uint64_t *limits; /* by value id: what a counting loop stays within from then on, or 0 */
};

static bool is_empty(struct agxc_range range)
{
   return range.max < range.min;
}

/* All ones up to the highest one. */
static uint64_t fill(uint64_t max)
{
   return max ? agx_bits(64u - (unsigned)__builtin_clzll(max)) : 0;
}

/* ---- single operations ------------------------------------------------ */

static struct agxc_range sysval(const struct agxc_shader *shader, int64_t which)
{
   const uint32_t *size = shader->local_size;
   uint64_t all = agxc_threads_of(shader);
   static const uint32_t any[3] = {AGX_MAX_WORKGROUP_THREADS, AGX_MAX_WORKGROUP_THREADS,
                                   AGX_MAX_WORKGROUP_THREADS};
   if (shader->has_dynamic_local_size) {
      size = any;
      all = AGX_MAX_WORKGROUP_THREADS;
   }
   if (which >= AGXC_SYSVAL_LOCAL_SIZE && which < AGXC_SYSVAL_LOCAL_SIZE + 3)
      return (struct agxc_range){1, AGX_MAX_WORKGROUP_THREADS};
   if (which >= AGXC_SYSVAL_LOCAL_ID && which < AGXC_SYSVAL_LOCAL_ID + 3)
      return (struct agxc_range){0, AGX_MAX(size[which - AGXC_SYSVAL_LOCAL_ID], 1u) - 1};
   if (which == AGXC_SYSVAL_LOCAL_INDEX)
      return (struct agxc_range){0, all - 1};
   if (which == AGXC_SYSVAL_SUBGROUP_LANE)
      return (struct agxc_range){0, AGX_SIMD_LANES - 1};
   if (which == AGXC_SYSVAL_SUBGROUP_ID)
      return (struct agxc_range){0, (all - 1) / AGX_SIMD_LANES};
   return agxc_range_full(32);
}

/* The rules of agxc_range_combine; false: nothing is known. */
static bool combine(enum agxc_op op, unsigned bits, struct agxc_range a, struct agxc_range b,
                    struct agxc_range *out)
{
   uint64_t top = agx_bits(bits);
   switch (op) {
   case AGXC_OP_IADD:
      *out = (struct agxc_range){a.min + b.min, a.max + b.max};
      return a.max <= top - b.max;
   case AGXC_OP_ISUB:
      *out = (struct agxc_range){a.min - b.max, a.max - b.min};
      return a.min >= b.max;
   case AGXC_OP_IMUL:
      if (b.max && a.max > top / b.max)
         return false;
      *out = (struct agxc_range){a.min * b.min, a.max * b.max};
      return true;
   case AGXC_OP_ISHL:
      if (b.min != b.max || b.max >= bits || a.max > top >> b.max)
         return false;
      *out = (struct agxc_range){a.min << b.max, a.max << b.max};
      return true;
   case AGXC_OP_USHR:
      if (b.max >= bits)
         *out = (struct agxc_range){0, b.min < 64 ? a.max >> b.min : 0};
      else
         *out = (struct agxc_range){a.min >> b.max, a.max >> b.min};
      return true;
   case AGXC_OP_IAND:
      *out = (struct agxc_range){0, AGX_MIN(a.max, b.max)};
      return true;
   case AGXC_OP_IOR:
      *out = (struct agxc_range){AGX_MAX(a.min, b.min), fill(a.max | b.max)};
      return true;
   case AGXC_OP_IXOR:
      *out = (struct agxc_range){0, fill(a.max | b.max)};
      return true;
   case AGXC_OP_UMIN:
      *out = (struct agxc_range){AGX_MIN(a.min, b.min), AGX_MIN(a.max, b.max)};
      return true;
   case AGXC_OP_UMAX:
      *out = (struct agxc_range){AGX_MAX(a.min, b.min), AGX_MAX(a.max, b.max)};
      return true;
   case AGXC_OP_UDIV:
      *out = (struct agxc_range){b.max ? a.min / b.max : 0, b.min ? a.max / b.min : 0};
      return b.min > 0;
   case AGXC_OP_UMOD:
      *out = (struct agxc_range){0, AGX_MIN(a.max, b.max - 1)};
      return b.min > 0;
   default:
      return false;
   }
}

struct agxc_range agxc_range_combine(enum agxc_op op, unsigned bits, struct agxc_range a,
                                     struct agxc_range b)
{
   struct agxc_range out;
   return combine(op, bits, a, b, &out) ? out : agxc_range_full(bits);
}

struct agxc_range agxc_range_of_op(const struct agxc_shader *shader, const struct agxc_instr *instr)
{
   unsigned bits = agxc_dest(instr)->bits;
   switch (instr->op) {
   case AGXC_OP_SYSVAL:
      return sysval(shader, agxc_imm_sysval(instr));
   case AGXC_OP_ZEXT:
      return agxc_range_full(agxc_src_a(instr)->bits);
   case AGXC_OP_BITCOUNT:
      return (struct agxc_range){0, agxc_src_a(instr)->bits};
   case AGXC_OP_UBFE:
      if (agxc_src_width(instr)->kind == AGXC_IMM && agxc_src_width(instr)->imm < bits)
         return agxc_range_full((unsigned)agxc_src_width(instr)->imm);
      return agxc_range_full(bits);
   default:
      return agxc_range_full(bits);
   }
}

/* ---- values ----------------------------------------------------------- */

static struct agxc_range range_at(const struct agxc_ranges *r, const struct agxc_ref *ref,
                                  unsigned depth);

static struct agxc_range join(struct agxc_range a, struct agxc_range b)
{
   if (is_empty(a) || is_empty(b))
      return is_empty(a) ? b : a;
   return (struct agxc_range){AGX_MIN(a.min, b.min), AGX_MAX(a.max, b.max)};
}

static struct agxc_range join_sources(const struct agxc_ranges *r, const struct agxc_instr *phi,
                                      unsigned depth)
{
   struct agxc_range all = {1, 0};
   agxc_foreach_src (src, phi)
      all = join(all, range_at(r, src, depth));
   return all;
}

/* The bounds of an instruction's (only) result. */
static struct agxc_range eval(const struct agxc_ranges *r, const struct agxc_instr *instr,
                              unsigned bits, unsigned depth)
{
   struct agxc_range a, b;
   switch (instr->op) {
   case AGXC_OP_PHI:
      return join_sources(r, instr, depth);
   case AGXC_OP_SELECT:
      return join(range_at(r, agxc_src_if_true(instr), depth),
                  range_at(r, agxc_src_if_false(instr), depth));
   case AGXC_OP_MOV:
   case AGXC_OP_ZEXT:
      return range_at(r, agxc_src_a(instr), depth);
   case AGXC_OP_TRUNC:
      a = range_at(r, agxc_src_a(instr), depth);
      return a.max <= agx_bits(bits) ? a : agxc_range_full(bits);
   default:
      break;
   }
   if (!agxc_has_src(instr, AGXC_SRC_B) || agxc_has_src(instr, AGXC_SRC_C))
      return agxc_range_of_op(r->shader, instr);
   a = range_at(r, agxc_src_a(instr), depth);
   b = range_at(r, agxc_src_b(instr), depth);
   if (is_empty(a) || is_empty(b))
      return (struct agxc_range){1, 0};
   return agxc_range_combine((enum agxc_op)instr->op, bits, a, b);
}

static struct agxc_range range_at(const struct agxc_ranges *r, const struct agxc_ref *ref,
                                  unsigned depth)
{
   if (ref->kind == AGXC_IMM)
      return (struct agxc_range){(uint64_t)ref->imm & agx_bits(ref->bits),
                                 (uint64_t)ref->imm & agx_bits(ref->bits)};
   if (ref->kind != AGXC_VALUE || ref->count != 1)
      return agxc_range_full(ref->bits);
   if (ref->value->id < r->count)
      return r->of[ref->value->id];
   const struct agxc_instr *def = ref->value->def;
   if (!def || def->dest_count != 1 || def->op == AGXC_OP_PHI || depth == 0)
      return agxc_range_full(ref->bits);
   return eval(r, def, ref->bits, depth - 1);
}

struct agxc_range agxc_range_of(const struct agxc_ranges *ranges, const struct agxc_ref *ref)
{
   struct agxc_range range = range_at(ranges, ref, MAX_DEPTH);
   return is_empty(range) ? agxc_range_full(ref->bits) : range; /* code that nothing reaches */
}

/* ---- counting loops --------------------------------------------------- */

static bool ends_in_break(const struct agx_link *list)
{
   const struct agxc_instr *last = agxc_terminator(agxc_last_block(list));
   return list->next == list->prev && last && last->op == AGXC_OP_BREAK;
}

/* The first if of a loop's body, when nothing before it can go elsewhere. */
static struct agxc_if *first_test(const struct agxc_loop *loop)
{
   const struct agxc_node *node = agxc_node_after(&agxc_first_block(&loop->body)->node);
   return node && node->kind == AGXC_NODE_IF ? agxc_as_if(node) : NULL;
}

/* The greatest value of the phi that a loop's first test keeps below a constant. Signed compares
 * say the same for a start and a limit that are not negative. */
static bool note_count(void *user, struct agxc_loop *loop)
{
   struct agxc_ranges *r = user;
   struct agxc_if *first = first_test(loop);
   struct agxc_block *head = agxc_first_block(&loop->body);
   const struct agxc_instr *branch = first ? agxc_terminator(head) : NULL;
   bool in_else = branch && ends_in_break(&first->else_list);
   struct agxc_induction i;
   if (!branch || branch->op != AGXC_OP_BRANCH || (!in_else && !ends_in_break(&first->then_list)) ||
       !agxc_induction_read_test(&i, head, agxc_src_condition(branch), in_else))
      return false;
   uint32_t step = agxc_induction_step(i.phi);
   if (step == 0 || i.is_inclusive || i.limit.kind != AGXC_IMM)
      return false;
   uint64_t limit = (uint64_t)i.limit.imm;
   if (limit > 0 && limit <= INT32_MAX && step <= INT32_MAX - limit)
      r->limits[agxc_dest(i.phi)->value->id] = limit - 1 + step;
   return false;
}

/* What that promises, wherever the loop starts by what is known now; 0: nothing. */
static uint64_t promise(const struct agxc_ranges *r, const struct agxc_instr *instr)
{
   uint64_t limit = r->limits[agxc_dest(instr)->value->id];
   if (limit == 0)
      return 0;
   struct agxc_range start = range_at(r, agxc_phi_entry(instr), 0);
   return is_empty(start) ? limit : start.max <= INT32_MAX ? AGX_MAX(start.max, limit) : 0;
}

/* ---- the walk --------------------------------------------------------- */

/* Of what is no scalar, or one of several results. */
static bool give_up(struct agxc_ranges *r, const struct agxc_instr *instr)
{
   bool progress = false;
   agxc_foreach_dest (dest, instr) {
      progress |= is_empty(r->of[dest->value->id]);
      r->of[dest->value->id] = agxc_range_full(dest->bits);
   }
   return progress;
}

static bool update(struct agxc_ranges *r, const struct agxc_instr *instr, unsigned round)
{
   if (instr->dest_count != 1 || agxc_dest(instr)->count != 1)
      return give_up(r, instr);
   const struct agxc_ref *dest = agxc_dest(instr);
   uint32_t id = dest->value->id;
   struct agxc_range old = r->of[id], now = eval(r, instr, dest->bits, 0);
   uint64_t most = promise(r, instr);
   if (most)
      now.max = AGX_MIN(now.max, most);
   bool is_phi = instr->op == AGXC_OP_PHI;
   if (!(is_phi && round >= LAST) && (is_empty(now) || (now.min == old.min && now.max == old.max)))
      return false;
   if (is_phi && round >= ROUNDS) { /* by the end that moves */
      struct agxc_range all = agxc_range_full(dest->bits);
      if (most)
         all.max = most;
      bool grows = round >= LAST || is_empty(old);
      now.min = grows || now.min < old.min ? all.min : old.min;
      now.max = grows || now.max > old.max ? all.max : old.max;
   }
   r->of[id] = now;
   return now.min != old.min || now.max != old.max;
}

struct agxc_ranges *agxc_ranges_compute(struct agxc_shader *shader)
{
   struct agxc_ranges *r = AGX_ARENA_NEW(shader->arena, struct agxc_ranges);
   r->shader = shader;
   r->count = shader->value_count;
   r->of = AGX_ARENA_ARRAY(shader->arena, struct agxc_range, r->count);
   r->limits = AGX_ARENA_ARRAY(shader->arena, uint64_t, r->count);
   for (uint32_t i = 0; i < r->count; i++)
      r->of[i] = (struct agxc_range){1, 0};
   agxc_index(shader);
   agxc_loops_visit(&shader->body, note_count, r);
   bool progress = true;
   for (unsigned round = 0; progress; round++) {
      progress = false;
      agxc_foreach_instr_of (instr, shader)
         progress |= update(r, instr, round);
   }
   return r;
}
