/* SPDX-License-Identifier: MIT
 *
 * Tells the passes that treat uniform values differently (division, shuffles, the preamble, moving
 * of loads, scheduling) which values are the same for all threads of a scope.
 *
 * One walk over the tree in program order gives each value the least uniform scope of what it
 * depends on, control included; the walk is repeated while a loop's back edge makes something less
 * uniform. Scopes only get less uniform and there are four, so two or three walks are the rule;
 * after a few more everything that a back edge carries counts as divergent, which makes the next
 * walk the last one.
 *
 * Values that differ only because threads leave a loop in different iterations count as uniform
 * inside that loop and as divergent behind it.
 */
#include "agx/compiler/analysis/divergence.h"

#include "agx/compiler/ir/machine_operand.h"

#define EXACT_WALKS 6
#define NO_LOOP     UINT32_MAX
#define LANES       32

struct walk {
   struct agxc_shader *shader;
   struct agxc_divergence *d;
   uint8_t returned;  /* scope in which threads have ended before here */
   bool has_returned; /* some thread may have ended before here */
   bool grew;         /* something has become less uniform */
   bool gives_up;     /* back edges are divergent */
};

/* Where a list stands. */
struct place {
   uint8_t control; /* of the ifs around it, inside the loop */
   uint8_t outer;   /* of what is around the loop */
   uint32_t loop;
   bool runs; /* at least once for every thread, unless it has left before */
};

static bool raise_to(uint8_t *scope, unsigned to)
{
   if (*scope >= to)
      return false;
   *scope = (uint8_t)to;
   return true;
}

/* ---- what operations give ----------------------------------------------- */

/* Threads of one SIMD-group, or of the workgroup, have the same position along that axis.
 * x runs fastest; 32 flat positions that follow each other are a SIMD-group. [U] */
static enum agxc_scope scope_of_position(const struct agxc_shader *shader, unsigned axis)
{
   if (shader->has_dynamic_local_size)
      return AGXC_SCOPE_THREAD;
   if (shader->local_size[axis] == 1)
      return AGXC_SCOPE_DISPATCH;
   uint32_t stride = 1;
   for (unsigned i = 0; i < axis; i++)
      stride *= shader->local_size[i];
   return stride % LANES == 0 ? AGXC_SCOPE_SUBGROUP : AGXC_SCOPE_THREAD;
}

static enum agxc_scope scope_of_sysval(const struct agxc_shader *shader, unsigned sysval)
{
   if (sysval < AGXC_SYSVAL_WORKGROUP_ID + 3)
      return AGXC_SCOPE_WORKGROUP;
   if (sysval < AGXC_SYSVAL_LOCAL_ID + 3)
      return scope_of_position(shader, sysval - AGXC_SYSVAL_LOCAL_ID);
   if (sysval < AGXC_SYSVAL_GLOBAL_ID + 3)
      return AGX_MAX(AGXC_SCOPE_WORKGROUP,
                     scope_of_position(shader, sysval - AGXC_SYSVAL_GLOBAL_ID));
   if (sysval < AGXC_SYSVAL_WORKGROUP_COUNT + 3 ||
       (sysval >= AGXC_SYSVAL_LOCAL_SIZE && sysval <= AGXC_SYSVAL_SHARED_END))
      return AGXC_SCOPE_DISPATCH;
   return sysval == AGXC_SYSVAL_SUBGROUP_ID ? AGXC_SCOPE_SUBGROUP : AGXC_SCOPE_THREAD;
}

/* Nothing but the sources decides the result. */
static bool is_function(const struct agxc_instr *instr)
{
   return instr->src_count &&
          !(agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY | AGXC_CROSS_LANE));
}

/* What an operation adds to its sources' scope. */
static enum agxc_scope scope_of_generic(const struct agxc_shader *shader,
                                        const struct agxc_instr *instr)
{
   switch (instr->op) {
   case AGXC_OP_SYSVAL:
      return scope_of_sysval(shader, (unsigned)agxc_imm_sysval(instr));
   case AGXC_OP_BUFFER_SIZE:
   case AGXC_OP_LOAD_PUSH:
      return AGXC_SCOPE_DISPATCH;
   case AGXC_OP_LOAD_BUFFER:
   case AGXC_OP_LOAD_GLOBAL: {
      uint32_t access = agxc_imm_access(instr);
      if (access & AGXC_ACCESS_CONST)
         return AGXC_SCOPE_DISPATCH;
      /* One instruction reads for all lanes, but others may write between its parts. */
      return access & AGXC_ACCESS_COHERENT ? AGXC_SCOPE_THREAD : AGXC_SCOPE_SUBGROUP;
   }
   case AGXC_OP_LOAD_SHARED:
      return instr->flags & AGXC_INSTR_VOLATILE ? AGXC_SCOPE_THREAD : AGXC_SCOPE_SUBGROUP;
   default:
      break;
   }
   return is_function(instr) ? AGXC_SCOPE_DISPATCH : AGXC_SCOPE_THREAD;
}

static enum agxc_scope scope_of_register(const struct agxc_shader *shader, unsigned sr)
{
   if (sr <= AGX_ISA_SR_THREADGROUP_IN_GRID_Z)
      return AGXC_SCOPE_WORKGROUP;
   if (sr >= AGX_ISA_SR_THREAD_IN_THREADGROUP_X && sr <= AGX_ISA_SR_THREAD_IN_THREADGROUP_Z)
      return scope_of_position(shader, sr - AGX_ISA_SR_THREAD_IN_THREADGROUP_X);
   if (sr >= AGX_ISA_SR_THREAD_IN_GRID_X && sr <= AGX_ISA_SR_THREAD_IN_GRID_Z)
      return AGX_MAX(AGXC_SCOPE_WORKGROUP,
                     scope_of_position(shader, sr - AGX_ISA_SR_THREAD_IN_GRID_X));
   return sr == AGX_ISA_SR_SIMDGROUP_INDEX_IN_THREADGROUP ? AGXC_SCOPE_SUBGROUP : AGXC_SCOPE_THREAD;
}

static enum agxc_scope scope_of_machine(const struct agxc_shader *shader,
                                        const struct agxc_instr *instr)
{
   enum agx_isa_op opcode = agxc_opcode(instr);
   switch (opcode) {
   case AGX_ISA_OP_MFSR:
      return scope_of_register(shader, (unsigned)agxc_machine_sr(instr)->imm);
   case AGX_ISA_OP_LOAD:
      return agxc_machine_coherency(instr)->imm == AGX_ISA_COHERENT_INCOHERENT ? AGXC_SCOPE_SUBGROUP
                                                                               : AGXC_SCOPE_THREAD;
   case AGX_ISA_OP_LLOAD:
      return AGXC_SCOPE_SUBGROUP;
   case AGX_ISA_OP_LDIMM16:
   case AGX_ISA_OP_LDIMM32:
      return AGXC_SCOPE_DISPATCH;
   default:
      break;
   }
   unsigned unit = agx_isa_info(opcode)->unit;
   bool is_alu = unit == AGX_ISA_UNIT_F32 || unit == AGX_ISA_UNIT_F16 ||
                 unit == AGX_ISA_UNIT_SCIB || unit == AGX_ISA_UNIT_IC;
   return is_alu && is_function(instr) ? AGXC_SCOPE_DISPATCH : AGXC_SCOPE_THREAD;
}

/* ---- values ------------------------------------------------------------- */

enum agxc_scope agxc_scope_of(const struct agxc_divergence *d, const struct agxc_ref *ref,
                              const struct agxc_block *block)
{
   if (ref->kind == AGXC_REG)
      return AGXC_SCOPE_THREAD;
   if (ref->kind != AGXC_VALUE || !ref->value->def)
      return AGXC_SCOPE_DISPATCH;
   unsigned scope = d->value[ref->value->id];
   uint32_t loop = d->loop_of[ref->value->def->block->index];
   while (loop != NO_LOOP &&
          (block->index < d->loops[loop].first || block->index > d->loops[loop].last)) {
      scope = AGX_MAX(scope, d->loops[loop].exit);
      loop = d->loops[loop].parent;
   }
   return (enum agxc_scope)scope;
}

/* Every lane that runs it gets the same, whatever the lanes hold. */
static bool unites_lanes(const struct agxc_instr *instr)
{
   switch (instr->op) {
   case AGXC_OP_BALLOT:
   case AGXC_OP_BROADCAST:
   case AGXC_OP_BROADCAST_FIRST:
      return true;
   case AGXC_OP_REDUCE:
      return agxc_imm_lanes(instr) == LANES;
   case AGXC_OP_ISA + AGX_ISA_OP_ICMP_BALLOT:
   case AGXC_OP_ISA + AGX_ISA_OP_FCMP_BALLOT:
      return agxc_machine_window(instr)->imm == AGX_ISA_WINDOW_SIMD;
   case AGXC_OP_ISA + AGX_ISA_OP_SIMD:
      return !agxc_machine_prefix(instr)->imm;
   default:
      return false;
   }
}

static void visit_instr(struct walk *w, struct agxc_instr *instr, unsigned join)
{
   if (!instr->dest_count)
      return;
   if (unites_lanes(instr)) {
      w->grew |= raise_to(&w->d->value[agxc_dest(instr)->value->id], AGXC_SCOPE_SUBGROUP);
      return;
   }
   unsigned scope;
   if (instr->op == AGXC_OP_PHI)
      scope = join;
   else
      scope = agxc_is_machine(instr) ? scope_of_machine(w->shader, instr)
                                     : scope_of_generic(w->shader, instr);
   for (uint32_t i = 0; i < instr->src_count; i++) {
      const struct agxc_block *reader =
         instr->op == AGXC_OP_PHI ? instr->block->preds[i] : instr->block;
      scope = AGX_MAX(scope, (unsigned)agxc_scope_of(w->d, &agxc_srcs(instr)[i], reader));
   }
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE)
         w->grew |= raise_to(&w->d->value[dest->value->id], scope);
}

/* ---- control ------------------------------------------------------------ */

static void visit_list(struct walk *w, const struct agx_link *list, const struct place *at,
                       unsigned join);

static struct agxc_divergence_loop *loop_at(struct walk *w, const struct place *at)
{
   return at->loop == NO_LOOP ? NULL : &w->d->loops[at->loop];
}

/* Of the block that is being looked at. */
static unsigned control_of(struct walk *w, const struct place *at)
{
   const struct agxc_divergence_loop *loop = loop_at(w, at);
   unsigned control = AGX_MAX(AGX_MAX(at->control, at->outer), w->returned);
   return loop ? AGX_MAX(AGX_MAX(control, loop->returned), AGX_MAX(loop->exit, loop->skipped))
               : control;
}

/* BREAK, CONTINUE and RETURN: threads that leave here are missing elsewhere. */
static void visit_end(struct walk *w, const struct agxc_block *block, const struct place *at)
{
   const struct agxc_instr *last = agxc_terminator(block);
   struct agxc_divergence_loop *loop = loop_at(w, at);
   if (!last || agxc_is_machine(last) || last->op == AGXC_OP_BRANCH)
      return;
   if (last->op == AGXC_OP_RETURN) {
      w->has_returned = true;
      raise_to(&w->returned, w->d->block[block->index]);
      for (uint32_t i = at->loop; i != NO_LOOP; i = w->d->loops[i].parent)
         w->grew |= raise_to(&w->d->loops[i].returned, w->returned);
      return;
   }
   if (!loop)
      return;
   loop->has_break = true;
   unsigned scope = AGX_MAX(at->control, loop->skipped);
   if (last->op == AGXC_OP_BREAK) {
      w->grew |= raise_to(&loop->exit, scope);
   } else {
      w->grew |= raise_to(&loop->continued, scope);
      raise_to(&loop->skipped, scope);
   }
}

static void visit_block(struct walk *w, struct agxc_block *block, const struct place *at,
                        unsigned join)
{
   const struct agxc_divergence_loop *loop = loop_at(w, at);
   w->d->loop_of[block->index] = at->loop;
   raise_to(&w->d->block[block->index], control_of(w, at));
   if (at->runs && !w->has_returned && !(loop && loop->has_break))
      agx_bitset_set(w->d->runs, block->index);
   agxc_foreach_instr (instr, block)
      visit_instr(w, instr, join);
   visit_end(w, block, at);
}

/* What phis behind the if depend on. */
static unsigned visit_if(struct walk *w, struct agxc_if *branch, const struct place *at)
{
   const struct agxc_block *before = agxc_block_before(&branch->node);
   const struct agxc_instr *compare = agxc_terminator(before);
   unsigned condition = AGXC_SCOPE_DISPATCH;
   for (uint32_t i = 0; compare && i < compare->src_count; i++)
      condition = AGX_MAX(condition, (unsigned)agxc_scope_of(w->d, &agxc_srcs(compare)[i], before));
   struct place arm = *at;
   arm.control = AGX_MAX(arm.control, (uint8_t)condition);
   arm.runs = false;
   visit_list(w, &branch->then_list, &arm, AGXC_SCOPE_DISPATCH);
   visit_list(w, &branch->else_list, &arm, AGXC_SCOPE_DISPATCH);
   return agxc_block_after(&branch->node)->pred_count > 1 ? condition : AGXC_SCOPE_DISPATCH;
}

static uint32_t number_of(struct walk *w, struct agxc_loop *loop, uint32_t parent)
{
   uint32_t first = agxc_first_block(&loop->body)->index;
   if (w->d->loop_of[first] != NO_LOOP)
      return w->d->loop_of[first];
   w->d->loops[w->d->loop_count] = (struct agxc_divergence_loop){
      .parent = parent, .first = first, .last = agxc_block_after(&loop->node)->index - 1};
   return w->d->loop_count++;
}

/* What phis behind the loop depend on: whether its threads leave it in the same iteration. */
static unsigned visit_loop(struct walk *w, struct agxc_loop *loop, const struct place *at)
{
   struct place inside = {
      .outer = (uint8_t)control_of(w, at), .loop = number_of(w, loop, at->loop), .runs = at->runs};
   struct agxc_divergence_loop *info = &w->d->loops[inside.loop];
   info->skipped = AGXC_SCOPE_DISPATCH;
   info->has_break = false;
   if (w->gives_up)
      info->exit = info->continued = AGXC_SCOPE_THREAD;
   visit_list(w, &loop->body, &inside, w->gives_up ? AGXC_SCOPE_THREAD : AGXC_SCOPE_DISPATCH);
   info->skipped = AGXC_SCOPE_DISPATCH;
   bool joins = agxc_first_block(&loop->continuing)->pred_count > 1;
   visit_list(w, &loop->continuing, &inside, joins ? info->continued : AGXC_SCOPE_DISPATCH);
   return info->exit;
}

/* join: what phis of the first block depend on beside their sources. */
static void visit_list(struct walk *w, const struct agx_link *list, const struct place *at,
                       unsigned join)
{
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK)
         visit_block(w, agxc_as_block(node), at, join);
      else if (node->kind == AGXC_NODE_IF)
         join = visit_if(w, agxc_as_if(node), at);
      else
         join = visit_loop(w, agxc_as_loop(node), at);
   }
}

struct agxc_divergence *agxc_divergence(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agxc_divergence *d = AGX_ARENA_NEW(shader->arena, struct agxc_divergence);
   uint32_t blocks = shader->block_count, loops = 0;
   agxc_foreach_block (block, shader)
      loops += agxc_starts_loop(block);
   d->value = AGX_ARENA_ARRAY(shader->arena, uint8_t, shader->value_count + 1ull);
   d->block = AGX_ARENA_ARRAY(shader->arena, uint8_t, blocks);
   d->runs = agxc_bitset_new(shader, blocks);
   d->loop_of = AGX_ARENA_ARRAY(shader->arena, uint32_t, blocks);
   d->loops = AGX_ARENA_ARRAY(shader->arena, struct agxc_divergence_loop, loops + 1ull);
   for (uint32_t i = 0; i < blocks; i++)
      d->loop_of[i] = NO_LOOP;
   struct walk w = {.shader = shader, .d = d};
   for (unsigned i = 0; i == 0 || (w.grew && d->loop_count && !w.gives_up); i++) {
      w.gives_up = i == EXACT_WALKS;
      w.grew = w.has_returned = false;
      w.returned = AGXC_SCOPE_DISPATCH;
      visit_list(&w, &shader->body, &(struct place){.loop = NO_LOOP, .runs = true},
                 AGXC_SCOPE_DISPATCH);
   }
   return d;
}

bool agxc_is_of_dispatch(const struct agxc_ref *condition)
{
   if (condition->kind != AGXC_VALUE)
      return true;
   agxc_foreach_src (src, condition->value->def)
      if (src->kind == AGXC_VALUE)
         return false;
   return condition->value->def->src_count > 0;
}
