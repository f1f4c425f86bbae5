/* SPDX-License-Identifier: MIT
 *
 * Loads that a loop's next turn needs are issued in this one, where that hides them:
 *
 *    loop { if (!test(i)) break; x = load(i); use(x); barrier; long; barrier; i += 4 }
 *
 * loads in front of the loop for the first turn, and behind the last use for the next one:
 *
 *    if (test(i)) x = load(i)
 *    loop { if (!test(i)) break; use(x); barrier; x = load(next); long; barrier; i += 4 }
 *
 * Two kinds of loads gain: those behind whose last use so much follows, up to the next barrier
 * (which waits for everything), that the load is done by then; and those that another load's
 * address depends on, since both kinds then wait together.
 *
 * No load reads what the loop would not have read: `next` are the values of the next turn if
 * there is one, else those of this turn again. So only loads that each turn runs move, in loops
 * that nobody leaves in their middle.
 *
 * Before: generic SSA. After: the same.
 */
#include "agx/compiler/address.h"
#include "agx/compiler/fold.h"
#include "agx/compiler/limits.h"
#include "agx/compiler/liveness.h"
#include "agx/compiler/op_cost.h"
#include "agx/compiler/passes.h"
#include "agx/compiler/turn.h"

#define MAX_LOADS   4u
#define MAX_SLICE   24u /* instructions that an address or a test is computed from */
#define MAX_SOURCES 4u
#define MAX_SIZE    512u /* of a loop: how far this looks */
/* Cycles that must follow a load, of the 200 that it takes. Source: reference/perf.md. */
#define ENOUGH_CYCLES 180u
#define SHARED_CYCLES 30u
#define INNER_TURNS   8u /* that a loop inside is taken to run [A] */
/* Halves kept free for what the liveness of generic code does not show. */
#define SLACK_HALVES 12u

/* As what a copy of the loop's values is made. */
enum way {
   WAY_FIRST, /* in front of the loop: those of the first turn */
   WAY_THIS,  /* in the loop, where they may not be computed yet */
   WAY_NEXT,  /* of the next turn */
   WAY_COUNT,
};

struct choice {
   struct agxc_instr *load;
   struct agxc_block *block; /* where it goes: to the end, or in front of `before` */
   struct agxc_instr *before;
   bool leads; /* another load's address depends on it */
};

/* What stands for a value in one way of copying it. */
struct copied {
   struct agxc_ref ref;
   uint32_t stamp; /* of the place that it was made for */
};

struct prefetch {
   struct agxc_shader *shader;
   struct agxc_turn turn;
   uint32_t first, last;          /* blocks of the loop */
   uint32_t value_count;          /* values that are older than the copies */
   struct copied *map[WAY_COUNT]; /* by value id */
   uint32_t stamp;
   struct agxc_builder b; /* where copies go */
   struct choice choices[MAX_LOADS];
   uint32_t choice_count;
   const struct agxc_liveness *liveness;
   int32_t room; /* halves that the loop may take without a step of occupancy */
};

/* ---- what can be computed ahead ------------------------------------------ */

static bool is_inside(const struct prefetch *p, const struct agxc_block *block)
{
   return block->index >= p->first && block->index <= p->last;
}

static bool is_header_phi(const struct prefetch *p, const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_PHI && instr->block == p->turn.header;
}

static bool is_simple(const struct agxc_instr *instr)
{
   return instr->dest_count == 1 && instr->src_count <= MAX_SOURCES &&
          !(agxc_flags(instr) &
            (AGXC_SIDE_EFFECT | AGXC_TERMINATOR | AGXC_CROSS_LANE | AGXC_READS_MEMORY)) &&
          instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_IMAGE_FETCH &&
          instr->op != AGXC_OP_IMAGE_SAMPLE;
}

/* Computed from invariants and the header's phis by few simple operations, and so are these
 * phis' next values. */
static bool is_slice(const struct prefetch *p, const struct agxc_ref *ref, uint32_t *left)
{
   if (ref->kind != AGXC_VALUE || !is_inside(p, ref->value->def->block))
      return true;
   const struct agxc_instr *def = ref->value->def;
   if (*left == 0)
      return false;
   *left -= 1;
   if (is_header_phi(p, def)) {
      const struct agxc_ref *back = &agxc_srcs(def)[1];
      bool is_counter = back->kind == AGXC_VALUE && is_simple(back->value->def) &&
                        (def->operand[0].bits == 16 || def->operand[0].bits == 32) &&
                        def->operand[0].count == 1;
      if (!is_counter || *left < back->value->def->src_count)
         return false;
      /* i = phi(.., i + 4): no further phis, so that this ends. */
      agxc_foreach_src (src, back->value->def)
         if (src->kind == AGXC_VALUE && src->value != def->operand[0].value &&
             is_inside(p, src->value->def->block))
            return false;
      return true;
   }
   if (!is_simple(def))
      return false;
   agxc_foreach_src (src, def)
      if (!is_slice(p, src, left))
         return false;
   return true;
}

static bool varies(const struct prefetch *p, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && is_inside(p, ref->value->def->block);
}

/* ---- copies --------------------------------------------------------------- */

static struct agxc_ref copy_of(struct prefetch *p, struct agxc_ref ref, enum way way);

static struct agxc_ref copy_phi(struct prefetch *p, const struct agxc_instr *phi, enum way way)
{
   if (way == WAY_FIRST)
      return agxc_srcs(phi)[0];
   return way == WAY_THIS ? agxc_use(phi->operand[0].value)
                          : copy_of(p, agxc_srcs(phi)[1], WAY_THIS);
}

/* What is known without computing it: first turns begin with constants. */
static struct agxc_ref simplified(const struct agxc_instr *instr, const struct agxc_ref *srcs)
{
   bool has_two = instr->src_count == 2 && instr->operand_count == 3;
   if (has_two && srcs[0].kind == AGXC_IMM && srcs[1].kind == AGXC_IMM)
      return agxc_fold((enum agxc_op)instr->op, instr->operand[0].bits, srcs[0], srcs[1]);
   if (instr->op != AGXC_OP_IADD)
      return agxc_none();
   for (unsigned i = 0; i < 2; i++)
      if (srcs[i].kind == AGXC_IMM && srcs[i].imm == 0)
         return srcs[1 - i];
   return agxc_none();
}

static struct agxc_ref copy_instr(struct prefetch *p, const struct agxc_instr *instr, enum way way)
{
   struct agxc_ref srcs[MAX_SOURCES];
   for (unsigned i = 0; i < instr->src_count; i++)
      srcs[i] = copy_of(p, agxc_srcs(instr)[i], way);
   struct agxc_ref known = simplified(instr, srcs);
   if (known.kind != AGXC_NONE)
      return known;
   struct agxc_instr *copy = agxc_instr_new_n(p->shader, instr->op, 1, instr->src_count);
   struct agxc_value *value =
      agxc_value_new(p->shader, instr->operand[0].bits, instr->operand[0].count);
   for (unsigned i = 0; i < instr->operand_count; i++)
      copy->operand[i] = instr->operand[i];
   for (unsigned i = 0; i < instr->src_count; i++)
      agxc_srcs(copy)[i] = srcs[i];
   copy->operand[0] = agxc_use(value);
   copy->exact = instr->exact;
   value->def = copy;
   agxc_insert(&p->b, copy);
   return copy->operand[0];
}

/* The value of another turn. No deeper than MAX_SLICE. */
static struct agxc_ref copy_of(struct prefetch *p, struct agxc_ref ref, enum way way)
{
   if (ref.kind != AGXC_VALUE || ref.value->id >= p->value_count || !varies(p, &ref))
      return ref;
   struct copied *known = &p->map[way][ref.value->id];
   if (known->stamp != p->stamp) {
      const struct agxc_instr *def = ref.value->def;
      struct agxc_ref copy =
         is_header_phi(p, def) ? copy_phi(p, def, way) : copy_instr(p, def, way);
      *known = (struct copied){copy, p->stamp};
   }
   return known->ref;
}

/* Copies go to another place from now on, where those made before may not be known. */
static void go_to(struct prefetch *p, struct agxc_builder b)
{
   p->b = b;
   p->stamp++;
}

/* ---- which loads ----------------------------------------------------------- */

/* Each turn that gets past the exit runs it. */
static bool is_on_top(const struct prefetch *p, const struct agxc_block *block)
{
   return block != p->turn.header &&
          (block->node.list == &p->turn.loop->body || block->node.list == p->turn.stay_arm ||
           block->node.list == &p->turn.loop->continuing);
}

/* No thread writes there while the loop runs, as far as this dispatch's rules go. */
static bool is_unchanged(const struct prefetch *p, const struct agxc_instr *load)
{
   struct agxc_place place, other;
   if (agxc_reads_constant(load))
      return true;
   if (!agxc_place_of(p->shader, load, &place) || place.access & AGXC_ACCESS_COHERENT)
      return false;
   for (uint32_t i = p->first; i <= p->last; i++) {
      agxc_foreach_instr (instr, p->shader->blocks[i]) {
         if ((agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) != AGXC_SIDE_EFFECT)
            continue;
         /* Other turns' places differ from these by what varies: only the base counts. */
         if (!agxc_place_of(p->shader, instr, &other) || agxc_place_same_key(&place, &other) ||
             agxc_place_may_overlap(&place, &other))
            return false;
      }
   }
   return true;
}

static bool can_move(const struct prefetch *p, const struct agxc_instr *load)
{
   uint32_t left = MAX_SLICE;
   const struct agxc_ref *srcs = agxc_srcs(load);
   return load->op == AGXC_OP_LOAD_GLOBAL && is_on_top(p, load->block) &&
          (varies(p, &srcs[0]) || varies(p, &srcs[1])) && is_slice(p, &srcs[0], &left) &&
          is_slice(p, &srcs[1], &left) && is_unchanged(p, load);
}

/* ---- where they gain -------------------------------------------------------- */

static uint32_t cycles_of(const struct prefetch *p, const struct agxc_instr *instr)
{
   uint32_t turns = 1;
   for (uint32_t depth = instr->block->loop_depth; depth > p->turn.header->loop_depth; depth--)
      turns *= INNER_TURNS;
   return turns * (instr->op == AGXC_OP_LOAD_SHARED ? 4 : agxc_op_cost(instr) ? 2 : 0);
}

static struct agxc_instr *next_in_block(const struct agxc_instr *instr)
{
   return instr->link.next == &instr->block->instrs
             ? NULL
             : agx_container_of(instr->link.next, struct agxc_instr, link);
}

static bool uses(const struct agxc_instr *instr, const struct agxc_value *value)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value == value)
         return true;
   return false;
}

/* The last instruction that reads the load or what is only its parts, or the load itself. */
static uint32_t last_use(const struct prefetch *p, const struct agxc_instr *load)
{
   uint32_t last = load->index;
   for (uint32_t i = load->block->index; i <= p->last; i++) {
      agxc_foreach_instr (instr, p->shader->blocks[i]) {
         if (!uses(instr, load->operand[0].value))
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

/* The place behind the last use from which most follows before a barrier or the next turn. */
static bool find_gap(const struct prefetch *p, struct choice *choice)
{
   uint32_t behind = last_use(p, choice->load), best = 0, cycles = 0;
   struct choice at = {.load = choice->load};
   for (uint32_t i = p->first; i <= p->last; i++) {
      struct agxc_block *block = p->shader->blocks[i];
      bool on_top = is_on_top(p, block);
      agxc_foreach_instr (instr, block) {
         bool begins = instr->op == AGXC_OP_BARRIER || instr->index <= behind;
         if (begins)
            at.block = NULL, cycles = 0;
         if (!at.block && on_top && instr->index >= behind && instr->op != AGXC_OP_PHI) {
            at.block = block;
            at.before = begins ? next_in_block(instr) : instr;
         }
         cycles += begins ? 0 : cycles_of(p, instr);
         if (at.block && cycles > best) {
            best = cycles;
            *choice = at;
         }
      }
   }
   return best >= ENOUGH_CYCLES;
}

/* The last load whose address depends on it, or 0. */
static uint32_t reached_load(const struct prefetch *p, const struct agxc_instr *load,
                             agx_bitset_word *reached)
{
   uint32_t last = 0;
   agx_bitset_set(reached, load->operand[0].value->id);
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
static bool leads_to_load(const struct prefetch *p, struct choice *choice)
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

static void consider(struct prefetch *p, struct agxc_instr *load)
{
   struct choice choice = {.load = load};
   int32_t halves = (int32_t)agxc_halves(load->operand[0].value);
   if (p->choice_count == MAX_LOADS || halves > p->room || !can_move(p, load))
      return;
   choice.leads = leads_to_load(p, &choice);
   if (!choice.leads && !find_gap(p, &choice))
      return;
   p->choices[p->choice_count++] = choice;
   p->room -= halves;
}

/* Leaves only at its exit, in front of everything else. */
static bool may_run_ahead(const struct prefetch *p)
{
   uint32_t left = MAX_SLICE;
   const struct agxc_ref *test = p->turn.taken;
   if (p->turn.size > MAX_SIZE || agxc_block_before(&p->turn.exit->node) != p->turn.header ||
       !varies(p, test) || !is_slice(p, test, &left))
      return false;
   agxc_foreach_instr (instr, p->turn.header)
      if (instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_BRANCH && !is_simple(instr))
         return false;
   for (uint32_t i = p->first; i <= p->last; i++)
      agxc_foreach_instr (instr, p->shader->blocks[i])
         if (instr->op == AGXC_OP_RETURN)
            return false;
   return true;
}

/* One that is waited for in its turn anyway, outside of inner loops. */
static bool has_other_loads(const struct prefetch *p)
{
   uint32_t loads = 0;
   for (uint32_t i = p->first; i <= p->last; i++)
      agxc_foreach_instr (instr, p->shader->blocks[i])
         loads += instr->op == AGXC_OP_LOAD_GLOBAL &&
                  p->shader->blocks[i]->loop_depth == p->turn.header->loop_depth;
   return loads > p->choice_count;
}

/* Loads that others depend on gain by themselves; for those that are only early all must be. */
static void drop_lone_ones(struct prefetch *p)
{
   uint32_t count = 0;
   if (!has_other_loads(p))
      return;
   for (uint32_t i = 0; i < p->choice_count; i++)
      if (p->choices[i].leads)
         p->choices[count++] = p->choices[i];
   p->choice_count = count;
}

static void choose(struct prefetch *p)
{
   uint32_t halves = 0;
   for (uint32_t i = p->first; i <= p->last; i++)
      halves = AGX_MAX(halves, p->liveness->halves[i]);
   p->room = (int32_t)agxc_end_of_step(halves + SLACK_HALVES) - (int32_t)(halves + SLACK_HALVES);
   for (uint32_t i = p->first; i <= p->last; i++)
      agxc_foreach_instr (instr, p->shader->blocks[i])
         if (instr->op == AGXC_OP_LOAD_GLOBAL)
            consider(p, instr);
   drop_lone_ones(p);
}

/* ---- moving ---------------------------------------------------------------- */

static struct agxc_ref build_zero(struct agxc_builder *b, const struct agxc_ref *like)
{
   struct agxc_ref zeros[4];
   for (unsigned i = 0; i < AGX_COUNT(zeros); i++)
      zeros[i] = agxc_imm(0, like->bits);
   return like->count == 1 ? zeros[0] : agxc_collect(b, like->count, zeros);
}

static struct agxc_block *append_block(struct agxc_shader *shader, struct agx_link *list,
                                       struct agxc_node *parent)
{
   struct agxc_block *block = agxc_block_new(shader);
   agxc_node_append(list, parent, &block->node);
   return block;
}

/* An if on the turn's test at the end of the builder's block, and a block behind it. */
static struct agxc_block *build_if(struct prefetch *p, struct agxc_ref test,
                                   struct agxc_block **out_inside)
{
   struct agxc_shader *shader = p->shader;
   struct agxc_node *at = &p->b.block->node;
   struct agxc_node *nodes[] = {&agxc_if_new(shader)->node, &agxc_block_new(shader)->node};
   struct agxc_if *branch = agx_container_of(nodes[0], struct agxc_if, node);
   struct agxc_instr *end = agxc_instr_new(shader, AGXC_OP_BRANCH);
   end->operand[0] = test;
   agxc_insert(&p->b, end);
   for (unsigned i = AGX_COUNT(nodes); i-- > 0;) {
      agx_list_insert_before(at->link.next, &nodes[i]->link);
      nodes[i]->parent = at->parent;
      nodes[i]->list = at->list;
   }
   struct agxc_block *then_block = append_block(shader, &branch->then_list, &branch->node);
   struct agxc_block *else_block = append_block(shader, &branch->else_list, &branch->node);
   *out_inside = p->turn.leaves_if ? else_block : then_block;
   return agx_container_of(nodes[1], struct agxc_block, node);
}

/* Behind such an if: what was loaded inside, or the other. */
static struct agxc_ref build_phi(struct prefetch *p, struct agxc_ref loaded, struct agxc_ref other)
{
   struct agxc_ref ways[2];
   ways[p->turn.leaves_if ? 1 : 0] = loaded;
   ways[p->turn.leaves_if ? 0 : 1] = other;
   return agxc_build(&p->b, AGXC_OP_PHI, loaded.bits, loaded.count, 2, ways);
}

static void load_first(struct prefetch *p, struct agxc_ref *out_loaded)
{
   struct agxc_block *inside = agxc_block_before(&p->turn.loop->node), *behind = NULL;
   struct agxc_ref zeros[MAX_LOADS];
   go_to(p, agxc_at_end(p->shader, inside));
   struct agxc_ref test = copy_of(p, *p->turn.taken, WAY_FIRST);
   if (test.kind != AGXC_IMM || (bool)test.imm == p->turn.leaves_if) {
      for (uint32_t i = 0; i < p->choice_count; i++)
         zeros[i] = build_zero(&p->b, &p->choices[i].load->operand[0]);
      behind = build_if(p, test, &inside);
      p->b = agxc_at_end(p->shader, inside); /* which sees what was copied in front of it */
   }
   for (uint32_t i = 0; i < p->choice_count; i++)
      out_loaded[i] = copy_instr(p, p->choices[i].load, WAY_FIRST);
   if (!behind)
      return;
   p->b = agxc_at_end(p->shader, behind);
   for (uint32_t i = 0; i < p->choice_count; i++)
      out_loaded[i] = build_phi(p, out_loaded[i], zeros[i]);
}

/* Everything from `first` on moves to the new block. */
static void split_block(struct agxc_block *block, struct agxc_instr *first, struct agxc_block *to)
{
   bool moves = false;
   agxc_foreach_instr_safe (instr, block) {
      moves |= instr == first;
      if (!moves)
         continue;
      agx_list_remove(&instr->link);
      agx_list_append(&to->instrs, &instr->link);
      instr->block = to;
   }
}

/* The load's value becomes the phi's: nobody who reads it need know. */
static void load_next(struct prefetch *p, struct choice *choice, struct agxc_ref first)
{
   struct agxc_instr *load = choice->load;
   struct agxc_ref now = load->operand[0];
   struct agxc_block *inside, *block = choice->before ? choice->before->block : choice->block;
   go_to(p, (struct agxc_builder){p->shader, block, choice->before});
   struct agxc_ref test = copy_of(p, *p->turn.taken, WAY_NEXT);
   struct agxc_block *behind = build_if(p, test, &inside);
   behind->index = block->index; /* what moves there is inside the loop still */
   for (uint32_t i = 0; i < p->choice_count; i++)
      if (p->choices[i].block == block)
         p->choices[i].block = behind; /* for those that go to the end */
   if (choice->before)
      split_block(block, choice->before, behind);
   p->b = agxc_at_end(p->shader, inside);
   struct agxc_ref next = copy_instr(p, load, WAY_NEXT);
   p->b =
      (struct agxc_builder){p->shader, behind,
                            agx_list_empty(&behind->instrs)
                               ? NULL
                               : agx_container_of(behind->instrs.next, struct agxc_instr, link)};
   next = build_phi(p, next, now);
   struct agxc_instr *phi = agxc_instr_new_n(p->shader, AGXC_OP_PHI, 1, 2);
   phi->operand[0] = now;
   now.value->def = phi;
   agxc_srcs(phi)[0] = first;
   agxc_srcs(phi)[1] = next;
   struct agxc_builder top = {
      p->shader, p->turn.header,
      agx_container_of(p->turn.header->instrs.next, struct agxc_instr, link)};
   agxc_insert(&top, phi);
}

static void run_ahead(struct prefetch *p)
{
   struct agxc_ref first[MAX_LOADS];
   load_first(p, first);
   for (uint32_t i = 0; i < p->choice_count; i++)
      load_next(p, &p->choices[i], first[i]);
   for (uint32_t i = 0; i < p->choice_count; i++) /* choices may name others' places */
      agxc_instr_remove(p->choices[i].load);
}

/* ---- pass ------------------------------------------------------------------- */

static bool visit_list(struct prefetch *p, struct agx_link *list);

/* The innermost loop with something to gain: copies in it are unknown to those around it. */
static bool visit_loop(struct prefetch *p, struct agxc_loop *loop)
{
   bool inner = visit_list(p, &loop->body);
   inner |= visit_list(p, &loop->continuing);
   if (inner || !agxc_turn_find(&p->turn, p->shader, loop))
      return inner;
   p->first = p->turn.header->index;
   p->last = agxc_last_block(&loop->continuing)->index;
   p->choice_count = 0;
   if (!may_run_ahead(p))
      return false;
   choose(p);
   if (p->choice_count)
      run_ahead(p);
   return p->choice_count > 0;
}

static bool visit_list(struct prefetch *p, struct agx_link *list)
{
   bool progress = false;
   for (struct agx_link *at = list->next, *next; at != list; at = next) {
      struct agxc_node *node = agx_container_of(at, struct agxc_node, link);
      next = at->next;
      if (node->kind == AGXC_NODE_IF) {
         struct agxc_if *branch = agx_container_of(node, struct agxc_if, node);
         progress |= visit_list(p, &branch->then_list);
         progress |= visit_list(p, &branch->else_list);
      } else if (node->kind == AGXC_NODE_LOOP) {
         progress |= visit_loop(p, agx_container_of(node, struct agxc_loop, node));
      }
   }
   return progress;
}

static bool has_loop(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      if (block->loop_depth)
         return true;
   return false;
}

bool agxc_opt_prefetch(struct agxc_shader *shader)
{
   struct prefetch p = {.shader = shader, .value_count = shader->value_count};
   agxc_index(shader);
   if (!has_loop(shader))
      return false;
   p.liveness = agxc_liveness_compute(shader);
   for (unsigned way = 0; way < WAY_COUNT; way++)
      p.map[way] = AGX_ARENA_ARRAY(shader->arena, struct copied, shader->value_count + 1ull);
   if (!visit_list(&p, &shader->body))
      return false;
   agxc_opt_cse(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   return true;
}
