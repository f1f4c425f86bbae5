/* SPDX-License-Identifier: MIT
 *
 * Limits of registers for scheduling, spilling and allocation, and of uniforms for the passes that
 * put constants into bases (lower/robust.c, opt/address.c).
 */
#include "agx/compiler/analysis/limits.h"

#include "agx/chip.h"

/* Halves above a step of occupancy that are worth spilling. The values that are needed last go to
 * scratch memory; a few take far less time than a second workgroup saves. [A] */
#define NEAR_STEP 4u
/* Uniform halves that bases may fill up to. */
#define BASE_HALVES_LIMIT 192

uint32_t agxc_reserved_halves(const struct agxc_shader *shader)
{
   bool has_control_flow = shader->body.next->next != &shader->body;
   return has_control_flow ? 1 : 0;
}

uint32_t agxc_most_halves(const struct agxc_shader *shader)
{
   uint32_t threads = agxc_threads_of(shader);
   uint32_t most = AGX_GPR_HALVES;
   if (shader->options->most_halves && !shader->main) /* preambles can't spill */
      most = AGX_MIN(most, shader->options->most_halves);
   while (most > 1 && agx_occupancy_threads(most) < threads)
      most--;
   return most;
}

/* Workgroups that a core holds, as docs/hw/performance.md counts them ("occ"). */
static uint32_t resident_workgroups(const struct agxc_shader *shader, uint32_t halves)
{
   uint32_t threads = shader->has_dynamic_local_size ? AGX_SIMD_LANES : agxc_threads_of(shader);
   threads = (uint32_t)agx_align_up(threads, AGX_SIMD_LANES);
   uint32_t workgroups = agx_occupancy_threads(halves) / threads;
   if (shader->shared_B)
      workgroups = AGX_MIN(workgroups, AGXC_CORE_SHARED_B / shader->shared_B);
   return AGX_MAX(workgroups, 1u);
}

uint32_t agxc_end_of_step(const struct agxc_shader *shader, uint32_t halves)
{
   uint32_t end = AGX_MIN(AGX_MAX(halves, 1), AGX_GPR_HALVES);
   uint32_t workgroups = resident_workgroups(shader, end);
   while (end < AGX_GPR_HALVES && resident_workgroups(shader, end + 1) == workgroups)
      end++;
   return end;
}

uint32_t agxc_budget(const struct agxc_shader *shader, uint32_t needed)
{
   uint32_t most = agxc_most_halves(shader), before = needed - AGX_MIN(needed, NEAR_STEP);
   uint32_t end = agxc_end_of_step(shader, before);
   bool doubles =
      end < needed && resident_workgroups(shader, end) >= 2 * resident_workgroups(shader, needed);
   return AGX_MIN(doubles ? end : agxc_end_of_step(shader, needed), most);
}

static bool has_odd_values(const struct agxc_shader *shader)
{
   for (uint32_t i = 0; i < shader->value_count; i++)
      if (shader->values[i]->bits <= 16)
         return true;
   return false;
}

uint32_t agxc_needed_halves(const struct agxc_shader *shader, uint32_t pressure)
{
   return pressure + 2 * agxc_reserved_halves(shader) + has_odd_values(shader);
}

bool agxc_has_room_for_base(const struct agxc_shader *shader)
{
   return shader->uniform_halves + 4 <= BASE_HALVES_LIMIT &&
          shader->uniform_count + 8 < AGX_PROGRAM_MAX_UNIFORMS;
}
