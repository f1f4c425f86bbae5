/* SPDX-License-Identifier: MIT
 *
 * Vectors of robust accesses in zero mode, whose elements are inside or outside one by one
 * (robust.c).
 */
#include "agx/compiler/lower/robust_impl.h"

uint32_t agxc_robust_part_elements(const struct agxc_robust_access *a)
{
   return a->memory.access & AGXC_ACCESS_PAIRS ? 2 : 1;
}

/* Loads or stores the part of the vector that begins with element `first`, at that base and offset
 * plus `skip` elements. */
static void access_part(struct agxc_robust *r, const struct agxc_robust_access *a, uint32_t first,
                        uint32_t skip, struct agxc_ref base, struct agxc_ref offset,
                        struct agxc_ref *elements)
{
   uint32_t count = agxc_robust_part_elements(a);
   uint32_t access = a->memory.access | skip << AGXC_ACCESS_SKIP_SHIFT;
   if (a->writes) {
      struct agxc_ref data = agxc_collect(&r->at, count, elements + first);
      agxc_build_store_global(&r->at, base, offset, data, access);
      return;
   }
   struct agxc_ref part =
      agxc_build_load_global(&r->at, a->memory.bits, count, base, offset, access);
   agxc_split(&r->at, part, elements + first);
}

/* What a store writes; nothing for a load. */
static void take_data(struct agxc_robust *r, const struct agxc_robust_access *a,
                      struct agxc_ref *elements)
{
   if (a->writes)
      agxc_split(&r->at, *agxc_src_data(a->instr), elements);
}

void agxc_robust_guard_parts(struct agxc_robust *r, struct agxc_robust_access *a)
{
   struct agxc_ref elements[AGXC_ROBUST_MAX_ELEMENTS];
   uint32_t step = agxc_robust_part_elements(a), element_B = a->memory.bits / 8u;
   take_data(r, a, elements);
   for (uint32_t i = 0; i < a->memory.count; i += step)
      access_part(r, a, i, 0,
                  agxc_robust_guard(r, a, a->constant + i * element_B, step * element_B),
                  agxc_u32(0), elements);
   if (!a->writes)
      agxc_redefine(&r->at, *agxc_dest(a->instr), elements);
   agxc_instr_remove(a->instr);
}

/* Elements from..to - 1, each where it belongs. */
static void access_parts(struct agxc_robust *r, const struct agxc_robust_access *a, uint32_t from,
                         uint32_t to, struct agxc_ref *parts)
{
   uint32_t step = agxc_robust_part_elements(a), element_B = a->memory.bits / 8u;
   struct agxc_ref base = *agxc_src_address(a->instr);
   for (uint32_t i = from; i < to; i += step) {
      struct agxc_ref index = agxc_robust_redirected(r, a, (i + step) * element_B);
      access_part(r, a, i, i, base, agxc_robust_scaled(r, a, index), parts);
   }
}

/* ---- copies ------------------------------------------------------------- */

/* What an element of a vector that was put together and taken apart is. */
static struct agxc_ref resolved(struct agxc_ref ref)
{
   for (;;) {
      ref = agxc_skip_moves(ref);
      const struct agxc_instr *split = agxc_def_as(ref, AGXC_OP_SPLIT);
      if (!split)
         return ref;
      const struct agxc_instr *collect =
         agxc_def_as(agxc_skip_moves(*agxc_src_vector(split)), AGXC_OP_COLLECT);
      uint32_t which = 0;
      while (agxc_element(split, which)->value != ref.value)
         which++;
      if (!collect)
         return ref;
      ref = *agxc_element(collect, which);
   }
}

/* The elements of a store as the last load's if has them; false if it hasn't. */
static bool take_copied(const struct agxc_robust *r, const struct agxc_robust_access *a,
                        struct agxc_ref *elements)
{
   const struct agxc_instr *collect =
      agxc_def_as(agxc_skip_moves(*agxc_src_data(a->instr)), AGXC_OP_COLLECT);
   if (!collect)
      return false;
   for (uint32_t i = 0; i < a->memory.count; i++) {
      elements[i] = resolved(*agxc_element(collect, i));
      uint32_t k = 0;
      while (k < r->load.memory.count &&
             !(elements[i].kind == AGXC_VALUE && elements[i].value == r->phis[k].value))
         k++;
      if (k < r->load.memory.count)
         elements[i] = *agxc_phi_then(elements[i].value->def);
      else if (elements[i].kind == AGXC_VALUE)
         return false;
   }
   return true;
}

/* Nothing touches memory between the if and the store. */
static bool stands_first(const struct agxc_instr *store)
{
   agxc_foreach_instr (instr, store->block) {
      if (instr == store)
         return true;
      if (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY))
         return false;
   }
   return false;
}

/* A store of what was just loaded, at the same index: one if for both. There every element is
 * loaded and stored by itself, since either of the two may be whole. */
static bool join_copy(struct agxc_robust *r, struct agxc_robust_access *a)
{
   struct agxc_ref elements[AGXC_ROBUST_MAX_ELEMENTS], loaded[AGXC_ROBUST_MAX_ELEMENTS];
   struct agxc_robust_access *load = &r->load;
   bool is_same = r->branch && a->writes && a->instr->block == agxc_block_after(&r->branch->node) &&
                  a->index.kind == AGXC_VALUE && load->index.kind == AGXC_VALUE &&
                  a->index.value == load->index.value;
   if (!is_same || !stands_first(a->instr) || !take_copied(r, a, elements))
      return false;
   uint32_t step = agxc_robust_part_elements(load), count = load->memory.count;
   struct agxc_instr *test = agxc_terminator(agxc_block_before(&r->branch->node));
   r->at = agxc_before(r->shader, test);
   struct agxc_ref *condition = agxc_src_condition(test);
   *condition = agxc_build_ior(&r->at, *condition, agxc_robust_is_partial(r, a));
   r->at = agxc_at_end(r->shader, agxc_first_block(&r->branch->then_list));
   if (agxc_robust_has_one_index(load)) { /* whose last element was taken for one outside */
      access_parts(r, load, count - step, count, loaded);
      for (uint32_t i = count - step; i < count; i++)
         *agxc_phi_then(r->phis[i].value->def) = loaded[i];
      take_copied(r, a, elements);
   }
   access_parts(r, a, 0, a->memory.count, elements);
   r->branch = NULL;
   return true;
}

/* ---- parts of vectors ----------------------------------------------------- */

/* An if behind the access, for threads whose index is one where some elements may be inside. */
static void add_if(struct agxc_robust *r, struct agxc_robust_access *a)
{
   struct agxc_shader *shader = r->shader;
   struct agxc_ref whole[AGXC_ROBUST_MAX_ELEMENTS], parts[AGXC_ROBUST_MAX_ELEMENTS];
   uint32_t step = agxc_robust_part_elements(a), count = a->memory.count;
   /* Where one index is in question, the last element is outside. */
   uint32_t to = agxc_robust_has_one_index(a) ? count - step : count;
   take_data(r, a, parts);
   struct agxc_ref is_partial = agxc_robust_is_partial(r, a);
   struct agxc_builder end = {shader, a->instr->block, agxc_next_instr(a->instr)};
   struct agxc_block *behind;
   struct agxc_if *branch = agxc_build_if(&end, is_partial, &behind);
   r->at = agxc_at_end(shader, agxc_first_block(&branch->then_list));
   access_parts(r, a, 0, to, parts);
   if (a->writes)
      return;
   for (uint32_t i = to; i < count; i++)
      parts[i] = agxc_imm(0, a->memory.bits);
   r->at = agxc_before(shader, agxc_terminator(a->instr->block));
   struct agxc_ref dest = *agxc_dest(a->instr);
   agxc_define(a->instr, agxc_use(agxc_value_new(shader, a->memory.bits, count)));
   agxc_split(&r->at, *agxc_dest(a->instr), whole);
   r->at = agxc_at_start(shader, behind);
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_instr *phi = agxc_build_phi(&r->at, a->memory.bits, 1, 2);
      *agxc_phi_then(phi) = parts[i];
      *agxc_phi_else(phi) = whole[i];
      r->phis[i] = *agxc_dest(phi);
   }
   agxc_redefine(&r->at, dest, r->phis);
   r->load = *a;
   r->branch = branch;
}

void agxc_robust_add_parts(struct agxc_robust *r, struct agxc_robust_access *a)
{
   if (!join_copy(r, a))
      add_if(r, a);
}
