/* SPDX-License-Identifier: MIT
 *
 * Computes what is the same for the whole dispatch once, in a preamble: pure operations on
 * uniforms and constants, and loads of memory that nothing writes, become a program of one
 * thread that stores uniform registers; the main code reads those.
 *
 * Before: generic SSA. After: the same with fewer instructions, and shader->preamble where
 * the gain pays. Stands where nothing adds operations any more that could move; the preamble goes
 * through the passes behind this one. Nothing is computed that could fault: a load moves only when
 * each thread runs it anyway, or when its address is known to lie in the buffer. (Shipping kernels
 * let loads of unmapped memory give 0, but nothing here relies on that.)
 *
 * Each operation has a cost in the main code, higher in loops; operations that selection folds
 * into others cost nothing. An operation's gain is its own cost and its share of what only it
 * and others need. Walking backwards, results whose gain is less than what reading them from
 * a uniform costs stay in the main code, so that their operands become results instead.
 */
#include <string.h>

#include "agx/compiler/analysis/divergence.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/ir/clone.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/ir/launch_slots.h"

/* Fixed point: costs are cycles times 16. */
#define ONE 16u
/* A dispatch worth optimising has 8192 threads on 8 cores with 4 schedulers each. In full
 * SIMD-groups these are 8 for each scheduler, so a cycle saved in each is 8 of the dispatch; of
 * workgroups that fill no SIMD-group there are more. [A] */
#define THREADS_PER_SCHEDULER 256u
#define SIMD_GROUP_THREADS    32u
/* In cycles, of the preamble: an operation waits for the one before it. Loads are awaited, for
 * agxc_load_latency(), as often as one needs another. Source: docs/hw/performance.md. */
#define PREAMBLE_OP_COST 4
/* Uniform halves that results may fill up to; constants have their own limit above. */
#define RESULT_HALVES 384
#define BASE_HALVES   256
/* A preamble has no scratch memory: it must not spill. Below AGX_GPR_HALVES, for what selection
 * adds and allocation wastes. */
#define LIVE_HALVES 192

struct hoisting {
   struct agxc_shader *shader;
   const struct agxc_divergence *divergence; /* made when a load asks */
   struct agxc_instr **instrs;               /* by index */
   agx_bitset_word *hoisted, *needed;        /* by index of instruction */
   agx_bitset_word *stays; /* the main code computes it too: only other results read the copy */
   uint32_t *gain;         /* by index of instruction */
   uint32_t *uses;         /* by value id */
   struct use {
      struct agxc_ref *ref;
      struct agxc_instr *user;
   } * lists;
   uint32_t *first_use;   /* by value id, into lists */
   struct agxc_ref *slot; /* by value id: the uniform of a result, or NONE */
   uint32_t value_count;
   uint64_t total;
   uint32_t halves, base_halves; /* that results will take; those of bases among them */
};

/* ---- what may move ------------------------------------------------------ */

static bool load_may_move(struct hoisting *h, const struct agxc_instr *load)
{
   if (load->op != AGXC_OP_LOAD_GLOBAL || !agxc_reads_constant(load))
      return false;
   if (agxc_load_is_safe(h->shader, load))
      return true;
   if (!h->divergence)
      h->divergence = agxc_divergence(h->shader);
   return agx_bitset_test(h->divergence->runs, load->block->index);
}

static bool is_hoisted(const struct hoisting *h, const struct agxc_instr *instr)
{
   return agx_bitset_test(h->hoisted, instr->index);
}

static bool may_move(struct hoisting *h, const struct agxc_instr *instr)
{
   unsigned flags = agxc_flags(instr);
   if (agxc_is_machine(instr) || instr->op == AGXC_OP_PHI || !instr->dest_count ||
       !instr->src_count || instr->op == AGXC_OP_IMAGE_FETCH || instr->op == AGXC_OP_IMAGE_SAMPLE ||
       flags & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR | AGXC_CROSS_LANE))
      return false;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && !is_hoisted(h, src->value->def))
         return false;
   return !(flags & AGXC_READS_MEMORY) || load_may_move(h, instr);
}

/* ---- what it is worth --------------------------------------------------- */

static uint32_t weight_of(const struct agxc_block *block)
{
   return ONE << 3 * AGX_MIN(block->loop_depth, 3u);
}

/* The operand has no uniform form, so that a move is needed. */
static bool wants_register(const struct use *use)
{
   const struct agxc_instr *user = use->user;
   if (agxc_has_src(user, AGXC_SRC_ADDRESS))
      return use->ref != agxc_src_address(user);
   return user->op == AGXC_OP_PHI || user->op == AGXC_OP_COLLECT || user->op == AGXC_OP_PACK64 ||
          (agxc_flags(user) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY | AGXC_CROSS_LANE) &&
           user->op != AGXC_OP_BRANCH);
}

/* A phi reads at the end of the block that the value comes from. */
static const struct agxc_block *reading_block(const struct use *use)
{
   const struct agxc_instr *user = use->user;
   return user->op == AGXC_OP_PHI ? user->block->preds[use->ref - agxc_srcs(user)] : user->block;
}

static bool fits_uniform(const struct hoisting *h, const struct agxc_value *value,
                         const struct use *use)
{
   if (value->count != 1 || value->bits == 8)
      return false;
   if (value->bits != 64)
      return true;
   return agxc_has_src(use->user, AGXC_SRC_ADDRESS) && use->user->op != AGXC_OP_LOAD_FORMAT &&
          use->ref == agxc_src_address(use->user) &&
          h->shader->uniform_halves + h->base_halves + 4 <= BASE_HALVES;
}

/* Uniform halves of a result, with what aligning the next one may waste. */
static uint32_t halves_of(const struct agxc_value *value)
{
   return AGX_MAX(value->bits / 16u, 2u);
}

/* Whether the main code goes on to have the instruction. */
static bool is_in_main(const struct hoisting *h, const struct agxc_instr *instr)
{
   return !is_hoisted(h, instr) || agx_bitset_test(h->stays, instr->index);
}

/* Whether the results that the main code reads pay; false: the instruction stays there. */
static bool pays(struct hoisting *h, const struct agxc_instr *instr)
{
   int64_t gain = h->gain[instr->index];
   uint32_t halves = 0, base_halves = 0;
   bool saves = false;
   agxc_foreach_dest (dest, instr) {
      uint32_t first = h->first_use[dest->value->id];
      bool is_read = false;
      for (uint32_t i = 0; i < h->uses[dest->value->id]; i++) {
         const struct use *use = &h->lists[first + i];
         if (!is_in_main(h, use->user))
            continue;
         is_read = true;
         uint32_t weight = weight_of(reading_block(use));
         if (!fits_uniform(h, dest->value, use))
            return false;
         saves |= !agxc_op_folds(instr, use->user, use->ref);
         if (wants_register(use))
            gain -= weight;
      }
      halves += is_read ? halves_of(dest->value) : 0;
      base_halves += is_read && dest->value->bits == 64 ? 4 : 0;
   }
   if (!halves)
      return true; /* only other results need it */
   if (!saves || gain < (int64_t)ONE ||
       h->shader->uniform_halves + h->halves + halves > RESULT_HALVES)
      return false;
   h->halves += halves;
   h->base_halves += base_halves;
   h->total += (uint64_t)gain;
   return true;
}

/* ---- survey ------------------------------------------------------------- */

static void list_uses(struct hoisting *h)
{
   struct agxc_shader *shader = h->shader;
   uint32_t count = 0;
   agxc_foreach_instr_of (instr, shader)
      h->instrs[instr->index] = instr;
   for (uint32_t i = 0; i < shader->value_count; i++) {
      h->first_use[i] = count;
      count += h->uses[i];
      h->uses[i] = 0;
   }
   h->lists = AGX_ARENA_ARRAY(shader->arena, struct use, count + 1ull);
   for (uint32_t n = 0; n < shader->instr_count; n++)
      agxc_foreach_src (src, h->instrs[n])
         if (src->kind == AGXC_VALUE)
            h->lists[h->first_use[src->value->id] + h->uses[src->value->id]++] =
               (struct use){src, h->instrs[n]};
}

static uint32_t uses_of(const struct hoisting *h, const struct agxc_instr *instr)
{
   uint32_t uses = 0;
   agxc_foreach_dest (dest, instr)
      uses += h->uses[dest->value->id];
   return AGX_MAX(uses, 1u);
}

/* Forwards: what may move, and its cost with its share of what it needs. */
static bool find_candidates(struct hoisting *h)
{
   bool any = false;
   for (uint32_t n = 0; n < h->shader->instr_count; n++) {
      struct agxc_instr *instr = h->instrs[n];
      if (!may_move(h, instr))
         continue;
      any = true;
      agx_bitset_set(h->hoisted, n);
      uint64_t gain = (uint64_t)agxc_op_cost(instr) * weight_of(instr->block);
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE)
            gain += h->gain[src->value->def->index] / uses_of(h, src->value->def);
      h->gain[n] = (uint32_t)AGX_MIN(gain, UINT32_MAX / 2);
   }
   return any;
}

static bool is_read_by_hoisted(const struct hoisting *h, const struct agxc_instr *instr)
{
   agxc_foreach_dest (dest, instr) {
      uint32_t first = h->first_use[dest->value->id];
      for (uint32_t i = 0; i < h->uses[dest->value->id]; i++)
         if (is_hoisted(h, h->lists[first + i].user))
            return true;
   }
   return false;
}

/* Backwards: users before what they use. What does not pay but is needed is computed twice. */
static void drop_what_costs(struct hoisting *h)
{
   for (uint32_t n = h->shader->instr_count; n-- > 0;) {
      if (!agx_bitset_test(h->hoisted, n) || pays(h, h->instrs[n]))
         continue;
      if (is_read_by_hoisted(h, h->instrs[n]))
         agx_bitset_set(h->stays, n);
      else
         agx_bitset_clear(h->hoisted, n);
   }
}

/* Backwards: what results need. Returns what the preamble's instructions cost in cycles. */
static uint64_t find_needed(struct hoisting *h)
{
   uint64_t cost = 0;
   for (uint32_t n = h->shader->instr_count; n-- > 0;) {
      const struct agxc_instr *instr = h->instrs[n];
      if (!agx_bitset_test(h->hoisted, n))
         continue;
      agxc_foreach_dest (dest, instr) {
         uint32_t first = h->first_use[dest->value->id];
         bool is_result = false;
         for (uint32_t i = 0; i < h->uses[dest->value->id]; i++) {
            const struct agxc_instr *user = h->lists[first + i].user;
            bool is_read = !agx_bitset_test(h->stays, n) && is_in_main(h, user);
            is_result |= is_read;
            if (is_read || agx_bitset_test(h->needed, user->index))
               agx_bitset_set(h->needed, n);
         }
         cost += is_result ? PREAMBLE_OP_COST : 0;
      }
      if (agx_bitset_test(h->needed, n))
         cost += agxc_op_cost(instr) ? PREAMBLE_OP_COST : 0;
   }
   return cost;
}

static uint32_t depth_of(const struct agxc_ref *ref, const uint32_t *depths)
{
   return ref->kind == AGXC_VALUE ? depths[ref->value->id] : 0;
}

/* How many loads, one after the other, decide whether the block runs. */
static uint32_t depth_of_block(const struct agxc_block *block, const uint32_t *of_blocks,
                               const uint32_t *of_values)
{
   const struct agxc_node *parent = block->node.parent;
   if (!parent)
      return 0;
   const struct agxc_block *before = agxc_block_before(parent);
   uint32_t depth = of_blocks[before->index];
   return parent->kind == AGXC_NODE_IF
             ? AGX_MAX(depth, depth_of(agxc_srcs(agxc_terminator(before)), of_values))
             : depth;
}

/* The longest chain of loads, each of which waits for the one before it: for an operand, or for
 * the condition of an if around it. Of the instructions that `counts` takes; what the others make
 * is there from the beginning, as is what comes around a loop. */
static uint32_t longest_chain(const struct hoisting *h,
                              bool (*counts)(const struct hoisting *h, const struct agxc_instr *))
{
   struct agx_arena *arena = h->shader->arena;
   uint32_t *of_values = AGX_ARENA_ARRAY(arena, uint32_t, h->value_count + 1ull);
   uint32_t *of_blocks = AGX_ARENA_ARRAY(arena, uint32_t, h->shader->block_count + 1ull);
   uint32_t longest = 0;
   agxc_foreach_block (block, h->shader) {
      uint32_t of_block = depth_of_block(block, of_blocks, of_values);
      of_blocks[block->index] = of_block;
      agxc_foreach_instr (instr, block) {
         if (!counts(h, instr))
            continue;
         bool loads = agxc_flags(instr) & AGXC_READS_MEMORY;
         uint32_t depth = loads ? of_block : 0;
         agxc_foreach_src (src, instr)
            depth = AGX_MAX(depth, depth_of(src, of_values));
         depth += loads;
         longest = AGX_MAX(longest, depth);
         agxc_foreach_dest (dest, instr)
            of_values[dest->value->id] = depth;
      }
   }
   return longest;
}

static bool is_any(const struct hoisting *h, const struct agxc_instr *instr)
{
   (void)h, (void)instr;
   return true;
}

static bool is_in_preamble(const struct hoisting *h, const struct agxc_instr *instr)
{
   return agx_bitset_test(h->needed, instr->index);
}

/* SIMD-groups of a dispatch for each scheduler. */
static uint32_t groups_per_scheduler(const struct agxc_shader *shader)
{
   return THREADS_PER_SCHEDULER / AGX_MIN(agxc_threads_of(shader), SIMD_GROUP_THREADS);
}

/* Whether the dispatch gets shorter. A chain of loads that begins with one of the preamble is
 * shorter in the main code by what the preamble waits for it. */
static bool is_worth_it(struct hoisting *h)
{
   if (!h->total)
      return false;
   uint64_t cost = find_needed(h);
   uint64_t chains = longest_chain(h, is_in_main) + longest_chain(h, is_in_preamble);
   uint64_t longer = chains - AGX_MIN(chains, longest_chain(h, is_any));
   return h->total * groups_per_scheduler(h->shader) / ONE > cost + longer * agxc_load_latency();
}

/* The most halves that live at once in the preamble. */
static uint32_t peak_halves(const struct hoisting *h)
{
   uint32_t *ends =
      AGX_ARENA_ARRAY(h->shader->arena, uint32_t, h->shader->instr_count + 1ull); /* halves */
   uint32_t live = 0, peak = 0;
   for (uint32_t n = 0; n < h->shader->instr_count; n++) {
      if (!agx_bitset_test(h->needed, n))
         continue;
      agxc_foreach_dest (dest, h->instrs[n]) {
         uint32_t first = h->first_use[dest->value->id], last = n;
         for (uint32_t i = 0; i < h->uses[dest->value->id]; i++) {
            uint32_t user = h->lists[first + i].user->index;
            last = agx_bitset_test(h->needed, user) ? AGX_MAX(last, user) : last;
         }
         live += agxc_halves(dest->value);
         ends[last] += agxc_halves(dest->value);
      }
      peak = AGX_MAX(peak, live);
      live -= ends[n];
   }
   return peak;
}

/* ---- moving ------------------------------------------------------------- */

static struct agxc_shader *preamble_new(struct agxc_shader *shader)
{
   struct agxc_shader *preamble = agxc_shader_create(shader->arena, shader->options);
   memcpy(preamble->name, shader->name, sizeof(preamble->name));
   for (unsigned i = 0; i < 3; i++)
      preamble->local_size[i] = 1;
   preamble->main = shader;
   preamble->lines = shader->lines;
   preamble->line_count = shader->line_count;
   return preamble;
}

/* The copy of an instruction whose sources have been copied. */
static void clone_new(struct agxc_clone *clone, const struct agxc_instr *instr)
{
   agxc_foreach_dest (dest, instr)
      agxc_clone_renew(clone, dest->value);
   agxc_clone_instr(clone, instr);
}

static bool is_read_by_main(const struct hoisting *h, const struct agxc_value *value)
{
   for (uint32_t i = 0; i < h->uses[value->id]; i++)
      if (is_in_main(h, h->lists[h->first_use[value->id] + i].user))
         return true;
   return false;
}

/* Uniforms for the results, those that memory takes as bases (or not) only. */
static void give_uniforms(struct hoisting *h, bool bases)
{
   for (uint32_t n = 0; n < h->shader->instr_count; n++)
      if (agx_bitset_test(h->needed, n) && !agx_bitset_test(h->stays, n))
         agxc_foreach_dest (dest, h->instrs[n])
            if ((dest->value->bits == 64) == bases && is_read_by_main(h, dest->value))
               h->slot[dest->value->id] = agxc_uniform_result(h->shader, dest->value->bits);
}

/* No store takes 64 bits: an address goes word by word. */
static void store_result(struct agxc_builder *b, struct agxc_ref result, uint32_t half)
{
   if (result.bits < 64) {
      agxc_build_store_uniform(b, result, half);
      return;
   }
   const struct agxc_instr *unpack = agxc_build_unpack64(b, result);
   agxc_build_store_uniform(b, *agxc_dest_low(unpack), half);
   agxc_build_store_uniform(b, *agxc_dest_high(unpack), half + 2);
}

/* The main code reads the results from their uniforms. */
static void replace_uses(struct hoisting *h)
{
   for (uint32_t id = 0; id < h->value_count; id++)
      for (uint32_t i = 0; i < h->uses[id] && h->slot[id].kind != AGXC_NONE; i++) {
         const struct use *use = &h->lists[h->first_use[id] + i];
         if (is_in_main(h, use->user))
            *use->ref = h->slot[id];
      }
}

/* Each result is stored where it is made, so that few live at once. */
static void move(struct hoisting *h)
{
   struct agxc_shader *shader = h->shader;
   h->slot = AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, h->value_count + 1ull);
   give_uniforms(h, true); /* first, where memory bases reach */
   give_uniforms(h, false);
   shader->preamble = preamble_new(shader);
   struct agxc_clone_map map = {.refs =
                                   AGX_ARENA_ARRAY(shader->arena, struct agxc_ref, h->value_count),
                                .capacity = h->value_count};
   struct agxc_builder b = agxc_at_end(shader->preamble, agxc_first_block(&shader->preamble->body));
   struct agxc_clone clone =
      agxc_clone_begin(shader->preamble, (struct agxc_cursor){NULL, b.block}, &map);
   for (uint32_t n = 0; n < shader->instr_count; n++) {
      if (!agx_bitset_test(h->needed, n))
         continue;
      clone_new(&clone, h->instrs[n]);
      agxc_foreach_dest (dest, h->instrs[n])
         if (h->slot[dest->value->id].kind != AGXC_NONE)
            store_result(&b, agxc_clone_ref(&clone, *dest), h->slot[dest->value->id].half);
   }
   replace_uses(h);
}

bool agxc_opt_preamble(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agx_arena *arena = shader->arena;
   uint64_t instrs = shader->instr_count + 1ull, values = shader->value_count + 1ull;
   struct hoisting h = {
      .shader = shader,
      .value_count = shader->value_count,
      .instrs = AGX_ARENA_ARRAY(arena, struct agxc_instr *, instrs),
      .hoisted = agxc_bitset_new(shader, instrs),
      .stays = agxc_bitset_new(shader, instrs),
      .needed = agxc_bitset_new(shader, instrs),
      .gain = AGX_ARENA_ARRAY(arena, uint32_t, instrs),
      .uses = agxc_count_uses(shader),
      .first_use = AGX_ARENA_ARRAY(arena, uint32_t, values),
   };
   list_uses(&h);
   if (!find_candidates(&h))
      return false;
   drop_what_costs(&h);
   if (!is_worth_it(&h) || peak_halves(&h) > LIVE_HALVES)
      return false;
   move(&h);
   agxc_opt_dce(shader);
   return true;
}
