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
 * are bounded by one stay behind it: AGXC_ACCESS_UNCHECKED says that they are not safe to move up.
 *
 * Before: generic SSA with ELEMENT and bindings as uniforms. After: the same; the pass does nothing
 * unless shader->is_unchecked. Stands behind lower_buffer, which makes uniforms of the bindings,
 * and in front of all passes that change loops or indices, while tests stand as they were written.
 */
#include <string.h>

#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/analysis/induction.h"
#include "agx/compiler/analysis/range.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/ir/launch_slots.h"
#include "program/guards.h"

#define MAX_DEPTH 12u /* of an expression */
#define ANY       UINT32_MAX

/* Behind a test: value < limit, or value >= least. Those that say that a loop goes on know of
 * which: the test comes first in each iteration. */
struct fact {
   struct fact *outer;
   uint32_t depth; /* facts around it, and itself */
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
   if (needs_constant && (agxc_src_b(def)->kind != AGXC_IMM || agxc_src_b(def)->imm == 0))
      return 0;
   for (size_t i = 0; i < AGX_COUNT(exact_steps); i++)
      if (exact_steps[i].op == def->op)
         return exact_steps[i].step;
   return 0;
}

static bool is_exact(const struct proof *p, struct agxc_ref ref, unsigned depth)
{
   ref = agxc_skip_moves(ref);
   if (ref.bits != 32 || ref.count != 1)
      return false;
   if (ref.kind == AGXC_IMM)
      return true;
   if (ref.kind == AGXC_UNIFORM) {
      const struct agx_program_uniform *slot = agxc_slot_at(p->shader, ref.half);
      return slot && (slot->kind == AGX_UNIFORM_PUSH || slot->kind == AGX_UNIFORM_WORKGROUP_COUNT ||
                      slot->kind == AGX_UNIFORM_BUFFER_SIZE);
   }
   const struct agxc_instr *def = agxc_def_of(ref);
   return def && depth && exact_step(def) && is_exact(p, *agxc_src_a(def), depth - 1) &&
          is_exact(p, *agxc_src_b(def), depth - 1);
}

static void push_exact(struct proof *p, struct agxc_ref ref)
{
   ref = agxc_skip_moves(ref);
   if (p->failed)
      return;
   if (ref.kind == AGXC_IMM) {
      constant(p, (uint32_t)ref.imm);
   } else if (ref.kind == AGXC_UNIFORM) {
      const struct agx_program_uniform *slot = agxc_slot_at(p->shader, ref.half);
      step(p,
           slot->kind == AGX_UNIFORM_PUSH          ? AGX_STEP_PUSH
           : slot->kind == AGX_UNIFORM_BUFFER_SIZE ? AGX_STEP_SIZE
                                                   : AGX_STEP_GROUP_COUNT,
           slot->index);
   } else {
      const struct agxc_instr *def = ref.value->def;
      push_exact(p, *agxc_src_a(def));
      push_exact(p, *agxc_src_b(def));
      step(p, (enum agx_step_op)exact_step(def), 0);
   }
}

/* ---- bounds ------------------------------------------------------------- */

static void push_bound(struct proof *p, struct agxc_ref ref);

/* What a value is certainly not below. */
static uint32_t least(const struct proof *p, struct agxc_ref ref)
{
   uint32_t result = 0;
   ref = agxc_skip_moves(ref);
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
   x = agxc_skip_moves(x);
   const struct agxc_instr *def = agxc_def_of(x);
   if (least(p, x) >= c)
      push_bound(p, x);
   else if (def && def->op == AGXC_OP_IADD &&
            AGX_MAX(least(p, *agxc_src_a(def)), least(p, *agxc_src_b(def))) >= c &&
            least(p, *agxc_src_b(def)) <= INT32_MAX)
      push_two(p, AGX_STEP_ADD, *agxc_src_a(def), *agxc_src_b(def));
   else
      constant(p, ANY);
}

static void push_sum(struct proof *p, const struct agxc_instr *def)
{
   struct agxc_ref b = agxc_skip_moves(*agxc_src_b(def));
   if (b.kind != AGXC_IMM || (uint32_t)b.imm <= INT32_MAX)
      push_two(p, AGX_STEP_ADD, *agxc_src_a(def), b);
   else
      push_difference(p, *agxc_src_a(def), 0u - (uint32_t)b.imm);
}

/* a op b, where b must be known. */
static void push_by_exact(struct proof *p, enum agx_step_op op, const struct agxc_instr *def)
{
   if (!is_exact(p, *agxc_src_b(def), MAX_DEPTH)) {
      constant(p, ANY);
      return;
   }
   push_bound(p, *agxc_src_a(def));
   push_exact(p, *agxc_src_b(def));
   step(p, op, 0);
}

static void push_sysval(struct proof *p, const struct agxc_instr *def)
{
   enum agxc_sysval which = agxc_imm_sysval(def);
   if (which < AGXC_SYSVAL_LOCAL_ID)
      step(p, AGX_STEP_LAST_GROUP, (uint32_t)which);
   else if (which >= AGXC_SYSVAL_GLOBAL_ID && which < AGXC_SYSVAL_WORKGROUP_COUNT)
      step(p, AGX_STEP_LAST_THREAD, (uint32_t)(which - AGXC_SYSVAL_GLOBAL_ID));
   else
      constant(p, (uint32_t)agxc_range_of_op(p->shader, def).max);
}

/* What goes round in a loop: counted up until a test fails, or made smaller. An induction variable
 * got where it is by all iterations so far, so its limit is bounded by what holds in each of them:
 * what this iteration has found out behind the test doesn't count. */
static void push_loop_phi(struct proof *p, const struct agxc_instr *phi,
                          const struct agxc_loop *loop)
{
   uint32_t by = agxc_induction_step(phi);
   struct fact *all = p->facts;
   for (const struct fact *fact = all; fact && by; fact = fact->outer) {
      if (fact->value != agxc_dest(phi)->value || !fact->is_signed || fact->leaves != loop ||
          fact->limit.kind == AGXC_NONE)
         continue;
      push_bound(p, *agxc_phi_entry(phi));
      p->facts = fact->outer;
      push_bound(p, fact->limit);
      p->facts = all;
      step(p, AGX_STEP_COUNT_SIGNED, by);
      return;
   }
   struct agxc_ref back = agxc_skip_moves(*agxc_phi_back(phi));
   const struct agxc_instr *def = agxc_def_of(back);
   bool shrinks = phi->src_count == 2 && def && def->src_count >= 1 &&
                  (def->op == AGXC_OP_USHR || def->op == AGXC_OP_UDIV);
   struct agxc_ref from = shrinks ? agxc_skip_moves(*agxc_src_a(def)) : agxc_none();
   if (from.kind == AGXC_VALUE && from.value == agxc_dest(phi)->value)
      push_bound(p, *agxc_phi_entry(phi));
   else
      constant(p, ANY);
}

static void push_phi(struct proof *p, const struct agxc_instr *phi)
{
   if (agxc_starts_loop(phi->block) && phi->src_count == 2) {
      push_loop_phi(p, phi, phi->block->loop);
      return;
   }
   const struct agxc_node *before = agxc_node_before(&phi->block->node);
   if (!before || before->kind != AGXC_NODE_IF || phi->src_count != 2)
      constant(p, ANY);
   else
      push_two(p, AGX_STEP_MAX, *agxc_phi_then(phi), *agxc_phi_else(phi));
}

/* Bounds of a result that follow from those of a and b, or from that of a and the number b. */
static const struct {
   uint16_t op, step;
   bool needs_exact;
} bound_steps[] = {
   {AGXC_OP_IOR, AGX_STEP_ADD, false},   {AGXC_OP_IXOR, AGX_STEP_ADD, false},
   {AGXC_OP_IMUL, AGX_STEP_MUL, false},  {AGXC_OP_IAND, AGX_STEP_MIN, false},
   {AGXC_OP_UMIN, AGX_STEP_MIN, false},  {AGXC_OP_UMAX, AGX_STEP_MAX, false},
   {AGXC_OP_IMIN, AGX_STEP_IMIN, false}, {AGXC_OP_IMAX, AGX_STEP_IMAX, false},
   {AGXC_OP_USHR, AGX_STEP_SHR, true},   {AGXC_OP_UDIV, AGX_STEP_UDIV, true},
   {AGXC_OP_UMOD, AGX_STEP_UMOD, true},
};

static void push_def(struct proof *p, const struct agxc_instr *def)
{
   for (size_t i = 0; i < AGX_COUNT(bound_steps); i++) {
      if (bound_steps[i].op != def->op)
         continue;
      if (bound_steps[i].needs_exact)
         push_by_exact(p, bound_steps[i].step, def);
      else
         push_two(p, bound_steps[i].step, *agxc_src_a(def), *agxc_src_b(def));
      return;
   }
   switch (def->op) {
   case AGXC_OP_SYSVAL:
      push_sysval(p, def);
      return;
   case AGXC_OP_PHI:
      push_phi(p, def);
      return;
   case AGXC_OP_IADD:
      push_sum(p, def);
      return;
   case AGXC_OP_ISHL:
      if (agxc_src_b(def)->kind != AGXC_IMM || agxc_src_b(def)->imm > 31)
         break;
      push_two(p, AGX_STEP_MUL, *agxc_src_a(def), agxc_u32(1u << agxc_src_b(def)->imm));
      return;
   case AGXC_OP_SELECT:
      push_two(p, AGX_STEP_MAX, *agxc_src_if_true(def), *agxc_src_if_false(def));
      return;
   case AGXC_OP_ZEXT:
   case AGXC_OP_UBFE:
      constant(p, (uint32_t)agxc_range_of_op(p->shader, def).max);
      return;
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
   ref = agxc_skip_moves(ref);
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
   value = agxc_skip_moves(value);
   if (value.kind != AGXC_VALUE || value.bits != 32)
      return;
   struct fact *fact = AGX_ARENA_NEW(p->shader->arena, struct fact);
   *fact = (struct fact){.outer = p->facts,
                         .depth = p->facts ? p->facts->depth + 1 : 1,
                         .value = value.value,
                         .limit = limit,
                         .least = least,
                         .is_signed = is_signed};
   p->facts = fact;
}

/* a < b */
static void add_less(struct proof *p, struct agxc_ref a, struct agxc_ref b, bool is_signed)
{
   a = agxc_skip_moves(a);
   add_fact(p, a, b, 0, is_signed);
   if (a.kind == AGXC_IMM && (!is_signed || (uint32_t)a.imm < INT32_MAX))
      add_fact(p, b, agxc_none(), (uint32_t)a.imm + 1, is_signed);
   else if (a.kind == AGXC_IMM && (uint32_t)a.imm == UINT32_MAX)
      add_fact(p, b, agxc_none(), 0, is_signed);
}

/* a >= b */
static void add_no_less(struct proof *p, struct agxc_ref a, struct agxc_ref b, bool is_signed)
{
   b = agxc_skip_moves(b);
   a = agxc_skip_moves(a);
   if (b.kind == AGXC_IMM && (!is_signed || (uint32_t)b.imm <= INT32_MAX))
      add_fact(p, a, agxc_none(), (uint32_t)b.imm, is_signed);
   /* b <= a, as b < a + 1 */
   if (a.kind == AGXC_IMM && (uint32_t)a.imm < INT32_MAX)
      add_fact(p, b, agxc_u32((uint64_t)a.imm + 1), 0, is_signed);
}

static void assume(struct proof *p, struct agxc_ref condition, bool holds, unsigned depth);

/* Whether a, given that b holds or not, is *out. */
static bool follows(struct agxc_ref a, struct agxc_ref b, bool holds, bool *out)
{
   a = agxc_skip_moves(a);
   *out = holds;
   if (a.kind == AGXC_IMM) {
      *out = a.imm != 0;
      return true;
   }
   for (const struct agxc_instr *def;
        !agxc_same_source(a, b) && (def = agxc_def_as(a, AGXC_OP_INOT));) {
      a = agxc_skip_moves(*agxc_src_a(def));
      *out = !*out;
   }
   if (agxc_same_source(a, b))
      return true;
   b = agxc_skip_moves(b);
   const struct agxc_instr *x = agxc_def_of(a), *y = agxc_def_of(b);
   bool is_negated = y && y->op == AGXC_OP_INOT && agxc_same_source(*agxc_src_a(y), a);
   *out ^= true;
   return is_negated || (x && y && agxc_are_opposite(x, y));
}

/* a || b and a && b come as ifs; of the phi of one way in is known what its test excludes. */
static void assume_phi(struct proof *p, const struct agxc_instr *phi, bool holds, unsigned depth)
{
   const struct agxc_node *node = agxc_node_before(&phi->block->node);
   if (!node || node->kind != AGXC_NODE_IF || phi->src_count != 2)
      return;
   struct agxc_ref test = *agxc_src_condition(agxc_terminator(agxc_block_before(node)));
   for (unsigned way = 0; way < 2; way++) { /* then, else: it can't have been this one */
      bool value;
      if (!follows(way ? *agxc_phi_else(phi) : *agxc_phi_then(phi), test, way == 0, &value) ||
          value == holds)
         continue;
      assume(p, test, way == 1, depth);
      assume(p, way ? *agxc_phi_then(phi) : *agxc_phi_else(phi), holds, depth);
      return;
   }
}

static void assume(struct proof *p, struct agxc_ref condition, bool holds, unsigned depth)
{
   condition = agxc_skip_moves(condition);
   const struct agxc_instr *def = agxc_def_of(condition);
   if (!def || depth == 0)
      return;
   bool is_signed = def->op == AGXC_OP_SLT || def->op == AGXC_OP_SGE;
   switch (def->op) {
   case AGXC_OP_INOT:
      assume(p, *agxc_src_a(def), !holds, depth - 1);
      return;
   case AGXC_OP_IAND:
   case AGXC_OP_IOR:
      if (holds == (def->op == AGXC_OP_IAND))
         for (unsigned i = 0; i < 2; i++)
            assume(p, *agxc_side(def, i), holds, depth - 1);
      return;
   case AGXC_OP_PHI:
      assume_phi(p, def, holds, depth - 1);
      return;
   case AGXC_OP_ULT:
   case AGXC_OP_SLT:
   case AGXC_OP_UGE:
   case AGXC_OP_SGE:
      if (holds == (def->op == AGXC_OP_ULT || def->op == AGXC_OP_SLT))
         add_less(p, *agxc_src_a(def), *agxc_src_b(def), is_signed);
      else
         add_no_less(p, *agxc_src_a(def), *agxc_src_b(def), is_signed);
      return;
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
      if (agxc_src_a(def)->bits == 32 && agxc_src_b(def)->kind == AGXC_IMM &&
          agxc_src_b(def)->imm == 0 && holds == (def->op == AGXC_OP_INE))
         add_fact(p, *agxc_src_a(def), agxc_none(), 1, false);
      return;
   default:
      return;
   }
}

/* ---- accesses ----------------------------------------------------------- */

/* The sum of an offset's parts, as a number of 64 bits; true when there is one on the stack. This
 * and plain() keep how sums are nested, which agxc_offset_split() does not. */
static bool push_offset(struct proof *p, struct agxc_ref offset, uint64_t *bytes, unsigned depth)
{
   offset = agxc_skip_moves(offset);
   const struct agxc_instr *def = agxc_def_of(offset);
   if (offset.kind == AGXC_IMM) {
      *bytes += (uint32_t)offset.imm;
      return false;
   }
   if (def && def->op == AGXC_OP_IADD && depth) {
      bool first = push_offset(p, *agxc_src_a(def), bytes, depth - 1);
      bool second = push_offset(p, *agxc_src_b(def), bytes, depth - 1);
      if (first && second)
         step(p, AGX_STEP_WIDE_ADD, 0);
      return first || second;
   }
   bool is_element = def && def->op == AGXC_OP_ELEMENT;
   push_bound(p, is_element ? *agxc_src_index(def) : offset);
   if (is_element) {
      constant(p, (uint32_t)agxc_src_stride(def)->imm);
      step(p, AGX_STEP_WIDE_MUL, 0);
   }
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
   offset = agxc_skip_moves(offset);
   const struct agxc_instr *def = agxc_def_of(offset);
   if (def && def->op == AGXC_OP_IADD && depth) {
      struct agxc_ref first = plain(b, *agxc_src_a(def), depth - 1);
      return agxc_build_iadd(b, first, plain(b, *agxc_src_b(def), depth - 1));
   }
   if (!def || def->op != AGXC_OP_ELEMENT)
      return offset;
   return agxc_build_times(b, *agxc_src_index(def), (uint32_t)agxc_src_stride(def)->imm);
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
   if (p->failed || bytes > AGXC_MAX_CONSTANT_B || !is_possible(p) || !add_guard(p))
      return;
   struct agxc_builder b = agxc_before(p->shader, instr);
   *offset = plain(&b, *offset, MAX_DEPTH);
   if (instr->op == AGXC_OP_ATOMIC_GLOBAL)
      instr->flags |= AGXC_INSTR_UNCHECKED;
   else
      agxc_set_imm_access(instr, agxc_imm_access(instr) | AGXC_ACCESS_UNCHECKED);
}

/* ---- the walk ----------------------------------------------------------- */

/* What ends a list, when control can't fall out of it. */
static const struct agxc_instr *leaves(const struct agx_link *list)
{
   const struct agxc_instr *last = agxc_terminator(agxc_last_block(list));
   return last && last->op != AGXC_OP_BRANCH ? last : NULL;
}

static void visit_block(void *proof, struct agxc_block *block)
{
   agxc_foreach_instr_safe (instr, block)
      visit(proof, instr);
}

static struct agxc_ref test_of(const struct agxc_node *branch)
{
   return *agxc_src_condition(agxc_terminator(agxc_block_before(branch)));
}

/* In an arm the test holds, or does not. */
static uint32_t enter_list(void *user, const struct agx_link *list)
{
   struct proof *p = user;
   const struct agxc_node *parent = agxc_first_block(list)->node.parent;
   uint32_t depth = p->facts ? p->facts->depth : 0;
   if (parent && parent->kind == AGXC_NODE_IF)
      assume(p, test_of(parent), list == &agxc_as_if(parent)->then_list, MAX_DEPTH);
   return depth;
}

static void leave_list(void *user, uint32_t depth)
{
   struct proof *p = user;
   while (p->facts && p->facts->depth > depth)
      p->facts = p->facts->outer;
}

/* Behind the if, what the arm that comes back says holds; in a loop's own list, leaving it is how
 * the loop ends. */
static enum agxc_visited leave_if(void *user, struct agxc_if *branch)
{
   struct proof *p = user;
   const struct agxc_node *node = &branch->node, *parent = node->parent;
   bool in_loop = parent && parent->kind == AGXC_NODE_LOOP;
   bool is_first = in_loop && agxc_as_loop(parent)->body.next->next == &node->link;
   agxc_foreach_list (arm, node) {
      const struct agxc_instr *last = leaves(arm);
      if (!last)
         continue;
      const struct fact *before = p->facts;
      assume(p, test_of(node), arm != &branch->then_list, MAX_DEPTH);
      for (struct fact *fact = p->facts; fact != before; fact = fact->outer)
         if (is_first && (last->op == AGXC_OP_BREAK || last->op == AGXC_OP_RETURN))
            fact->leaves = agxc_as_loop(parent);
   }
   return AGXC_UNCHANGED;
}

static const struct agxc_visitor visitor = {
   .block = visit_block, .leave_if = leave_if, .enter_list = enter_list, .leave_list = leave_list};

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
   agxc_walk(&shader->body, &visitor, &p);
   agxc_index(shader);
   return true;
}
