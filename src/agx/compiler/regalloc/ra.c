/* SPDX-License-Identifier: MIT
 *
 * Register allocation on SSA form: one walk over the blocks, greedy, with the sources
 * that die at an instruction free for its results. Vectors are put together and taken
 * apart in place where possible. When no gap is wide enough, one is made by moving a few
 * values, or, as a last resort, all.
 *
 * Before: machine instructions over values, MOV, PHI, COLLECT, SPLIT. After: machine instructions
 * over registers, and BREAK, CONTINUE, RETURN.
 *
 *    before   %2:32 = agx.ffma u1l, %0, %1
 *    after    r2l:32 = agx.ffma u1l, r2l, r3l        (%0 dies here)
 *
 * Stands behind spilling, which leaves no more halves alive than there are, and in front of the
 * passes about masks, waits and hints, which ask for registers. Places count in 16-bit halves; r0l
 * is left alone when there is control flow, since lanes that are away count in it. Since
 * everything that lives can be packed by one parallel copy, only the sum of the halves counts,
 * never their arrangement. The limit is what the workgroup's size leaves, and no more than the
 * pressure's own step of occupancy needs. A kernel with an instruction whose operands don't fit is
 * refused with both numbers. validate.c checks the result in builds with assertions and in tests.
 */
#include "agx/compiler/regalloc/ra_impl.h"

#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/regalloc/regalloc.h"

/* ---- results and dying sources ----------------------------------------- */

struct dying {
   struct agxc_assignment places[AGX_ISA_MAX_OPERANDS * 4];
   uint32_t count;
};

/* Texture instructions have no late sources: whether their results may lie over the coordinates is
 * written nowhere [U], but Honeykrisp allocates them so (r12 to r15 from coordinates at r12, in its
 * copies of images). */
static bool is_late_source(const struct agxc_instr *instr, const struct agxc_value *value)
{
   for (uint32_t late = agxc_isa_info(instr)->late_sources; late; late &= late - 1) {
      const struct agxc_ref *ref = &instr->operand[__builtin_ctz(late)];
      if (ref->kind == AGXC_VALUE && ref->value == value)
         return true;
   }
   return false;
}

/* Frees each source whose last use this is and that is read late, or not; a value that stands
 * twice counts once. */
static void free_dying(struct agxc_ra *ra, const struct agxc_instr *instr, bool late,
                       struct dying *dying)
{
   dying->count = 0;
   agxc_foreach_src (src, instr) {
      if (src->kind != AGXC_VALUE || !agxc_ra_dies_at(ra, src->value, instr) ||
          is_late_source(instr, src->value) != late)
         continue;
      uint32_t half = ra->place[src->value->id];
      if (ra->holder[half] != src->value)
         continue;
      agx_assert(dying->count < AGX_COUNT(dying->places));
      dying->places[dying->count++] = (struct agxc_assignment){src->value, (uint16_t)half};
      agxc_ra_free(ra, src->value);
   }
}

/* No gap: packs what lives on, puts the dying sources behind it (the results may lie
 * over them), and moves everything there before the instruction. */
static void make_room(struct agxc_ra *ra, struct agxc_instr *instr, struct dying *dying)
{
   struct agxc_assignment *places =
      AGX_ARENA_ARRAY(ra->shader->arena, struct agxc_assignment, AGX_GPR_HALVES);
   uint32_t count = agxc_ra_holders(ra, places);
   uint32_t end = agxc_ra_pack(ra, places, count);
   uint32_t base = (uint32_t)agx_align_up(end, 2), source_end = base, result_end = base;
   for (uint32_t i = 0; i < count; i++)
      agxc_ra_copy(ra, places[i].half, agxc_reg(ra->place[places[i].value->id], 16, 1),
                   agxc_halves(places[i].value));
   for (uint32_t i = 0; i < dying->count; i++) {
      struct agxc_assignment *at = &dying->places[i];
      source_end = (uint32_t)agx_align_up(source_end, agxc_alignment(at->value));
      agxc_ra_copy(ra, source_end, agxc_reg(at->half, 16, 1), agxc_halves(at->value));
      at->half = (uint16_t)source_end;
      ra->place[at->value->id] = at->half;
      source_end += agxc_halves(at->value);
   }
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE)
         result_end = (uint32_t)agx_align_up(result_end, agxc_alignment(dest->value)) +
                      agxc_halves(dest->value);
   uint32_t needed = AGX_MAX(source_end, result_end);
   if (needed > ra->limit)
      agxc_ra_no_room(ra, needed);
   ra->used = AGX_MAX(ra->used, needed);
   memset(ra->holder, 0, sizeof(ra->holder));
   for (uint32_t i = 0; i < count; i++)
      agxc_ra_put(ra, places[i].value, places[i].half);
   struct agxc_builder b = agxc_before(ra->shader, instr);
   agxc_ra_flush(ra, &b);
}

static bool place_results(struct agxc_ra *ra, const struct agxc_instr *instr)
{
   agxc_foreach_dest (dest, instr) {
      if (dest->kind != AGXC_VALUE)
         continue;
      uint32_t half = agxc_ra_find(ra, dest->value);
      if (half == AGXC_NOWHERE) {
         for (struct agxc_ref *back = agxc_dests(instr); back < dest; back++)
            if (back->kind == AGXC_VALUE)
               agxc_ra_free(ra, back->value);
         return false;
      }
      agxc_ra_put(ra, dest->value, half);
   }
   return true;
}

/* Places for all results, whatever it takes. */
static void allocate_results(struct agxc_ra *ra, struct agxc_instr *instr, struct dying *dying)
{
   if (place_results(ra, instr))
      return;
   bool has_gap = instr->dest_count == 1 &&
                  agxc_ra_evict(ra, instr, agxc_dest(instr)->value, dying->places, dying->count);
   if (!has_gap)
      make_room(ra, instr, dying);
   if (!place_results(ra, instr))
      agxc_ra_no_room(ra, ra->limit + 1);
}

static void free_unused_results(struct agxc_ra *ra, const struct agxc_instr *instr)
{
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE && agxc_ra_dies_at(ra, dest->value, instr))
         agxc_ra_free(ra, dest->value);
}

static struct agxc_ref to_register(const struct agxc_ra *ra, struct agxc_ref ref)
{
   if (ref.kind != AGXC_VALUE)
      return ref;
   uint32_t half = ra->place[ref.value->id];
   agx_assert(half != AGXC_NOWHERE);
   ref.kind = AGXC_REG;
   ref.bits = (uint8_t)AGX_MAX(ref.bits, 16);
   ref.value = NULL;
   ref.half = half;
   return ref;
}

/* A matrix product goes where the sum was that it adds to: sums are kept over many. */
static bool put_over_sum(struct agxc_ra *ra, const struct agxc_instr *instr)
{
   if (!agxc_isa_info(instr)->late_sources)
      return false;
   const struct agxc_ref *sum = agxc_machine_c(instr), *dest = agxc_machine_d(instr);
   if (sum->kind != AGXC_VALUE || dest->kind != AGXC_VALUE)
      return false;
   uint32_t half = ra->place[sum->value->id];
   if (!agxc_ra_is_free(ra, half, agxc_halves(dest->value)))
      return false;
   agxc_ra_put(ra, dest->value, half);
   return true;
}

/* After the reader of a vector that borrowed its elements' places. */
static void free_late(struct agxc_ra *ra)
{
   while (ra->late_count > 0)
      agxc_ra_free(ra, ra->late[--ra->late_count]);
}

static void assign_machine(struct agxc_ra *ra, struct agxc_instr *instr)
{
   struct dying dying = {0};
   free_dying(ra, instr, false, &dying);
   if (!put_over_sum(ra, instr))
      allocate_results(ra, instr, &dying);
   if (agxc_isa_info(instr)->late_sources)
      free_dying(ra, instr, true, &dying);
   agxc_foreach_src (src, instr)
      *src = to_register(ra, *src);
   free_late(ra);
   free_unused_results(ra, instr);
   agxc_foreach_dest (dest, instr)
      *dest = to_register(ra, *dest);
}

/* ---- copies: COLLECT, SPLIT, MOV ---------------------------------------- */

/* How many halves of the vector are in place already if it starts at base. */
static uint32_t halves_in_place(const struct agxc_ra *ra, const struct agxc_instr *instr,
                                uint32_t base)
{
   uint32_t offset = 0, in_place = 0;
   agxc_foreach_src (src, instr) {
      if (src->kind == AGXC_VALUE && ra->place[src->value->id] == base + offset)
         in_place += agxc_ref_halves(src);
      offset += agxc_ref_halves(src);
   }
   return in_place;
}

/* The place for the result that leaves most sources where they are. */
static uint32_t best_vector_place(const struct agxc_ra *ra, const struct agxc_instr *instr)
{
   const struct agxc_value *vector = agxc_dest(instr)->value;
   uint32_t best = AGXC_NOWHERE, most = 0, offset = 0;
   agxc_foreach_src (src, instr) {
      uint32_t place = src->kind == AGXC_VALUE ? ra->place[src->value->id] : 0;
      uint32_t base = place - offset;
      offset += agxc_ref_halves(src);
      if (src->kind != AGXC_VALUE || base > place || base % agxc_alignment(vector) != 0 ||
          !agxc_ra_is_free(ra, base, agxc_halves(vector)))
         continue;
      uint32_t in_place = halves_in_place(ra, instr, base);
      if (in_place > most) {
         most = in_place;
         best = base;
      }
   }
   return best;
}

static void copy_sources(struct agxc_ra *ra, struct agxc_instr *instr, uint32_t base)
{
   uint32_t offset = 0;
   agxc_foreach_src (src, instr) {
      agxc_ra_copy(ra, base + offset, to_register(ra, *src), agxc_ref_halves(src));
      offset += agxc_ref_halves(src);
   }
}

static void assign_collect(struct agxc_ra *ra, struct agxc_instr *instr)
{
   struct dying dying;
   struct agxc_value *vector = agxc_dest(instr)->value;
   free_dying(ra, instr, false, &dying);
   uint32_t base = best_vector_place(ra, instr);
   if (base != AGXC_NOWHERE)
      agxc_ra_put(ra, vector, base);
   else
      allocate_results(ra, instr, &dying);
   copy_sources(ra, instr, ra->place[vector->id]);
}

/* The elements of a vector that dies stay where they are. */
static bool split_in_place(struct agxc_ra *ra, struct agxc_instr *instr)
{
   const struct agxc_ref *src = &agxc_srcs(instr)[0];
   if (src->kind != AGXC_VALUE || !agxc_ra_dies_at(ra, src->value, instr) ||
       agxc_ra_is_part(ra, src->value))
      return false;
   uint32_t half = ra->place[src->value->id];
   agxc_ra_free(ra, src->value);
   agxc_foreach_dest (dest, instr) {
      if (dest->kind == AGXC_VALUE)
         agxc_ra_put(ra, dest->value, half);
      half += agxc_ref_halves(dest);
   }
   return true;
}

static void assign_split(struct agxc_ra *ra, struct agxc_instr *instr)
{
   if (split_in_place(ra, instr))
      return;
   struct dying none = {0};
   allocate_results(ra, instr, &none);
   struct agxc_ref src = to_register(ra, agxc_srcs(instr)[0]);
   agxc_foreach_dest (dest, instr) {
      if (dest->kind == AGXC_VALUE && !agxc_ra_dies_at(ra, dest->value, instr))
         agxc_ra_copy(ra, ra->place[dest->value->id], src, agxc_ref_halves(dest));
      if (src.kind == AGXC_IMM)
         src.imm = agxc_ref_halves(dest) < 4
                      ? (int64_t)((uint64_t)src.imm >> 16 * agxc_ref_halves(dest))
                      : 0;
      else
         src.half += agxc_ref_halves(dest);
   }
}

static void assign_copy(struct agxc_ra *ra, struct agxc_instr *instr)
{
   bool is_split =
      instr->op == AGXC_OP_SPLIT || instr->op == AGXC_OP_UNPACK64 || agxc_is_machine(instr);
   if (agxc_ra_rename(ra, instr) || (is_split && agxc_ra_name_parts(ra, instr)) ||
       (!is_split && agxc_ra_borrow(ra, instr))) {
      agxc_instr_remove(instr);
      return;
   }
   if (is_split)
      assign_split(ra, instr);
   else
      assign_collect(ra, instr);
   struct agxc_builder b = agxc_before(ra->shader, instr);
   agxc_ra_flush(ra, &b);
   free_late(ra);
   free_unused_results(ra, instr);
   agxc_instr_remove(instr);
}

/* ---- the walk ------------------------------------------------------------ */

static void note_last_uses(struct agxc_ra *ra, const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block) {
      if (instr->op == AGXC_OP_PHI)
         continue;
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE)
            ra->last_use[src->value->id] = instr->index;
   }
}

/* Empty blocks between what a block makes and the phis that take it: the arm beside a break, what
 * follows that if, a loop's continuing part. */
#define MOST_BETWEEN 3u

/* The block that follows, or NULL; behind a test at a loop's end, that of the lanes which stay. */
static const struct agxc_block *next_of(const struct agxc_block *block)
{
   for (unsigned i = 0; i < 2 && block->succs[1]; i++) {
      const struct agxc_instr *leave = agxc_first_instr(block->succs[i]);
      if (leave && leave->op == AGXC_OP_BREAK)
         return block->succs[1 - i];
   }
   return block->succs[1] ? NULL : block->succs[0];
}

/* Where other sources of the phis are that take what this block makes: others shall not be put
 * there as long as there is room, or the phi costs a copy. */
static void note_wanted(struct agxc_ra *ra, const struct agxc_block *block)
{
   const struct agxc_block *last = block, *behind = next_of(block);
   memset(ra->wanted, 0, sizeof(ra->wanted));
   for (unsigned i = 0;
        i < MOST_BETWEEN && behind && behind->pred_count == 1 && agx_list_empty(&behind->instrs);
        i++) {
      last = behind;
      behind = next_of(last);
   }
   if (!behind || last->succs[1] || behind->pred_count != 2)
      return;
   bool is_second = behind->preds[1] == last;
   agxc_foreach_phi (phi, behind) {
      const struct agxc_ref *mine = agxc_phi_of_two(phi, is_second);
      const struct agxc_ref *other = agxc_phi_of_two(phi, 1 - is_second);
      if (mine->kind != AGXC_VALUE || other->kind != AGXC_VALUE ||
          mine->value->def->block != block || ra->place[other->value->id] == AGXC_NOWHERE)
         continue;
      for (uint32_t i = 0; i < agxc_halves(other->value); i++)
         agx_bitset_set(ra->wanted, ra->place[other->value->id] + i);
   }
}

static void assign_block(struct agxc_ra *ra, struct agxc_block *block)
{
   uint32_t needed = agxc_needed_halves(ra->shader, ra->liveness->halves[block->index]);
   ra->block = block;
   ra->spare = ra->limit - AGX_MIN(ra->limit, needed);
   ra->part_count = 0;
   note_wanted(ra, block);
   agxc_liveness_at_end(ra->liveness, block, &ra->live_out);
   note_last_uses(ra, block);
   agxc_ra_enter(ra, block);
   agxc_foreach_instr_safe (instr, block) {
      if (instr->op == AGXC_OP_PHI)
         free_unused_results(ra, instr);
      else if (agxc_ra_is_copy(instr))
         assign_copy(ra, instr);
      else
         assign_machine(ra, instr);
   }
   agxc_ra_leave(ra, block);
}

static void remove_phis(struct agxc_block *block)
{
   agxc_foreach_phi (phi, block)
      agxc_instr_remove(phi);
}

/* Of several phis the one that runs most often: a copy to the others costs less. */
static void note_phi(struct agxc_ra *ra, const struct agxc_value *value, struct agxc_instr *phi)
{
   struct agxc_value **noted = &ra->phi[value->id];
   if (!*noted || (*noted)->def->block->loop_depth <= phi->block->loop_depth)
      *noted = agxc_dest(phi)->value;
}

/* What values become, which is where they should be; and where they come from. */
static void note_wishes(struct agxc_ra *ra)
{
   agxc_foreach_block (block, ra->shader)
      agxc_foreach_instr (instr, block) {
         agxc_foreach_dest (dest, instr)
            if (dest->kind == AGXC_VALUE)
               dest->value->def = instr;
         uint32_t offset = 0;
         bool is_collect = instr->op == AGXC_OP_COLLECT || instr->op == AGXC_OP_PACK64;
         agxc_foreach_src (src, instr) {
            if (src->kind == AGXC_VALUE && is_collect && !ra->slot[src->value->id].collect)
               ra->slot[src->value->id] = (struct agxc_slot){instr, offset};
            if (src->kind == AGXC_VALUE && instr->op == AGXC_OP_PHI)
               note_phi(ra, src->value, instr);
            offset += agxc_ref_halves(src);
         }
      }
}

/* A value of which nothing comes but one that goes into a phi goes there as well: the sum that a
 * loop adds to in several steps stays in one place. */
static void pass_wishes_on(struct agxc_ra *ra)
{
   const struct agxc_shader *shader = ra->shader;
   const uint32_t *uses = agxc_count_uses(ra->shader);
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr_rev (instr, block) {
         struct agxc_value *wish = instr->dest_count == 1 && agxc_dest(instr)->kind == AGXC_VALUE
                                      ? ra->phi[agxc_dest(instr)->value->id]
                                      : NULL;
         agxc_foreach_src (src, instr)
            if (wish && src->kind == AGXC_VALUE && uses[src->value->id] == 1 &&
                !ra->phi[src->value->id] && src->value->def->block == block &&
                agxc_halves(src->value) == agxc_halves(wish))
               ra->phi[src->value->id] = wish;
      }
   }
}

/* No more than costs the pressure's own step of occupancy. */
static uint32_t choose_limit(const struct agxc_shader *shader, uint32_t pressure)
{
   uint32_t most = agxc_most_halves(shader);
   return AGX_MIN(agxc_end_of_step(shader, agxc_needed_halves(shader, pressure)), most);
}

static void init(struct agxc_ra *ra, struct agxc_shader *shader)
{
   struct agx_arena *arena = shader->arena;
   uint32_t count = shader->value_count;
   ra->shader = shader;
   ra->liveness = agxc_liveness_compute(shader);
   ra->live_out = agxc_live_set_new(shader);
   ra->first = ra->used = agxc_reserved_halves(shader);
   ra->limit = choose_limit(shader, ra->liveness->max_halves);
   ra->place = AGX_ARENA_ARRAY(arena, uint16_t, count);
   memset(ra->place, 0xff, count * sizeof(*ra->place));
   ra->last_use = AGX_ARENA_ARRAY(arena, uint32_t, count);
   ra->slot = AGX_ARENA_ARRAY(arena, struct agxc_slot, count);
   ra->phi = AGX_ARENA_ARRAY(arena, struct agxc_value *, count);
   ra->borders = AGX_ARENA_ARRAY(arena, struct agxc_border, shader->block_count);
}

bool agxc_ra(struct agxc_shader *shader)
{
   agxc_index(shader);
   agxc_remove_unreached(shader); /* it would only confuse: it has no places */
   agxc_ra_sink_collects(shader);
   agxc_index(shader);
   struct agxc_ra *ra = AGX_ARENA_NEW(shader->arena, struct agxc_ra);
   init(ra, shader);
   note_wishes(ra);
   pass_wishes_on(ra);
   struct agxc_ra_record *record = agxc_is_validated(shader) ? agxc_ra_record(shader) : NULL;
   agxc_foreach_block (block, shader)
      if (block->index == 0 || block->pred_count > 0)
         assign_block(ra, block);
   agxc_foreach_block (block, shader)
      remove_phis(block);
   if (record)
      agxc_ra_validate(ra, record);
   shader->gpr_halves = AGX_MAX(ra->used, 1);
   return true;
}
