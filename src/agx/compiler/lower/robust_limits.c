/* SPDX-License-Identifier: MIT
 *
 * The uniforms that robust accesses are checked against, and the comparisons (for robust.c and
 * robust_parts.c). The driver fills these uniforms for each launch with src/robustness/buffer.h.
 */
#include "agx/compiler/lower/robust_impl.h"

#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/ir/launch_slots.h"

static struct agxc_ref limit(struct agxc_robust *r, const struct agxc_robust_access *a,
                             enum agx_uniform_kind kind, uint32_t constant, uint32_t bytes)
{
   struct agx_program_access access = {.constant = constant, .stride = a->stride, .bytes = bytes};
   if (kind == AGX_UNIFORM_BUFFER_SINK)
      access.writes = a->writes;
   return agxc_uniform_slot(r->shader, kind, a->memory.binding, agx_program_access_pack(access),
                            32);
}

bool agxc_robust_has_base(const struct agxc_robust *r, enum agx_uniform_kind kind, uint32_t binding,
                          uint64_t value)
{
   const struct agxc_shader *shader = r->shader;
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].kind == (uint32_t)kind && shader->uniforms[i].index == binding &&
          shader->uniforms[i].value == value)
         return true;
   return agxc_has_room_for_base(shader);
}

static uint64_t guard_of(const struct agxc_robust_access *a, uint32_t constant, uint32_t bytes)
{
   return agx_program_access_pack((struct agx_program_access){
      .constant = constant, .stride = 1, .bytes = bytes, .writes = a->writes});
}

bool agxc_robust_has_guard(const struct agxc_robust *r, const struct agxc_robust_access *a)
{
   return agxc_robust_has_base(r, AGX_UNIFORM_BUFFER_GUARD, a->memory.binding,
                               guard_of(a, a->constant, a->bytes));
}

struct agxc_ref agxc_robust_guard(struct agxc_robust *r, const struct agxc_robust_access *a,
                                  uint32_t constant, uint32_t bytes)
{
   return agxc_uniform_slot(r->shader, AGX_UNIFORM_BUFFER_GUARD, a->memory.binding,
                            guard_of(a, constant, bytes), 64);
}

struct agxc_ref agxc_robust_base(struct agxc_robust *r, const struct agxc_robust_access *a)
{
   return agxc_uniform_slot(r->shader, AGX_UNIFORM_BUFFER_ADDRESS, a->memory.binding, a->constant,
                            64);
}

struct agxc_ref agxc_robust_clamped(struct agxc_robust *r, const struct agxc_robust_access *a)
{
   struct agxc_ref last = limit(r, a, AGX_UNIFORM_BUFFER_LAST, a->constant, a->bytes);
   return agxc_build_umin(&r->at, a->index, last);
}

struct agxc_ref agxc_robust_redirected(struct agxc_robust *r, const struct agxc_robust_access *a,
                                       uint32_t bytes)
{
   struct agxc_ref inside =
      agxc_build_ult(&r->at, a->index, limit(r, a, AGX_UNIFORM_BUFFER_COUNT, a->constant, bytes));
   struct agxc_ref sink = limit(r, a, AGX_UNIFORM_BUFFER_SINK, a->constant, a->bytes);
   return agxc_build_select(&r->at, inside, a->index, sink);
}

struct agxc_ref agxc_robust_scaled(struct agxc_robust *r, const struct agxc_robust_access *a,
                                   struct agxc_ref index)
{
   uint32_t odd = a->stride >> __builtin_ctz(a->stride), shift = (uint32_t)__builtin_ctz(a->stride);
   if (odd > 1)
      index = agxc_build_imul(&r->at, index, agxc_u32(odd));
   return shift ? agxc_build_ishl(&r->at, index, agxc_u32(shift)) : index;
}

bool agxc_robust_has_one_index(const struct agxc_robust_access *a)
{
   return a->stride >= a->bytes;
}

struct agxc_ref agxc_robust_is_partial(struct agxc_robust *r, const struct agxc_robust_access *a)
{
   return agxc_build2(&r->at, agxc_robust_has_one_index(a) ? AGXC_OP_IEQ : AGXC_OP_UGE, 1, a->index,
                      limit(r, a, AGX_UNIFORM_BUFFER_COUNT, a->constant, a->bytes));
}
