/* SPDX-License-Identifier: MIT
 *
 * Leaves out bounds checks that the driver can do at launch. Most accesses can't leave their
 * buffer, and a launch shows it: grid, push constants and sizes of buffers are known then. This
 * pass finds accesses whose offset has a bound that follows from these, and records how to compute
 * the bound as a guard (struct agx_program_guard). The result is the program's unchecked
 * variant; the driver runs it where all guards hold, and the checked program elsewhere.
 *
 * What bounds a value: what it is made of, and the tests that stand before it (`if (i >= n)
 * return`, loops over i < n). A fact is only used where its test has been passed, so accesses that
 * are bounded by one stay behind it: AGXC_ACCESS_INSIDE says that they are not safe to move up.
 *
 * Before: generic SSA with ELEMENT and bindings as uniforms. After: the same; the pass does nothing
 * unless shader->is_unchecked. Stands behind lower_buffer, which makes uniforms of the bindings,
 * and in front of all passes that change loops or indices, while tests stand as they were written.
 */
#include <string.h>

#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/opt/opt.h"
#include "program/guards.h"

#define MAX_DEPTH 12u /* of an expression */
#define ANY       UINT32_MAX

/* Behind a test: value < limit, or value >= least. Those that say that a loop goes on know of
 * which: the test comes first in each iteration. */
struct fact {
   struct fact *outer;
   const struct agxc_value *value;
   struct agxc_ref limit; /* AGXC_NONE: there is none */
   uint32_t least;
   bool is_signed;
   const struct agxc_loop *leaves; /* the loop that ends where the test fails, or NULL */
};

struct proof {
   struct agxc_shader *shader;
   struct fact *facts;
   struct agx_program_guard guard; /* under construction */
   unsigned depth, stack;          /* of recursion, of what the steps leave */
   bool failed;                    /* too long, or deep */
};

/* ---- steps -------------------------------------------------------------- */

static void step(struct proof *p, enum agx_step_op op, uint32_t value)
{
   struct agx_program_guard *c = &p->guard;
   p->stack += op <= AGX_STEP_LAST_THREAD ? 1 : -1u;
   if (c->step_count == AGX_PROGRAM_MAX_STEPS || p->stack > AGX_PROGRAM_STEP_DEPTH) {
      p->failed = true;
      return;
   }
   c->steps[c->step_count++] = (struct agx_program_step){op, value};
}

static void constant(struct proof *p, uint32_t value)
{
   step(p, AGX_STEP_CONSTANT, value);
}

static const struct agx_program_uniform *slot_of(const struct agxc_shader *shader,
                                                 const struct agxc_ref *ref)
{
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].start == ref->half && ref->bits == 32)
         return &shader->uniforms[i];
   return NULL;
}

/* ---- values that the driver knows ------------------------------------------ */

static const struct {
   uint16_t op, step;
} exact_steps[] = {
   {AGXC_OP_IADD, AGX_STEP_EXACT_ADD},  {AGXC_OP_ISUB, AGX_STEP_EXACT_SUB},
   {AGXC_OP_IMUL, AGX_STEP_EXACT_MUL},  {AGXC_OP_ISHL, AGX_STEP_EXACT_SHL},
   {AGXC_OP_USHR, AGX_STEP_EXACT_SHR},  {AGXC_OP_IAND, AGX_STEP_EXACT_AND},
   {AGXC_OP_UDIV, AGX_STEP_EXACT_UDIV}, {AGXC_OP_UMIN, AGX_STEP_EXACT_UMIN},
   {AGXC_OP_UMAX, AGX_STEP_EXACT_UMAX}, {AGXC_OP_IMIN, AGX_STEP_EXACT_IMIN},
   {AGXC_OP_IMAX, AGX_STEP_EXACT_IMAX},
};

static uint16_t exact_step(const struct agxc_instr *def)
{
   /* Shifts and quotients only by what makes them defined. */
   bool needs_constant =
      def->op == AGXC_OP_ISHL || def->op == AGXC_OP_USHR || def->op == AGXC_OP_UDIV;
   if (needs_constant && (def->operand[2].kind != AGXC_IMM || def->operand[2].imm == 0))
      return 0;
   for (size_t i = 0; i < AGX_COUNT(exact_steps); i++)
      if (exact_steps[i].op == def->op)
         return exact_steps[i].step;
   return 0;
}

static struct agxc_ref chased(struct agxc_ref ref)
{
   while (ref.kind == AGXC_VALUE && ref.value->def && ref.value->def->op == AGXC_OP_MOV)
      ref = ref.value->def->operand[1];
   return ref;
}

static bool is_exact(const struct proof *p, struct agxc_ref ref, unsigned depth)
{
   ref = chased(ref);
   if (ref.bits != 32 || ref.count != 1)
      return false;
   if (ref.kind == AGXC_IMM)
      return true;
   if (ref.kind == AGXC_UNIFORM) {
      const struct agx_program_uniform *slot = slot_of(p->shader, &ref);
      return slot && (slot->kind == AGX_UNIFORM_PUSH || slot->kind == AGX_UNIFORM_WORKGROUP_COUNT ||
                      slot->kind == AGX_UNIFORM_BUFFER_SIZE);
   }
   const struct agxc_instr *def = ref.kind == AGXC_VALUE ? ref.value->def : NULL;
   return def && depth && exact_step(def) && is_exact(p, def->operand[1], depth - 1) &&
          is_exact(p, def->operand[2], depth - 1);
}

static void push_exact(struct proof *p, struct agxc_ref ref)
{
   ref = chased(ref);
   if (p->failed)
      return;
   if (ref.kind == AGXC_IMM) {
      constant(p, (uint32_t)ref.imm);
   } else if (ref.kind == AGXC_UNIFORM) {
      const struct agx_program_uniform *slot = slot_of(p->shader, &ref);
      step(p,
           slot->kind == AGX_UNIFORM_PUSH          ? AGX_STEP_PUSH
           : slot->kind == AGX_UNIFORM_BUFFER_SIZE ? AGX_STEP_SIZE
                                                   : AGX_STEP_GROUP_COUNT,
           slot->index);
   } else {
      const struct agxc_instr *def = ref.value->def;
      push_exact(p, def->operand[1]);
      push_exact(p, def->operand[2]);
      step(p, (enum agx_step_op)exact_step(def), 0);
   }
}

/* ---- bounds ------------------------------------------------------------- */

static void push_bound(struct proof *p, struct agxc_ref ref);

/* What a value is certainly not below. */
static uint32_t least(const struct proof *p, struct agxc_ref ref)
{
   uint32_t result = 0;
   ref = chased(ref);
   if (ref.kind == AGXC_IMM)
      return (uint32_t)ref.imm;
   for (const struct fact *fact = p->facts; fact; fact = fact->outer)
      if (ref.kind == AGXC_VALUE && fact->value == ref.value)
         result = AGX_MAX(result, fact->least);
   return result;
}

static void push_two(struct proof *p, enum agx_step_op op, struct agxc_ref a, struct agxc_ref b)
{
   push_bound(p, a);
   push_bound(p, b);
   step(p, op, 0);
}

/* x - c is no more than x where x >= c. A sum is no less than its parts if it does not wrap, and
 * if it does, its parts give it no bound. */
static void push_difference(struct proof *p, struct agxc_ref x, uint32_t c)
{
   x = chased(x);
   const struct agxc_instr *def = x.kind == AGXC_VALUE ? x.value->def : NULL;
   if (least(p, x) >= c)
      push_bound(p, x);
   else if (def && def->op == AGXC_OP_IADD &&
            AGX_MAX(least(p, def->operand[1]), least(p, def->operand[2])) >= c &&
            least(p, def->operand[2]) <= INT32_MAX)
      push_two(p, AGX_STEP_ADD, def->operand[1], def->operand[2]);
   else
      constant(p, ANY);
}

static void push_sum(struct proof *p, const struct agxc_instr *def)
{
   struct agxc_ref b = chased(def->operand[2]);
   if (b.kind != AGXC_IMM || (uint32_t)b.imm <= INT32_MAX)
      push_two(p, AGX_STEP_ADD, def->operand[1], b);
   else
      push_difference(p, def->operand[1], 0u - (uint32_t)b.imm);
}

/* a op b, where b must be known. */
static void push_by_exact(struct proof *p, enum agx_step_op op, const struct agxc_instr *def)
{
   if (!is_exact(p, def->operand[2], MAX_DEPTH)) {
      constant(p, ANY);
      return;
   }
   push_bound(p, def->operand[1]);
   push_exact(p, def->operand[2]);
   step(p, op, 0);
}

static void push_sysval(struct proof *p, int64_t which)
{
   static const uint32_t any[3] = {AGX_MAX_WORKGROUP_THREADS, AGX_MAX_WORKGROUP_THREADS,
                                   AGX_MAX_WORKGROUP_THREADS};
   const bool has_any = p->shader->has_dynamic_local_size;
   const uint32_t *size = has_any ? any : p->shader->local_size;
   uint32_t all = has_any ? AGX_MAX_WORKGROUP_THREADS : size[0] * size[1] * size[2];
   if (which < AGXC_SYSVAL_LOCAL_ID)
      step(p, AGX_STEP_LAST_GROUP, (uint32_t)which);
   else if (which < AGXC_SYSVAL_GLOBAL_ID)
      constant(p, size[which - AGXC_SYSVAL_LOCAL_ID] - 1);
   else if (which < AGXC_SYSVAL_WORKGROUP_COUNT)
      step(p, AGX_STEP_LAST_THREAD, (uint32_t)(which - AGXC_SYSVAL_GLOBAL_ID));
   else if (which == AGXC_SYSVAL_LOCAL_INDEX)
      constant(p, all - 1);
   else if (which == AGXC_SYSVAL_SUBGROUP_LANE)
      constant(p, AGX_SIMD_LANES - 1);
   else if (which == AGXC_SYSVAL_SUBGROUP_ID)
      constant(p, (all - 1) / AGX_SIMD_LANES);
   else
      constant(p, ANY);
}

static const struct agxc_loop *loop_of(const struct agxc_instr *phi)
{
   const struct agxc_node *parent = phi->block->node.parent;
   if (!parent || parent->kind != AGXC_NODE_LOOP)
      return NULL;
   const struct agxc_loop *loop = agxc_as_loop(parent);
   return agxc_first_block(&loop->body) == phi->block ? loop : NULL;
}

/* The step of a loop's induction variable, or 0. */
static uint32_t counter_step(const struct agxc_instr *phi)
{
   struct agxc_ref back = chased(phi->operand[2]);
   const struct agxc_instr *add = back.kind == AGXC_VALUE ? back.value->def : NULL;
   if (phi->src_count != 2 || !add || add->op != AGXC_OP_IADD)
      return 0;
   struct agxc_ref a = chased(add->operand[1]), b = chased(add->operand[2]);
   bool counts = a.kind == AGXC_VALUE && a.value == phi->operand[0].value && b.kind == AGXC_IMM &&
                 (uint32_t)b.imm <= INT32_MAX;
   return counts ? (uint32_t)b.imm : 0;
}

/* What goes round in a loop: counted up until a test fails, or made smaller. An induction variable
 * got where it is by all iterations so far, so its limit is bounded by what holds in each of them:
 * what this iteration has found out behind the test doesn't count. */
static void push_loop_phi(struct proof *p, const struct agxc_instr *phi,
                          const struct agxc_loop *loop)
{
   uint32_t by = counter_step(phi);
   struct fact *all = p->facts;
   for (const struct fact *fact = all; fact && by; fact = fact->outer) {
      if (fact->value != phi->operand[0].value || !fact->is_signed || fact->leaves != loop ||
          fact->limit.kind == AGXC_NONE)
         continue;
      push_bound(p, phi->operand[1]);
      p->facts = fact->outer;
      push_bound(p, fact->limit);
      p->facts = all;
      step(p, AGX_STEP_COUNT_SIGNED, by);
      return;
   }
   struct agxc_ref back = chased(phi->operand[2]);
   const struct agxc_instr *def = back.kind == AGXC_VALUE ? back.value->def : NULL;
   bool shrinks = phi->src_count == 2 && def && def->src_count >= 1 &&
                  (def->op == AGXC_OP_USHR || def->op == AGXC_OP_UDIV);
   struct agxc_ref from = shrinks ? chased(def->operand[1]) : agxc_none();
   if (from.kind == AGXC_VALUE && from.value == phi->operand[0].value)
      push_bound(p, phi->operand[1]);
   else
      constant(p, ANY);
}

static void push_phi(struct proof *p, const struct agxc_instr *phi)
{
   const struct agxc_loop *loop = loop_of(phi);
   if (loop && phi->src_count == 2) {
      push_loop_phi(p, phi, loop);
      return;
   }
   const struct agx_link *before = phi->block->node.link.prev;
   bool follows_if = before != phi->block->node.list &&
                     agx_container_of(before, struct agxc_node, link)->kind == AGXC_NODE_IF;
   if (!follows_if || phi->src_count != 2)
      constant(p, ANY);
   else
      push_two(p, AGX_STEP_MAX, phi->operand[1], phi->operand[2]);
}

static void push_def(struct proof *p, const struct agxc_instr *def)
{
   switch (def->op) {
   case AGXC_OP_SYSVAL:
      push_sysval(p, agxc_imm_of(def, 0));
      return;
   case AGXC_OP_PHI:
      push_phi(p, def);
      return;
   case AGXC_OP_IADD:
      push_sum(p, def);
      return;
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
      push_two(p, AGX_STEP_ADD, def->operand[1], def->operand[2]);
      return;
   case AGXC_OP_IMUL:
      push_two(p, AGX_STEP_MUL, def->operand[1], def->operand[2]);
      return;
   case AGXC_OP_ISHL:
      if (def->operand[2].kind != AGXC_IMM || def->operand[2].imm > 31)
         break;
      push_two(p, AGX_STEP_MUL, def->operand[1], agxc_imm(1u << def->operand[2].imm, 32));
      return;
   case AGXC_OP_USHR:
      push_by_exact(p, AGX_STEP_SHR, def);
      return;
   case AGXC_OP_UDIV:
      push_by_exact(p, AGX_STEP_UDIV, def);
      return;
   case AGXC_OP_UMOD:
      push_by_exact(p, AGX_STEP_UMOD, def);
      return;
   case AGXC_OP_IAND:
   case AGXC_OP_UMIN:
      push_two(p, AGX_STEP_MIN, def->operand[1], def->operand[2]);
      return;
   case AGXC_OP_UMAX:
      push_two(p, AGX_STEP_MAX, def->operand[1], def->operand[2]);
      return;
   case AGXC_OP_IMIN:
      push_two(p, AGX_STEP_IMIN, def->operand[1], def->operand[2]);
      return;
   case AGXC_OP_IMAX:
      push_two(p, AGX_STEP_IMAX, def->operand[1], def->operand[2]);
      return;
   case AGXC_OP_SELECT:
      push_two(p, AGX_STEP_MAX, def->operand[2], def->operand[3]);
      return;
   case AGXC_OP_ZEXT:
      if (def->operand[1].bits < 32) {
         constant(p, (uint32_t)agx_bits(def->operand[1].bits));
         return;
      }
      break;
   case AGXC_OP_UBFE:
      if (def->operand[3].kind == AGXC_IMM && def->operand[3].imm < 32) {
         constant(p, (uint32_t)agx_bits((unsigned)def->operand[3].imm));
         return;
      }
      break;
   default:
      break;
   }
   constant(p, ANY);
}

/* What is known of a value beyond how it is made. */
static void push_facts(struct proof *p, const struct agxc_value *value)
{
   for (const struct fact *fact = p->facts; fact; fact = fact->outer) {
      if (fact->value != value)
         continue;
      if (fact->limit.kind == AGXC_NONE) {
         if (fact->is_signed) { /* not negative */
            constant(p, INT32_MAX);
            step(p, AGX_STEP_MIN, 0);
         }
         continue;
      }
      push_bound(p, fact->limit);
      step(p, fact->is_signed ? AGX_STEP_BELOW_SIGNED : AGX_STEP_BELOW, 0);
   }
}

static void push_bound(struct proof *p, struct agxc_ref ref)
{
   ref = chased(ref);
   if (p->failed || p->depth == MAX_DEPTH) {
      p->failed = true;
      return;
   }
   p->depth++;
   if (is_exact(p, ref, MAX_DEPTH)) {
      push_exact(p, ref);
   } else if (ref.kind != AGXC_VALUE || !ref.value->def || ref.bits != 32 || ref.count != 1) {
      constant(p, ANY);
   } else {
      push_def(p, ref.value->def);
      push_facts(p, ref.value);
   }
   p->depth--;
}

/* ---- facts -------------------------------------------------------------- */

static void add_fact(struct proof *p, struct agxc_ref value, struct agxc_ref limit, uint32_t least,
                     bool is_signed)
{
   value = chased(value);
   if (value.kind != AGXC_VALUE || value.bits != 32)
      return;
   struct fact *fact = AGX_ARENA_NEW(p->shader->arena, struct fact);
   *fact = (struct fact){.outer = p->facts,
                         .value = value.value,
                         .limit = limit,
                         .least = least,
                         .is_signed = is_signed};
   p->facts = fact;
}

/* a < b */
static void add_less(struct proof *p, struct agxc_ref a, struct agxc_ref b, bool is_signed)
{
   a = chased(a);
   add_fact(p, a, b, 0, is_signed);
   if (a.kind == AGXC_IMM && (!is_signed || (uint32_t)a.imm < INT32_MAX))
      add_fact(p, b, agxc_none(), (uint32_t)a.imm + 1, is_signed);
   else if (a.kind == AGXC_IMM && (uint32_t)a.imm == UINT32_MAX)
      add_fact(p, b, agxc_none(), 0, is_signed);
}

/* a >= b */
static void add_no_less(struct proof *p, struct agxc_ref a, struct agxc_ref b, bool is_signed)
{
   b = chased(b);
   a = chased(a);
   if (b.kind == AGXC_IMM && (!is_signed || (uint32_t)b.imm <= INT32_MAX))
      add_fact(p, a, agxc_none(), (uint32_t)b.imm, is_signed);
   /* b <= a, as b < a + 1 */
   if (a.kind == AGXC_IMM && (uint32_t)a.imm < INT32_MAX)
      add_fact(p, b, agxc_imm((uint64_t)a.imm + 1, 32), 0, is_signed);
}

static void assume(struct proof *p, struct agxc_ref condition, bool holds, unsigned depth);

static bool same(struct agxc_ref a, struct agxc_ref b)
{
   a = chased(a);
   b = chased(b);
   if (a.kind != b.kind || a.bits != b.bits)
      return false;
   return a.kind == AGXC_VALUE     ? a.value == b.value
          : a.kind == AGXC_UNIFORM ? a.half == b.half
                                   : a.kind == AGXC_IMM && a.imm == b.imm;
}

/* Whether a, given that b holds or not, is *out. */
static bool follows(struct agxc_ref a, struct agxc_ref b, bool holds, bool *out)
{
   static const uint16_t pairs[][2] = {
      {AGXC_OP_IEQ, AGXC_OP_INE}, {AGXC_OP_ULT, AGXC_OP_UGE}, {AGXC_OP_SLT, AGXC_OP_SGE}};
   a = chased(a);
   *out = holds;
   if (a.kind == AGXC_IMM) {
      *out = a.imm != 0;
      return true;
   }
   for (;;) { /* a, or its negation */
      const struct agxc_instr *def = a.kind == AGXC_VALUE ? a.value->def : NULL;
      if (same(a, b) || !def || def->op != AGXC_OP_INOT)
         break;
      a = chased(def->operand[1]);
      *out = !*out;
   }
   if (same(a, b))
      return true;
   b = chased(b);
   const struct agxc_instr *x = a.kind == AGXC_VALUE ? a.value->def : NULL;
   const struct agxc_instr *y = b.kind == AGXC_VALUE ? b.value->def : NULL;
   if (y && y->op == AGXC_OP_INOT && same(y->operand[1], a)) {
      *out = !*out;
      return true;
   }
   for (size_t i = 0; i < 2 * AGX_COUNT(pairs) && x && y; i++)
      if (x->op == pairs[i / 2][i % 2] && y->op == pairs[i / 2][1 - i % 2] &&
          same(x->operand[1], y->operand[1]) && same(x->operand[2], y->operand[2])) {
         *out = !*out;
         return true;
      }
   return false;
}

/* a || b and a && b come as ifs; of the phi of one way in is known what its test excludes. */
static void assume_phi(struct proof *p, const struct agxc_instr *phi, bool holds, unsigned depth)
{
   const struct agx_link *before = phi->block->node.link.prev;
   if (before == phi->block->node.list || phi->src_count != 2)
      return;
   const struct agxc_node *node = agx_container_of(before, struct agxc_node, link);
   if (node->kind != AGXC_NODE_IF)
      return;
   struct agxc_ref test = agxc_srcs(agxc_terminator(agxc_block_before(node)))[0];
   for (unsigned way = 0; way < 2; way++) { /* then, else: it can't have been this one */
      bool value;
      if (!follows(phi->operand[1 + way], test, way == 0, &value) || value == holds)
         continue;
      assume(p, test, way == 1, depth);
      assume(p, phi->operand[2 - way], holds, depth);
      return;
   }
}

static void assume(struct proof *p, struct agxc_ref condition, bool holds, unsigned depth)
{
   condition = chased(condition);
   const struct agxc_instr *def = condition.kind == AGXC_VALUE ? condition.value->def : NULL;
   if (!def || depth == 0)
      return;
   const struct agxc_ref *srcs = agxc_srcs(def);
   bool is_signed = def->op == AGXC_OP_SLT || def->op == AGXC_OP_SGE;
   switch (def->op) {
   case AGXC_OP_INOT:
      assume(p, srcs[0], !holds, depth - 1);
      return;
   case AGXC_OP_IAND:
   case AGXC_OP_IOR:
      if (holds == (def->op == AGXC_OP_IAND))
         for (unsigned i = 0; i < 2; i++)
            assume(p, srcs[i], holds, depth - 1);
      return;
   case AGXC_OP_PHI:
      assume_phi(p, def, holds, depth - 1);
      return;
   case AGXC_OP_ULT:
   case AGXC_OP_SLT:
   case AGXC_OP_UGE:
   case AGXC_OP_SGE:
      if (holds == (def->op == AGXC_OP_ULT || def->op == AGXC_OP_SLT))
         add_less(p, srcs[0], srcs[1], is_signed);
      else
         add_no_less(p, srcs[0], srcs[1], is_signed);
      return;
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
      if (srcs[0].bits == 32 && srcs[1].kind == AGXC_IMM && srcs[1].imm == 0 &&
          holds == (def->op == AGXC_OP_INE))
         add_fact(p, srcs[0], agxc_none(), 1, false);
      return;
   default:
      return;
   }
}

/* ---- accesses ----------------------------------------------------------- */

/* The sum of an offset's parts, as a number of 64 bits; true when there is one on the stack. */
static bool push_offset(struct proof *p, struct agxc_ref offset, uint64_t *bytes, unsigned depth)
{
   offset = chased(offset);
   const struct agxc_instr *def = offset.kind == AGXC_VALUE ? offset.value->def : NULL;
   if (offset.kind == AGXC_IMM) {
      *bytes += (uint32_t)offset.imm;
      return false;
   }
   if (def && def->op == AGXC_OP_IADD && depth) {
      bool first = push_offset(p, def->operand[1], bytes, depth - 1);
      bool second = push_offset(p, def->operand[2], bytes, depth - 1);
      if (first && second)
         step(p, AGX_STEP_WIDE_ADD, 0);
      return first || second;
   }
   if (def && def->op == AGXC_OP_ELEMENT) {
      push_bound(p, def->operand[1]);
      constant(p, (uint32_t)def->operand[2].imm);
      step(p, AGX_STEP_WIDE_MUL, 0);
      return true;
   }
   push_bound(p, offset);
   return true;
}

/* One that says the same, of more bytes, is enough. */
static bool add_guard(struct proof *p)
{
   struct agxc_shader *shader = p->shader;
   const struct agx_program_guard *c = &p->guard;
   if (!shader->guards)
      shader->guards =
         AGX_ARENA_ARRAY(shader->arena, struct agx_program_guard, AGX_PROGRAM_MAX_GUARDS);
   for (uint32_t i = 0; i < shader->guard_count; i++) {
      struct agx_program_guard *old = &shader->guards[i];
      if (old->binding == c->binding && old->step_count == c->step_count &&
          memcmp(old->steps, c->steps, c->step_count * sizeof(c->steps[0])) == 0) {
         old->bytes = AGX_MAX(old->bytes, c->bytes);
         return true;
      }
   }
   if (shader->guard_count == AGX_PROGRAM_MAX_GUARDS)
      return false;
   shader->guards[shader->guard_count++] = *c;
   return true;
}

/* Whether some launch fulfils it: what a kernel reads from memory may be any value, so that no
 * buffer is large enough. */
static bool is_possible(const struct proof *p)
{
   static const uint32_t words[] = {0, 1, 30, 1000};
   static const uint32_t workgroups[] = {2, 2, 2};
   uint64_t sizes_B[AGX_PROGRAM_MAX_BINDINGS];
   uint32_t push[AGX_PROGRAM_MAX_PUSH_B / 4], threads[3];
   for (unsigned i = 0; i < 3; i++)
      threads[i] = workgroups[i] * p->shader->local_size[i];
   for (uint32_t i = 0; i < AGX_PROGRAM_MAX_BINDINGS; i++)
      sizes_B[i] = UINT32_MAX;
   for (size_t i = 0; i < AGX_COUNT(words); i++) {
      for (uint32_t k = 0; k < AGX_COUNT(push); k++)
         push[k] = words[i];
      const struct agx_guard_launch launch = {(const uint8_t *)push, workgroups, threads, sizes_B};
      if (agx_guard_holds(&p->guard, &launch))
         return true;
   }
   return false;
}

/* The offset as code that is not checked has it. */
static struct agxc_ref plain(struct agxc_builder *b, struct agxc_ref offset, unsigned depth)
{
   offset = chased(offset);
   const struct agxc_instr *def = offset.kind == AGXC_VALUE ? offset.value->def : NULL;
   if (def && def->op == AGXC_OP_IADD && depth) {
      struct agxc_ref first = plain(b, def->operand[1], depth - 1);
      return agxc_build_iadd(b, first, plain(b, def->operand[2], depth - 1));
   }
   if (!def || def->op != AGXC_OP_ELEMENT)
      return offset;
   uint32_t stride = (uint32_t)def->operand[2].imm;
   if (stride & (stride - 1))
      return agxc_build_imul(b, def->operand[1], agxc_imm(stride, 32));
   return agxc_build_ishl(b, def->operand[1], agxc_imm((uint32_t)__builtin_ctz(stride), 32));
}

static void visit(struct proof *p, struct agxc_instr *instr)
{
   struct agxc_memory_ref memory;
   if (instr->op < AGXC_OP_LOAD_GLOBAL || instr->op > AGXC_OP_ATOMIC_GLOBAL ||
       !agxc_memory_ref_find(p->shader, instr, &memory) || !memory.robustness)
      return;
   struct agxc_ref *offset = agxc_src_offset(instr);
   uint64_t bytes = agxc_memory_ref_bytes(&memory);
   p->guard = (struct agx_program_guard){.binding = memory.binding};
   p->depth = p->stack = 0;
   p->failed = false;
   if (!push_offset(p, *offset, &bytes, MAX_DEPTH))
      constant(p, 0);
   p->guard.bytes = (uint32_t)bytes;
   if (p->failed || bytes > UINT32_MAX || !is_possible(p) || !add_guard(p))
      return;
   struct agxc_builder b = agxc_before(p->shader, instr);
   *offset = plain(&b, *offset, MAX_DEPTH);
   struct agxc_ref *access = &instr->operand[instr->operand_count - 1];
   bool is_atomic = instr->op == AGXC_OP_ATOMIC_GLOBAL;
   *access =
      agxc_imm((uint64_t)access->imm | (is_atomic ? AGXC_ATOMIC_INSIDE : AGXC_ACCESS_INSIDE), 64);
}

/* ---- the walk ----------------------------------------------------------- */

/* What ends a list, when control can't fall out of it. */
static const struct agxc_instr *leaves(const struct agx_link *list)
{
   const struct agxc_instr *last = agxc_terminator(agxc_last_block(list));
   return last && last->op != AGXC_OP_BRANCH ? last : NULL;
}

static void visit_list(struct proof *p, struct agx_link *list, const struct agxc_loop *loop);

/* Behind the if, what the arm that comes back says holds; in a loop's own list, leaving it is how
 * the loop ends. */
static void visit_if(struct proof *p, struct agxc_if *branch, const struct agxc_loop *loop)
{
   struct agxc_ref test = agxc_srcs(agxc_terminator(agxc_block_before(&branch->node)))[0];
   struct agx_link *arms[2] = {&branch->then_list, &branch->else_list};
   struct fact *outer = p->facts;
   for (unsigned i = 0; i < 2; i++) {
      assume(p, test, i == 0, MAX_DEPTH);
      visit_list(p, arms[i], NULL);
      p->facts = outer;
   }
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *last = leaves(arms[i]);
      if (!last)
         continue;
      const struct fact *before = p->facts;
      bool is_first = loop && loop->body.next->next == &branch->node.link;
      assume(p, test, i == 1, MAX_DEPTH);
      for (struct fact *fact = p->facts; fact != before; fact = fact->outer)
         if (is_first && (last->op == AGXC_OP_BREAK || last->op == AGXC_OP_RETURN))
            fact->leaves = loop;
   }
}

/* loop: the one whose body this is, else NULL. */
static void visit_list(struct proof *p, struct agx_link *list, const struct agxc_loop *loop)
{
   struct fact *outer = p->facts;
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK) {
         agxc_foreach_instr_safe (instr, agxc_as_block(node))
            visit(p, instr);
      } else if (node->kind == AGXC_NODE_IF) {
         visit_if(p, agxc_as_if(node), loop);
      } else {
         struct agxc_loop *inner = agxc_as_loop(node);
         visit_list(p, &inner->body, inner);
         visit_list(p, &inner->continuing, NULL);
      }
   }
   p->facts = outer;
}

bool agxc_elide_bounds_checks(struct agxc_shader *shader)
{
   if (!shader->is_unchecked || shader->is_vertex) /* draws say nothing of indices */
      return false;
   struct proof p = {.shader = shader};
   agxc_opt_algebraic(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_cse(shader);
   agxc_opt_copy_prop(shader);
   agxc_index(shader);
   visit_list(&p, &shader->body, NULL);
   agxc_index(shader);
   return true;
}
