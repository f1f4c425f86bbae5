/* SPDX-License-Identifier: MIT
 *
 * Finding places. Preferences come from what happens to the value later: it becomes part
 * of a vector, or goes into a phi. They are only that: any free place is right.
 *
 * A place is preferably the one that a phi or a vector wants the value in, or wants what is made
 * of the value and of nothing else in; else the lowest that fits and that no phi behind the block
 * is waiting for.
 */
#include "agx/compiler/regalloc/ra_impl.h"

void agxc_ra_put(struct agxc_ra *ra, struct agxc_value *value, uint32_t half)
{
   uint32_t end = half + agxc_halves(value);
   agx_assert(half >= ra->first && end <= ra->limit);
   for (uint32_t i = half; i < end; i++) {
      agx_assert(!ra->holder[i]);
      ra->holder[i] = value;
   }
   ra->place[value->id] = (uint16_t)half;
   for (uint32_t i = 0; i < ra->part_count; i++)
      if (ra->parts[i].whole == value)
         ra->place[ra->parts[i].value->id] = (uint16_t)(half + ra->parts[i].offset);
   ra->used = AGX_MAX(ra->used, end);
}

void agxc_ra_free(struct agxc_ra *ra, struct agxc_value *value)
{
   uint32_t half = ra->place[value->id];
   for (uint32_t i = half; i < half + agxc_halves(value); i++) {
      agx_assert(ra->holder[i] == value);
      ra->holder[i] = NULL;
   }
}

bool agxc_ra_is_free(const struct agxc_ra *ra, uint32_t half, uint32_t count)
{
   if (half < ra->first || half + count > ra->limit)
      return false;
   for (uint32_t i = half; i < half + count; i++)
      if (ra->holder[i])
         return false;
   return true;
}

static bool suits(const struct agxc_ra *ra, const struct agxc_value *value, uint32_t half)
{
   return half % agxc_alignment(value) == 0 && agxc_ra_is_free(ra, half, agxc_halves(value));
}

/* True when the half is free, or will be when instr runs: what holds it dies before. */
static bool frees_up(const struct agxc_ra *ra, uint32_t half, const struct agxc_instr *instr)
{
   const struct agxc_value *holder = ra->holder[half];
   return !holder || (instr->block == ra->block && agxc_ra_dies_at(ra, holder, instr));
}

/* True when each element of a collect could be made in place if the vector started at
 * half: nothing lives there any longer when the element's instruction runs. */
static bool vector_fits(const struct agxc_ra *ra, const struct agxc_instr *collect, uint32_t half)
{
   agxc_foreach_src (src, collect) {
      uint32_t end = half + agxc_ref_halves(src);
      bool is_made_here = src->kind == AGXC_VALUE && src->value->def;
      const struct agxc_instr *by = is_made_here ? src->value->def : collect;
      for (; half < end; half++)
         if (half < ra->first || half >= ra->limit || !frees_up(ra, half, by))
            return false;
   }
   return true;
}

/* Beside a vector's element that has its place already, or where the whole would fit; of a vector
 * that the value goes into as it is or as a loop's phi. */
static uint32_t find_in_vector(const struct agxc_ra *ra, const struct agxc_value *value)
{
   const struct agxc_value *phi = ra->phi[value->id];
   const struct agxc_slot *slot = &ra->slot[value->id];
   if (!slot->collect && phi && agxc_starts_loop(phi->def->block) &&
       agxc_halves(phi) == agxc_halves(value))
      slot = &ra->slot[phi->id];
   if (!slot->collect)
      return AGXC_NOWHERE;
   const struct agxc_value *vector = agxc_dest(slot->collect)->value;
   uint32_t offset = 0;
   agxc_foreach_src (src, slot->collect) {
      uint32_t base = src->kind == AGXC_VALUE ? ra->place[src->value->id] : AGXC_NOWHERE;
      if (src->kind == AGXC_VALUE && src->value != value && base != AGXC_NOWHERE &&
          base >= offset && suits(ra, value, base - offset + slot->offset))
         return base - offset + slot->offset;
      offset += agxc_ref_halves(src);
   }
   if (ra->phi[vector->id]) {
      uint32_t base = ra->place[ra->phi[vector->id]->id];
      if (base != AGXC_NOWHERE && suits(ra, value, base + slot->offset))
         return base + slot->offset;
   }
   for (uint32_t half = (uint32_t)agx_align_up(ra->first, 2);
        half + agxc_halves(vector) <= ra->limit; half += agxc_alignment(vector))
      if (suits(ra, value, half + slot->offset) && vector_fits(ra, slot->collect, half))
         return half + slot->offset;
   return AGXC_NOWHERE;
}

#define MAX_SIBLINGS 4u

/* Where the phi is, or before that is known, where one of its other sources is. */
static uint32_t find_for_phi(const struct agxc_ra *ra, const struct agxc_value *value)
{
   const struct agxc_value *phi = ra->phi[value->id];
   if (!phi)
      return AGXC_NOWHERE;
   uint32_t half = ra->place[phi->id];
   if (half != AGXC_NOWHERE)
      return suits(ra, value, half) ? half : AGXC_NOWHERE;
   const struct agxc_ref *srcs = agxc_srcs(phi->def);
   for (unsigned i = 0; i < AGX_MIN(phi->def->src_count, MAX_SIBLINGS); i++) {
      half = srcs[i].kind == AGXC_VALUE ? ra->place[srcs[i].value->id] : AGXC_NOWHERE;
      if (half != AGXC_NOWHERE && suits(ra, value, half))
         return half;
   }
   return AGXC_NOWHERE;
}

static bool is_preferred(const struct agxc_ra *ra, uint32_t half, uint32_t count)
{
   for (uint32_t i = half; i < half + count; i++)
      if (agx_bitset_test(ra->wanted, i))
         return true;
   return false;
}

static uint32_t find_first(const struct agxc_ra *ra, const struct agxc_value *value, bool polite)
{
   uint32_t halves = agxc_halves(value);
   /* A single half goes beside a taken one first: that keeps pairs whole. */
   for (uint32_t half = ra->first; halves == 1 && half < ra->limit; half++)
      if (!ra->holder[half] && ((half ^ 1) < ra->first || ra->holder[half ^ 1]) &&
          !(polite && is_preferred(ra, half, 1)))
         return half;
   uint32_t step = agxc_alignment(value);
   for (uint32_t half = (uint32_t)agx_align_up(ra->first, step); half + halves <= ra->limit;
        half += step)
      if (agxc_ra_is_free(ra, half, halves) && !(polite && is_preferred(ra, half, halves)))
         return half;
   return AGXC_NOWHERE;
}

uint32_t agxc_ra_find(const struct agxc_ra *ra, const struct agxc_value *value)
{
   uint32_t half = find_for_phi(ra, value);
   if (half == AGXC_NOWHERE)
      half = find_in_vector(ra, value);
   if (half == AGXC_NOWHERE)
      half = find_first(ra, value, true);
   return half == AGXC_NOWHERE ? find_first(ra, value, false) : half;
}

uint32_t agxc_ra_pack(const struct agxc_ra *ra, struct agxc_assignment *places, uint32_t count)
{
   uint32_t even = (uint32_t)agx_align_up(ra->first, 2), gap = ra->first % 2 ? ra->first : 0;
   for (uint32_t i = 0; i < count; i++) {
      if (agxc_alignment(places[i].value) < 2)
         continue;
      places[i].half = (uint16_t)even;
      even += agxc_halves(places[i].value);
   }
   for (uint32_t i = 0; i < count; i++) {
      if (agxc_alignment(places[i].value) == 2)
         continue;
      uint32_t halves = agxc_halves(places[i].value);
      bool fits_gap = gap != 0 && halves == 1;
      places[i].half = (uint16_t)(fits_gap ? gap : even);
      gap = fits_gap ? 0 : gap;
      even += fits_gap ? 0 : halves;
   }
   return even;
}

uint32_t agxc_ra_holders(const struct agxc_ra *ra, struct agxc_assignment *out_places)
{
   uint32_t count = 0;
   for (uint32_t half = ra->first; half < ra->limit; half++) {
      struct agxc_value *value = ra->holder[half];
      if (value && ra->place[value->id] == half)
         out_places[count++] = (struct agxc_assignment){value, (uint16_t)half};
   }
   return count;
}

void agxc_ra_no_room(const struct agxc_ra *ra, uint32_t needed)
{
   const uint32_t *size = ra->shader->local_size;
   agxc_fail(ra->shader, AGX_RESOURCE_EXHAUSTED,
             "%s: registers: %u halves needed at once, %u available to a workgroup of %u threads",
             ra->shader->name, needed, ra->limit, size[0] * size[1] * size[2]);
}
