/* SPDX-License-Identifier: MIT
 *
 * Variables decorated BuiltIn: system values, values of a draw, and numbers that the workgroup's
 * size decides. memory.c reads them where OpLoad names such a variable.
 */
#include "agx/compiler/spirv/vertex_impl.h"

struct agxc_ref agxc_spv_draw_value(struct agxc_spv *s, enum agx_draw_value which)
{
   return agxc_build_sysval(&s->b, (enum agxc_sysval)(AGXC_SYSVAL_DRAW + which));
}

static struct agxc_ref vertex_builtin(struct agxc_spv *s, uint32_t builtin)
{
   struct agxc_spv_vertex *v = s->vertex;
   switch (builtin) {
   case SpvBuiltInVertexIndex:
   case SpvBuiltInVertexId:
      return v->id;
   case SpvBuiltInInstanceId:
      return v->instance;
   case SpvBuiltInInstanceIndex:
      return agxc_spv_build2(s, AGXC_OP_IADD, v->instance,
                             agxc_spv_draw_value(s, AGX_DRAW_BASE_INSTANCE));
   case SpvBuiltInBaseVertex:
      return agxc_spv_draw_value(s, AGX_DRAW_BASE_VERTEX);
   case SpvBuiltInBaseInstance:
      return agxc_spv_draw_value(s, AGX_DRAW_BASE_INSTANCE);
   default: /* SpvBuiltInDrawIndex */
      return agxc_spv_draw_value(s, AGX_DRAW_INDEX);
   }
}

struct agxc_ref agxc_spv_local_size(struct agxc_spv *s, uint32_t axis)
{
   return agxc_build_sysval(&s->b, (enum agxc_sysval)(AGXC_SYSVAL_LOCAL_SIZE + axis));
}

static struct agxc_ref subgroup_count(struct agxc_spv *s)
{
   struct agxc_ref threads = agxc_spv_local_size(s, 0);
   for (uint32_t axis = 1; axis < 3; axis++)
      threads = agxc_spv_build2(s, AGXC_OP_IMUL, threads, agxc_spv_local_size(s, axis));
   threads = agxc_spv_build2(s, AGXC_OP_IADD, threads, agxc_spv_u32(AGX_SIMD_LANES - 1));
   return agxc_spv_build2(s, AGXC_OP_USHR, threads,
                          agxc_spv_u32((uint32_t)__builtin_ctz(AGX_SIMD_LANES)));
}

struct agxc_ref agxc_spv_read_builtin(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                      uint32_t component)
{
   static const struct {
      uint32_t builtin, sysval;
   } sysvals[] = {
      {SpvBuiltInNumWorkgroups, AGXC_SYSVAL_WORKGROUP_COUNT},
      {SpvBuiltInWorkgroupId, AGXC_SYSVAL_WORKGROUP_ID},
      {SpvBuiltInLocalInvocationId, AGXC_SYSVAL_LOCAL_ID},
      {SpvBuiltInGlobalInvocationId, AGXC_SYSVAL_GLOBAL_ID},
      {SpvBuiltInLocalInvocationIndex, AGXC_SYSVAL_LOCAL_INDEX},
      {SpvBuiltInSubgroupId, AGXC_SYSVAL_SUBGROUP_ID},
      {SpvBuiltInSubgroupLocalInvocationId, AGXC_SYSVAL_SUBGROUP_LANE},
   };
   const uint32_t *size = s->shader->local_size;
   uint32_t builtin = p->var->builtin;
   for (size_t i = 0; i < AGX_COUNT(sysvals); i++)
      if (sysvals[i].builtin == builtin) {
         uint32_t which =
            sysvals[i].sysval + (p->var->type->kind == AGXC_SPV_VECTOR ? component : 0);
         return agxc_spv_quad_sysval(s, which);
      }
   if (s->shader->is_vertex && builtin < SpvBuiltInSubgroupEqMask &&
       builtin != SpvBuiltInSubgroupSize)
      return vertex_builtin(s, builtin);
   if (builtin >= SpvBuiltInBaseVertex && builtin <= SpvBuiltInDrawIndex)
      return vertex_builtin(s, builtin);
   if (builtin >= SpvBuiltInSubgroupEqMask && builtin <= SpvBuiltInSubgroupLtMask)
      return component ? agxc_spv_u32(0) : agxc_spv_subgroup_mask(s, builtin);
   if (builtin == SpvBuiltInWorkgroupSize)
      return s->shader->has_dynamic_local_size ? agxc_spv_local_size(s, component)
                                               : agxc_spv_u32(size[component]);
   if (builtin == SpvBuiltInSubgroupSize)
      return agxc_spv_u32(AGX_SIMD_LANES);
   if (s->shader->has_dynamic_local_size)
      return subgroup_count(s);
   return agxc_spv_u32((uint32_t)agx_div_up(size[0] * size[1] * size[2], AGX_SIMD_LANES));
}
