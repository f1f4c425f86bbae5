/* SPDX-License-Identifier: MIT
 *
 * Issues loads that a loop's next iteration needs in this one, where that hides them:
 *
 *    loop { if (!test(i)) break; x = load(i); use(x); barrier; long; barrier; i += 4 }
 *
 * loads in front of the loop for the first iteration, and behind the last use for the next one:
 *
 *    if (test(i)) x = load(i)
 *    loop { if (!test(i)) break; use(x); barrier; x = load(next); long; barrier; i += 4 }
 *
 * Two kinds of loads gain: those behind whose last use so much follows, up to the next barrier
 * (which waits for everything), that the load is done by then; and those that another load's
 * address depends on, since both kinds then wait together.
 *
 * No load reads what the loop would not have read: `next` are the values of the next iteration if
 * there is one, else those of this iteration again. So only loads that each iteration runs move, in
 * loops without a way out in their middle.
 *
 * The loads that move are those whose address is known an iteration ahead, that nothing in the loop
 * changes, and for which there are registers.
 *
 * Before: generic SSA. After: the same. The last pass before selection: a load that opt_licm can
 * move out of the loop needs none of this.
 */
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/analysis/loop_shape.h"
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/opt.h"

#define MAX_SIZE         512u /* of a loop: how far this looks */
#define INNER_ITERATIONS 8u   /* that a loop inside is taken to run [A] */
#define NEARLY_CYCLES    20u  /* of a load's latency need not be hidden */
#define MAX_SOURCES      4u

/* As what a copy of the loop's values is made. */
enum way {
   WAY_FIRST, /* in front of the loop: those of the first iteration */
   WAY_THIS,  /* in the loop, where they may not be computed yet */
   WAY_NEXT,  /* of the next iteration */
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
   struct agxc_loop_shape shape;
   uint32_t first, last;          /* blocks of the loop */
   uint32_t value_count;          /* values that are older than the copies */
   struct copied *map[WAY_COUNT]; /* by value id */
   uint32_t stamp;
   struct agxc_builder b; /* where copies go */
   struct choice choices[AGXC_LOADS_FAR];
   uint32_t choice_count;
   const struct agxc_liveness *liveness;
   int32_t room; /* halves that the loop may take without a step of occupancy */
};

/* A block of the loop. */
static bool is_in_loop(const struct prefetch *p, const struct agxc_block *block)
{
   return block->index >= p->first && block->index <= p->last;
}

/* A phi of the loop's header. */
static bool is_phi(const struct prefetch *p, const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_PHI && instr->block == p->shape.header;
}

/* Another iteration may have another value there. */
static bool varies(const struct prefetch *p, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && is_in_loop(p, ref->value->def->block);
}

/* ---- what can be computed ahead ------------------------------------------ */

static bool is_simple(const struct agxc_instr *instr)
{
   return instr->dest_count == 1 && instr->src_count <= MAX_SOURCES &&
          !(agxc_flags(instr) &
            (AGXC_SIDE_EFFECT | AGXC_TERMINATOR | AGXC_CROSS_LANE | AGXC_READS_MEMORY)) &&
          instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_IMAGE_FETCH &&
          instr->op != AGXC_OP_IMAGE_SAMPLE;
}

/* Invariants, and phis of the header whose next value is computed by one simple operation:
 * i = phi(.., i + 4). That depends on no further phis, so that copies of it end. */
static bool is_known_ahead(const void *user, const struct agxc_value *value)
{
   const struct prefetch *p = user;
   const struct agxc_instr *def = value->def;
   if (!is_in_loop(p, def->block))
      return true;
   if (!is_phi(p, def))
      return false;
   const struct agxc_ref *back = agxc_phi_back(def);
   if (back->kind != AGXC_VALUE || !is_simple(back->value->def) || value->count != 1 ||
       (value->bits != 16 && value->bits != 32))
      return false;
   agxc_foreach_src (src, back->value->def)
      if (src->kind == AGXC_VALUE && src->value != value && is_in_loop(p, src->value->def->block))
         return false;
   return true;
}

static bool may_copy(const void *user, const struct agxc_instr *instr)
{
   return is_simple(instr);
}

/* Computed from such values by few simple operations. */
static bool is_slice(const struct prefetch *p, const struct agxc_ref *ref, uint32_t *left)
{
   const struct agxc_slice slice = {is_known_ahead, may_copy, p};
   return agxc_slice_reaches(&slice, ref, left);
}

/* ---- which loads ----------------------------------------------------------- */

/* Each iteration that gets past the exit runs it. */
static bool is_on_top(const struct prefetch *p, const struct agxc_block *block)
{
   return block != p->shape.header &&
          (block->node.list == &p->shape.loop->body || block->node.list == p->shape.stay_arm ||
           block->node.list == &p->shape.loop->continuing);
}

/* No thread writes there while the loop runs, as far as this dispatch's rules go. */
static bool is_unchanged(const struct prefetch *p, const struct agxc_instr *load)
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
static bool can_move(const struct prefetch *p, const struct agxc_instr *load)
{
   uint32_t left = AGXC_LOADS_MAX_SLICE;
   const struct agxc_ref *address = agxc_src_address(load), *offset = agxc_src_offset(load);
   return is_on_top(p, load->block) && (varies(p, address) || varies(p, offset)) &&
          is_slice(p, address, &left) && is_slice(p, offset, &left) && is_unchanged(p, load);
}

/* ---- where they gain -------------------------------------------------------- */

static uint32_t cycles_of(const struct prefetch *p, const struct agxc_instr *instr)
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
static uint32_t last_use(const struct prefetch *p, const struct agxc_instr *load)
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
static bool find_gap(const struct prefetch *p, struct choice *choice)
{
   uint32_t behind = last_use(p, choice->load), best = 0, cycles = 0;
   struct choice at = {.load = choice->load};
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
static uint32_t reached_load(const struct prefetch *p, const struct agxc_instr *load,
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
static bool may_run_ahead(const struct prefetch *p)
{
   uint32_t left = AGXC_LOADS_MAX_SLICE;
   const struct agxc_ref *test = p->shape.taken;
   if (p->shape.size > MAX_SIZE || agxc_block_before(&p->shape.exit->node) != p->shape.header ||
       !varies(p, test) || !is_slice(p, test, &left))
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
static bool has_other_loads(const struct prefetch *p)
{
   uint32_t loads = 0;
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      agxc_foreach_instr (instr, block)
         loads +=
            instr->op == AGXC_OP_LOAD_GLOBAL && block->loop_depth == p->shape.header->loop_depth;
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

static void choose_loads(struct prefetch *p)
{
   uint32_t halves = 0;
   p->choice_count = 0;
   if (!may_run_ahead(p))
      return;
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      halves = AGX_MAX(halves, p->liveness->halves[block->index]);
   p->room = (int32_t)agxc_end_of_step(p->shader, halves + AGXC_SLACK_HALVES) -
             (int32_t)(halves + AGXC_SLACK_HALVES);
   agxc_foreach_loop_block (block, p->shader, p->shape.loop)
      agxc_foreach_instr (instr, block)
         if (instr->op == AGXC_OP_LOAD_GLOBAL)
            consider(p, instr);
   drop_lone_ones(p);
}

/* ---- copies --------------------------------------------------------------- */

static struct agxc_ref copy_of(struct prefetch *p, struct agxc_ref ref, enum way way);

static struct agxc_ref copy_phi(struct prefetch *p, const struct agxc_instr *phi, enum way way)
{
   if (way == WAY_FIRST)
      return *agxc_phi_entry(phi);
   return way == WAY_THIS ? agxc_use(agxc_dest(phi)->value)
                          : copy_of(p, *agxc_phi_back(phi), WAY_THIS);
}

/* What is known without computing it: first iterations begin with constants. An index below zero,
 * which bases that constants went into allow, keeps its shift: a scaled index has a sign, an offset
 * not.
 */
static struct agxc_ref simplified(const struct agxc_instr *instr, const struct agxc_ref *srcs)
{
   if (instr->src_count != 2 || !agxc_has_src(instr, AGXC_SRC_B))
      return agxc_none();
   struct agxc_ref a = srcs[agxc_src_a(instr) - agxc_srcs(instr)];
   struct agxc_ref b = srcs[agxc_src_b(instr) - agxc_srcs(instr)];
   if (instr->op == AGXC_OP_ISHL && a.kind == AGXC_IMM && a.imm >> 31)
      return agxc_none();
   if (a.kind == AGXC_IMM && b.kind == AGXC_IMM)
      return agxc_fold((enum agxc_op)instr->op, agxc_dest(instr)->bits, a, b);
   if (instr->op != AGXC_OP_IADD)
      return agxc_none();
   if (a.kind == AGXC_IMM && a.imm == 0)
      return b;
   return b.kind == AGXC_IMM && b.imm == 0 ? a : agxc_none();
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
      agxc_value_new(p->shader, agxc_dest(instr)->bits, agxc_dest(instr)->count);
   for (unsigned i = 0; i < instr->operand_count; i++)
      copy->operand[i] = instr->operand[i];
   for (unsigned i = 0; i < instr->src_count; i++)
      agxc_srcs(copy)[i] = srcs[i];
   agxc_define(copy, agxc_use(value));
   copy->flags = instr->flags;
   copy->line = instr->line;
   agxc_insert(&p->b, copy);
   return *agxc_dest(copy);
}

/* The value of another iteration. No deeper than AGXC_LOADS_MAX_SLICE. */
static struct agxc_ref copy_of(struct prefetch *p, struct agxc_ref ref, enum way way)
{
   if (ref.kind != AGXC_VALUE || ref.value->id >= p->value_count || !varies(p, &ref))
      return ref;
   struct copied *known = &p->map[way][ref.value->id];
   if (known->stamp != p->stamp) {
      const struct agxc_instr *def = ref.value->def;
      struct agxc_ref copy = is_phi(p, def) ? copy_phi(p, def, way) : copy_instr(p, def, way);
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

/* ---- moving ---------------------------------------------------------------- */

/* An if on the iteration's test at the end of the builder's block, and a block behind it. */
static struct agxc_block *build_if(struct prefetch *p, struct agxc_ref test,
                                   struct agxc_block **out_inside)
{
   struct agxc_block *behind;
   const struct agxc_if *branch = agxc_build_if(&p->b, test, &behind);
   *out_inside = agxc_first_block(p->shape.leaves_if ? &branch->else_list : &branch->then_list);
   return behind;
}

/* Behind such an if: what was loaded inside, or the other. */
static struct agxc_ref build_phi(struct prefetch *p, struct agxc_ref loaded, struct agxc_ref other)
{
   struct agxc_ref ways[2];
   ways[p->shape.leaves_if ? 1 : 0] = loaded;
   ways[p->shape.leaves_if ? 0 : 1] = other;
   return agxc_build(&p->b, AGXC_OP_PHI, loaded.bits, loaded.count, 2, ways);
}

static void load_first(struct prefetch *p, struct agxc_ref *out_loaded)
{
   struct agxc_block *inside = agxc_block_before(&p->shape.loop->node), *behind = NULL;
   struct agxc_ref others[AGXC_LOADS_FAR];
   go_to(p, agxc_at_end(p->shader, inside));
   struct agxc_ref test = copy_of(p, *p->shape.taken, WAY_FIRST);
   if (test.kind != AGXC_IMM || (bool)test.imm == p->shape.leaves_if) {
      for (uint32_t i = 0; i < p->choice_count; i++) {
         const struct agxc_ref *loaded = agxc_dest(p->choices[i].load);
         others[i] = agxc_build_undef(&p->b, loaded->bits, loaded->count);
      }
      behind = build_if(p, test, &inside);
      p->b = agxc_at_end(p->shader, inside); /* which sees what was copied in front of it */
   }
   for (uint32_t i = 0; i < p->choice_count; i++)
      out_loaded[i] = copy_instr(p, p->choices[i].load, WAY_FIRST);
   if (!behind)
      return;
   p->b = agxc_at_end(p->shader, behind);
   for (uint32_t i = 0; i < p->choice_count; i++)
      out_loaded[i] = build_phi(p, out_loaded[i], others[i]);
}

/* The phi defines the load's value, so that its uses stay as they are. */
static void load_next(struct prefetch *p, struct choice *choice, struct agxc_ref first)
{
   struct agxc_instr *load = choice->load;
   struct agxc_ref now = *agxc_dest(load);
   struct agxc_block *inside, *block = choice->before ? choice->before->block : choice->block;
   go_to(p, (struct agxc_builder){p->shader, block, choice->before});
   struct agxc_ref test = copy_of(p, *p->shape.taken, WAY_NEXT);
   const struct agxc_ref other = agxc_build_undef(&p->b, now.bits, now.count);
   struct agxc_block *behind = build_if(p, test, &inside);
   for (uint32_t i = 0; i < p->choice_count; i++)
      if (p->choices[i].block == block)
         p->choices[i].block = behind; /* for those that go to the end */
   p->b = agxc_at_end(p->shader, inside);
   struct agxc_ref next = copy_instr(p, load, WAY_NEXT);
   p->b = agxc_at_start(p->shader, behind);
   next = build_phi(p, next, other);
   struct agxc_builder top = agxc_at_start(p->shader, p->shape.header);
   struct agxc_ref ways[] = {first, next};
   agxc_define_as(agxc_build(&top, AGXC_OP_PHI, now.bits, now.count, 2, ways), now);
}

static void run_ahead(struct prefetch *p)
{
   struct agxc_ref first[AGXC_LOADS_FAR];
   load_first(p, first);
   for (uint32_t i = 0; i < p->choice_count; i++)
      load_next(p, &p->choices[i], first[i]);
   for (uint32_t i = 0; i < p->choice_count; i++) /* choices may name others' places */
      agxc_instr_remove(p->choices[i].load);
}

/* ---- pass ------------------------------------------------------------------- */

/* The innermost loop with something to gain: copies in it are unknown to those around it. */
static bool try_loop(void *user, struct agxc_loop *loop)
{
   struct prefetch *p = user;
   if (!agxc_loop_shape_find(&p->shape, p->shader, loop))
      return false;
   p->first = p->shape.header->index;
   p->last = agxc_last_block(&loop->continuing)->index;
   choose_loads(p);
   if (p->choice_count)
      run_ahead(p);
   return p->choice_count > 0;
}

bool agxc_opt_prefetch(struct agxc_shader *shader)
{
   struct prefetch p = {.shader = shader, .value_count = shader->value_count};
   agxc_index(shader);
   if (!agxc_has_loop(shader))
      return false;
   p.liveness = agxc_liveness_compute(shader);
   for (unsigned way = 0; way < WAY_COUNT; way++)
      p.map[way] = AGX_ARENA_ARRAY(shader->arena, struct copied, shader->value_count + 1ull);
   if (!agxc_loops_visit(&shader->body, try_loop, &p))
      return false;
   agxc_opt_cse(shader);
   agxc_opt_copy_prop(shader);
   agxc_opt_dce(shader);
   return true;
}
