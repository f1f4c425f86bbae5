/* SPDX-License-Identifier: MIT
 *
 * Borders between blocks. The first predecessor that is done decides where things are
 * when a block begins; every other one copies to those places, at its end and before its
 * terminator. No edge is critical: a block with several successors is the only
 * predecessor of each.
 */
#include "agx/compiler/regalloc/ra_impl.h"

/* The place of a phi's result: where this predecessor has its source, if that is free. */
static uint32_t place_phi(struct agxc_ra *ra, const struct agxc_instr *phi, uint32_t pred)
{
   const struct agxc_value *value = agxc_dest(phi)->value;
   const struct agxc_ref *src = &agxc_srcs(phi)[pred];
   if (src->kind == AGXC_VALUE) {
      uint32_t half = ra->place[src->value->id];
      if (half % agxc_alignment(value) == 0 && agxc_ra_is_free(ra, half, agxc_halves(value)))
         return half;
   }
   return agxc_ra_find(ra, value);
}

/* When the phis do not fit between what lives on: everything moves together. */
static void repack(struct agxc_ra *ra, struct agxc_border *border)
{
   uint32_t end = agxc_ra_pack(ra, border->places, border->count);
   if (end > ra->limit)
      agxc_ra_no_room(ra, end);
   ra->used = AGX_MAX(ra->used, end);
}

/* Those that nothing comes into from there go last, so that they take no other one's place. */
static bool place_phis(struct agxc_ra *ra, const struct agxc_block *block, uint32_t pred,
                       struct agxc_border *border)
{
   bool fits = true;
   struct agxc_assignment *places = border->places + border->count;
   for (unsigned round = 0; round < 2; round++) {
      uint32_t i = 0;
      agxc_foreach_phi (phi, block) {
         struct agxc_value *value = agxc_dest(phi)->value;
         bool is_empty = agxc_srcs(phi)[pred].kind == AGXC_NONE;
         if (is_empty == round) {
            uint32_t half = place_phi(ra, phi, pred);
            fits = fits && half != AGXC_NOWHERE;
            if (fits)
               agxc_ra_put(ra, value, half);
            places[i] = (struct agxc_assignment){value, (uint16_t)half};
         }
         i++;
      }
      border->count = (uint32_t)(places - border->places) + i;
   }
   return fits;
}

/* Decides the border of block, at the end of its predecessor. The file is only
 * borrowed: it is put back as it was. */
static void decide(struct agxc_ra *ra, struct agxc_block *block, uint32_t pred)
{
   struct agxc_border *border = &ra->borders[block->index];
   uint32_t live = ra->liveness->first[block->index + 1] - ra->liveness->first[block->index];
   border->is_decided = true;
   border->places =
      AGX_ARENA_ARRAY(ra->shader->arena, struct agxc_assignment, live + agxc_count_phis(block));
   struct agxc_value *saved[AGX_GPR_HALVES];
   memcpy(saved, ra->holder, sizeof(saved));
   memset(ra->holder, 0, sizeof(ra->holder));
   agxc_foreach_live_in (id, ra->liveness, block) {
      struct agxc_value *value = ra->shader->values[*id];
      agx_assert(ra->place[*id] != AGXC_NOWHERE);
      border->places[border->count++] = (struct agxc_assignment){value, ra->place[*id]};
      agxc_ra_put(ra, value, ra->place[*id]);
   }
   if (!place_phis(ra, block, pred, border))
      repack(ra, border);
   memcpy(ra->holder, saved, sizeof(saved));
   for (uint32_t i = border->count - agxc_count_phis(block); i < border->count; i++)
      ra->place[border->places[i].value->id] = border->places[i].half;
}

static struct agxc_ref now(const struct agxc_ra *ra, struct agxc_ref ref)
{
   if (ref.kind == AGXC_VALUE)
      return agxc_reg(ra->place[ref.value->id], 16, 1);
   return ref;
}

static void copy_to(struct agxc_ra *ra, struct agxc_block *block, uint32_t pred)
{
   const struct agxc_border *border = &ra->borders[block->index];
   uint32_t phis = agxc_count_phis(block), live = border->count - phis;
   for (uint32_t i = 0; i < live; i++)
      agxc_ra_copy(ra, border->places[i].half, now(ra, agxc_use(border->places[i].value)),
                   agxc_halves(border->places[i].value));
   agxc_foreach_phi (phi, block) {
      const struct agxc_assignment *place = &border->places[live++];
      agxc_ra_copy(ra, place->half, now(ra, agxc_srcs(phi)[pred]), agxc_halves(place->value));
   }
}

void agxc_ra_enter(struct agxc_ra *ra, struct agxc_block *block)
{
   const struct agxc_border *border = &ra->borders[block->index];
   memset(ra->holder, 0, sizeof(ra->holder));
   for (uint32_t i = 0; i < border->count; i++)
      agxc_ra_put(ra, border->places[i].value, border->places[i].half);
}

void agxc_ra_leave(struct agxc_ra *ra, struct agxc_block *block)
{
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_block *succ = block->succs[i];
      if (!succ)
         continue;
      uint32_t pred = agxc_pred_index(succ, block);
      if (!ra->borders[succ->index].is_decided)
         decide(ra, succ, pred);
      copy_to(ra, succ, pred);
      struct agxc_builder b = agxc_at_exit(ra->shader, block);
      agx_assert(ra->copy_count == 0 || !block->succs[1]);
      agxc_ra_flush(ra, &b);
   }
}
