/* SPDX-License-Identifier: MIT
 *
 * Values are only read once they are defined, so two names may share registers as long as
 * what they name is the same. This is where copies of living values become names.
 *
 * A copy or cut of a value that lives on is the value itself for its readers, as long as what a cut
 * leaves out fits, too; a vector whose elements stand side by side and live on needs no registers
 * of its own.
 */
#include "agx/compiler/regalloc/ra_impl.h"

/* ---- vectors ----------------------------------------------------------- */

/* How often each value is read, and by whom last. */
struct reader {
   struct agxc_instr *instr;
   uint32_t count;
};

static struct reader *find_readers(struct agxc_shader *shader)
{
   struct reader *readers = AGX_ARENA_ARRAY(shader->arena, struct reader, shader->value_count);
   agxc_foreach_instr_of (instr, shader)
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE) {
            readers[src->value->id].instr = instr;
            readers[src->value->id].count++;
         }
   return readers;
}

void agxc_ra_sink_collects(struct agxc_shader *shader)
{
   const struct reader *readers = find_readers(shader);
   /* Backwards, and only to a reader behind: what was moved is not met again. Without that, two
    * that read each other, as code that nothing reaches may, would change places for ever. */
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_rev (instr, block) {
         if (instr->op != AGXC_OP_COLLECT || agxc_dest(instr)->kind != AGXC_VALUE)
            continue;
         const struct reader *reader = &readers[agxc_dest(instr)->value->id];
         if (reader->count != 1 || reader->instr->block != block ||
             reader->instr->op == AGXC_OP_PHI || reader->instr->index <= instr->index)
            continue;
         agx_list_remove(&instr->link);
         agx_list_insert_before(&reader->instr->link, &instr->link);
      }
}

static bool is_read_next(const struct agxc_ra *ra, const struct agxc_instr *collect)
{
   const struct agxc_instr *next = agxc_next_instr(collect);
   if (!next || !agxc_is_machine(next))
      return false;
   agxc_foreach_dest (dest, next) /* results that need room might move the elements */
      if (dest->kind == AGXC_VALUE &&
          (next->dest_count > 1 || agxc_ra_find(ra, dest->value) == AGXC_NOWHERE))
         return false;
   agxc_foreach_src (src, next)
      if (src->kind == AGXC_VALUE && src->value == agxc_dest(collect)->value)
         return true;
   return false;
}

static bool stand_together(const struct agxc_ra *ra, const struct agxc_instr *collect)
{
   uint32_t half = AGXC_NOWHERE;
   agxc_foreach_src (src, collect) {
      if (src->kind != AGXC_VALUE)
         return false;
      uint32_t place = ra->place[src->value->id];
      if (half != AGXC_NOWHERE && place != half)
         return false;
      half = place + agxc_ref_halves(src);
   }
   const struct agxc_value *vector = agxc_dest(collect)->value;
   uint32_t base = half - agxc_halves(vector);
   return base % agxc_alignment(vector) == 0;
}

bool agxc_ra_borrow(struct agxc_ra *ra, const struct agxc_instr *collect)
{
   struct agxc_value *vector = agxc_dest(collect)->value;
   bool all_end = true;
   agxc_foreach_src (src, collect)
      if (src->kind == AGXC_VALUE && agxc_ra_is_part(ra, src->value))
         return false;
   agxc_foreach_src (src, collect)
      all_end = all_end && src->kind == AGXC_VALUE && agxc_ra_dies_at(ra, src->value, collect);
   if (all_end || ra->last_use[vector->id] != collect->index + 1 ||
       agx_bitset_test(ra->live_out.bits, vector->id) || !is_read_next(ra, collect) ||
       !stand_together(ra, collect))
      return false;
   const struct agxc_instr *reader = agxc_next_instr(collect);
   ra->place[vector->id] = ra->place[agxc_element(collect, 0)->value->id];
   agxc_foreach_src (src, collect) {
      bool is_read_itself = ra->last_use[src->value->id] > collect->index;
      if (agxc_ra_dies_at(ra, src->value, collect) && !is_read_itself) {
         ra->last_use[src->value->id] = reader->index + 1; /* not before */
         agx_assert(ra->late_count < AGX_COUNT(ra->late));
         ra->late[ra->late_count++] = src->value;
      }
   }
   return true;
}

/* ---- copies ------------------------------------------------------------ */

bool agxc_ra_rename(struct agxc_ra *ra, struct agxc_instr *copy)
{
   if (copy->dest_count != 1 || copy->src_count != 1 || agxc_dest(copy)->kind != AGXC_VALUE ||
       agxc_srcs(copy)[0].kind != AGXC_VALUE)
      return false;
   const struct agxc_value *name = agxc_dest(copy)->value;
   struct agxc_value *value = agxc_srcs(copy)[0].value;
   uint32_t last = ra->last_use[name->id];
   if (agxc_ra_dies_at(ra, value, copy) || agx_bitset_test(ra->live_out.bits, name->id) ||
       last <= copy->index || agxc_ra_is_part(ra, value))
      return false;
   /* A cut that is read longer than its value keeps all of it. */
   bool is_longer =
      last > ra->last_use[value->id] && !agx_bitset_test(ra->live_out.bits, value->id);
   uint32_t extra = is_longer ? agxc_halves(value) - agxc_halves(name) : 0;
   if (extra > ra->spare)
      return false;
   ra->spare -= extra;
   for (const struct agxc_instr *instr = agxc_next_instr(copy); instr && instr->index <= last;
        instr = agxc_next_instr(instr))
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE && src->value == name)
            src->value = value;
   ra->last_use[value->id] = AGX_MAX(ra->last_use[value->id], last);
   return true;
}

/* ---- parts ------------------------------------------------------------- */

bool agxc_ra_name_parts(struct agxc_ra *ra, struct agxc_instr *split)
{
   const struct agxc_ref *src = &agxc_srcs(split)[0];
   if (src->kind != AGXC_VALUE || ra->part_count + split->dest_count > AGXC_RA_MOST_PARTS ||
       agxc_ra_is_part(ra, src->value))
      return false;
   bool lives_on = agx_bitset_test(ra->live_out.bits, src->value->id);
   uint32_t end = lives_on ? UINT32_MAX : ra->last_use[src->value->id];
   agxc_foreach_dest (dest, split)
      if (dest->kind == AGXC_VALUE && (agx_bitset_test(ra->live_out.bits, dest->value->id) ||
                                       ra->last_use[dest->value->id] >= end))
         return false;
   uint32_t offset = 0;
   agxc_foreach_dest (dest, split) {
      if (dest->kind == AGXC_VALUE && ra->last_use[dest->value->id] > split->index) {
         ra->parts[ra->part_count++] = (struct agxc_part){dest->value, src->value, offset};
         ra->place[dest->value->id] = (uint16_t)(ra->place[src->value->id] + offset);
      }
      offset += agxc_ref_halves(dest);
   }
   return true;
}
