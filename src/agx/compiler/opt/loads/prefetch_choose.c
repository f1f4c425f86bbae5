/* SPDX-License-Identifier: MIT
 *
 * Which loads opt/loads/prefetch.c moves, and where they go: those whose address is known an
 * iteration ahead, that nothing in the loop changes, and for which there are registers.
 */
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/opt/loads/prefetch_impl.h"
#include "agx/compiler/opt/loads/slice_impl.h"

#define MAX_SIZE         512u /* of a loop: how far this looks */
#define INNER_ITERATIONS 8u   /* that a loop inside is taken to run [A] */
#define NEARLY_CYCLES    20u  /* of a load's latency need not be hidden */

/* ---- what can be computed ahead ------------------------------------------ */

static bool is_simple(const struct agxc_instr *instr)
{
   return instr->dest_count == 1 && instr->src_count <= AGXC_PREFETCH_MAX_SOURCES &&
          !(agxc_flags(instr) &
            (AGXC_SIDE_EFFECT | AGXC_TERMINATOR | AGXC_CROSS_LANE | AGXC_READS_MEMORY)) &&
          instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_IMAGE_FETCH &&
          instr->op != AGXC_OP_IMAGE_SAMPLE;
}

/* Invariants, and phis of the header whose next value is computed by one simple operation:
 * i = phi(.., i + 4). That depends on no further phis, so that copies of it end. */
static bool is_known_ahead(const void *user, const struct agxc_value *value)
{
   const struct agxc_prefetch *p = user;
   const struct agxc_instr *def = value->def;
   if (!agxc_prefetch_is_in_loop(p, def->block))
      return true;
   if (!agxc_prefetch_is_phi(p, def))
      return false;
   const struct agxc_ref *back = agxc_phi_back(def);
   if (back->kind != AGXC_VALUE || !is_simple(back->value->def) || value->count != 1 ||
       (value->bits != 16 && value->bits != 32))
      return false;
   agxc_foreach_src (src, back->value->def)
      if (src->kind == AGXC_VALUE && src->value != value &&
          agxc_prefetch_is_in_loop(p, src->value->def->block))
         return false;
   return true;
}

static bool may_copy(const void *user, const struct agxc_instr *instr)
{
   (void)user;
   return is_simple(instr);
}

/* Computed from such values by few simple operations. */
static bool is_slice(const struct agxc_prefetch *p, const struct agxc_ref *ref, uint32_t *left)
{
   const struct agxc_slice slice = {is_known_ahead, may_copy, p};
   return agxc_slice_reaches(&slice, ref, left);
}

/* ---- which loads ----------------------------------------------------------- */

/* Each iteration that gets past the exit runs it. */
static bool is_on_top(const struct agxc_prefetch *p, const struct agxc_block *block)
{
   return block != p->shape.header &&
          (block->node.list == &p->shape.loop->body || block->node.list == p->shape.stay_arm ||
           block->node.list == &p->shape.loop->continuing);
}

/* No thread writes there while the loop runs, as far as this dispatch's rules go. */
static bool is_unchanged(const struct agxc_prefetch *p, const struct agxc_instr *load)
{
   struct agxc_memory_ref memory, other;
   if (agxc_reads_constant(load))
      return true;
   if (!agxc_memory_ref_find(p->shader, load, &memory) || memory.access & AGXC_ACCESS_COHERENT)
      return false;
   agxc_foreach_loop_block (block, p->shader, p->shape.loop) {
      agxc_foreach_instr (instr, block) {
         if ((agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) != AGXC_SIDE_EFFECT)
            continue;
         /* Other iterations' places differ from these by what varies: only the base counts. */
         if (!agxc_memory_ref_find(p->shader, instr, &other) ||
             agxc_memory_ref_same_key(&memory, &other) ||
             agxc_memory_ref_may_overlap(&memory, &other))
            return false;
      }
   }
   return true;
}

/* load: a LOAD_GLOBAL. */
static bool can_move(const struct agxc_prefetch *p, const struct agxc_instr *load)
{
   uint32_t left = AGXC_LOADS_MAX_SLICE;
   const struct agxc_ref *address = agxc_src_address(load), *offset = agxc_src_offset(load);
   return is_on_top(p, load->block) &&
          (agxc_prefetch_varies(p, address) || agxc_prefetch_varies(p, offset)) &&
          is_slice(p, address, &left) && is_slice(p, offset, &left) && is_unchanged(p, load);
}

/* ---- where they gain -------------------------------------------------------- */

static uint32_t cycles_of(const struct agxc_prefetch *p, const struct agxc_instr *instr)
{
   uint32_t iterations = 1;
   for (uint32_t depth = instr->block->loop_depth; depth > p->shape.header->loop_depth; depth--)
      iterations *= INNER_ITERATIONS;
   return iterations * (instr->op == AGXC_OP_LOAD_SHARED ? 4 : agxc_op_cost(instr) ? 2 : 0);
}

static bool uses(const struct agxc_instr *instr, const struct agxc_value *value)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value == value)
         return true;
   return false;
}

/* The last instruction that reads the load or what is only its parts, or the load itself. */
static uint32_t last_use(const struct agxc_prefetch *p, const struct agxc_instr *load)
{
   uint32_t last = load->index;
   for (uint32_t i = load->block->index; i <= p->last; i++) {
      agxc_foreach_instr (instr, p->shader->blocks[i]) {
         if (!uses(instr, agxc_dest(load)->value))
            continue;
         last = AGX_MAX(last, instr->index);
         bool is_name = instr->op == AGXC_OP_SPLIT || instr->op == AGXC_OP_COLLECT;
         agxc_foreach_dest (dest, instr)
            for (uint32_t k = i; k <= p->last && is_name; k++)
               agxc_foreach_instr (reader, p->shader->blocks[k])
                  if (uses(reader, dest->value) && reader->op != AGXC_OP_PHI)
                     last = AGX_MAX(last, reader->index);
      }
   }
   return last;
}

/* The place behind the last use from which most follows before a barrier or the next iteration. */
static bool find_gap(const struct agxc_prefetch *p, struct agxc_choice *choice)
{
   uint32_t behind = last_use(p, choice->load), best = 0, cycles = 0;
   struct agxc_choice at = {.load = choice->load};
   agxc_foreach_loop_block (block, p->shader, p->shape.loop) {
      bool on_top = is_on_top(p, block);
      agxc_foreach_instr (instr, block) {
         bool begins = instr->op == AGXC_OP_BARRIER || instr->index <= behind;
         if (begins)
            at.block = NULL, cycles = 0;
         if (!at.block && on_top && instr->index >= behind && instr->op != AGXC_OP_PHI) {
            at.block = block;
            at.before = begins ? agxc_next_instr(instr) : instr;
         }
         cycles += begins ? 0 : cycles_of(p, instr);
         if (at.block && cycles > best) {
            best = cycles;
            *choice = at;
         }
      }
   }
   return best + NEARLY_CYCLES >= agxc_load_latency();
}

/* The last load whose address depends on it, or 0. */
static uint32_t reached_load(const struct agxc_prefetch *p, const struct agxc_instr *load,
                             agx_bitset_word *reached)
{
   uint32_t last = 0;
   agx_bitset_set(reached, agxc_dest(load)->value->id);
   for (uint32_t i = load->block->index; i <= p->last; i++) {
      agxc_foreach_instr (instr, p->shader->blocks[i]) {
         bool is_reached = false;
         agxc_foreach_src (src, instr)
            is_reached |= src->kind == AGXC_VALUE && agx_bitset_test(reached, src->value->id);
         if (!is_reached || instr->op == AGXC_OP_PHI)
            continue;
         if (instr->op == AGXC_OP_LOAD_GLOBAL && is_on_top(p, instr->block))
            last = instr->index;
         if (!(agxc_flags(instr) & (AGXC_READS_MEMORY | AGXC_SIDE_EFFECT)))
            agxc_foreach_dest (dest, instr)
               agx_bitset_set(reached, dest->value->id);
      }
   }
   return last;
}

/* Behind the loads that depend on it, so that its registers are free for the next value. */
static bool leads_to_load(const struct agxc_prefetch *p, struct agxc_choice *choice)
{
   struct agx_arena *arena = p->shader->arena;
   struct agx_arena_mark mark = agx_arena_mark(arena);
   agx_bitset_word *reached =
      AGX_ARENA_ARRAY(arena, agx_bitset_word, agx_bitset_words(p->value_count));
   uint32_t behind = reached_load(p, choice->load, reached);
   agx_arena_release(arena, mark);
   if (!behind)
      return false;
   behind = AGX_MAX(behind, last_use(p, choice->load));
   choice->block = choice->load->block;
   agxc_foreach_instr (instr, choice->block) {
      choice->before = instr;
      if (instr->index > behind || agxc_flags(instr) & AGXC_TERMINATOR)
         return true;
   }
   choice->before = NULL;
   return true;
}

static void consider(struct agxc_prefetch *p, struct agxc_instr *load)
{
   struct agxc_choice choice = {.load = load};
   int32_t halves = (int32_t)agxc_halves(agxc_dest(load)->value);
   if (p->choice_count == AGXC_LOADS_FAR || halves > p->room || !can_move(p, load))
      return;
   choice.leads = leads_to_load(p, &choice);
   if (!choice.leads && !find_gap(p, &choice))
      return;
   p->choices[p->choice_count++] = choice;
   p->room -= halves;
}

/* Leaves only at its exit, in front of everything else. */
static bool may_run_ahead(const struct agxc_prefetch *p)
{
   uint32_t left = AGXC_LOADS_MAX_SLICE;
   const struct agxc_ref *test = p->shape.taken;
   if (p->shape.size > MAX_SIZE || agxc_block_before(&p->shape.exit->node) != p->shape.header ||
       !agxc_prefetch_varies(p, test) || !is_slice(p, test, &left))
      return false;
   agxc_foreach_instr (instr, p->shape.header)
      if (instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_BRANCH && !is_simple(instr))
         return false;
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_RETURN)
            return false;
   return true;
}

/* One that is waited for in its iteration anyway, outside of inner loops. */
static bool has_other_loads(const struct agxc_prefetch *p)
{
   uint32_t loads = 0;
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      agxc_foreach_instr (instr, block)
         loads +=
            instr->op == AGXC_OP_LOAD_GLOBAL && block->loop_depth == p->shape.header->loop_depth;
   return loads > p->choice_count;
}

/* Loads that others depend on gain by themselves; for those that are only early all must be. */
static void drop_lone_ones(struct agxc_prefetch *p)
{
   uint32_t count = 0;
   if (!has_other_loads(p))
      return;
   for (uint32_t i = 0; i < p->choice_count; i++)
      if (p->choices[i].leads)
         p->choices[count++] = p->choices[i];
   p->choice_count = count;
}

void agxc_prefetch_choose(struct agxc_prefetch *p)
{
   uint32_t halves = 0;
   p->choice_count = 0;
   if (!may_run_ahead(p))
      return;
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      halves = AGX_MAX(halves, p->liveness->halves[block->index]);
   p->room =
      (int32_t)agxc_end_of_step(halves + AGXC_SLACK_HALVES) - (int32_t)(halves + AGXC_SLACK_HALVES);
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_LOAD_GLOBAL)
            consider(p, instr);
   drop_lone_ones(p);
}
