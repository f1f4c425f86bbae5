/* SPDX-License-Identifier: MIT
 *
 * Walks backwards from a reference to what the place has already; see loads_impl.h.
 */

#include "agx/compiler/opt/loads/loads_impl.h"

static struct agxc_instr *missing(const struct agxc_slice *slice, const struct agxc_ref *ref)
{
   bool is_there = ref->kind != AGXC_VALUE || slice->is_there(slice->user, ref->value);
   return is_there ? NULL : ref->value->def;
}

bool agxc_slice_reaches(const struct agxc_slice *slice, const struct agxc_ref *ref, uint32_t *left)
{
   const struct agxc_instr *def = missing(slice, ref);
   if (!def)
      return true;
   if (*left == 0 || !slice->may_run(slice->user, def))
      return false;
   *left -= 1;
   agxc_foreach_src (src, def)
      if (!agxc_slice_reaches(slice, src, left))
         return false;
   return true;
}

bool agxc_slice_reaches_sources(const struct agxc_slice *slice, const struct agxc_instr *instr)
{
   uint32_t left = AGXC_LOADS_MAX_SLICE;
   agxc_foreach_src (src, instr)
      if (!agxc_slice_reaches(slice, src, &left))
         return false;
   return true;
}

void agxc_slice_move(const struct agxc_slice *slice, struct agxc_builder *to,
                     const struct agxc_ref *ref)
{
   struct agxc_instr *def = missing(slice, ref);
   if (!def)
      return;
   agxc_slice_move_sources(slice, to, def);
   agxc_instr_remove(def);
   agxc_insert(to, def);
}

void agxc_slice_move_sources(const struct agxc_slice *slice, struct agxc_builder *to,
                             const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr)
      agxc_slice_move(slice, to, src);
}
