/* SPDX-License-Identifier: MIT
 *
 * Limits of registers for scheduling, spilling and allocation, and of uniforms for the passes that
 * put constants into bases (lower/robust.c, opt/address.c).
 */
#include "agx/compiler/analysis/limits.h"

#include "agx/chip.h"

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
   if (shader->options->most_halves)
      most = AGX_MIN(most, shader->options->most_halves);
   while (most > 1 && agx_occupancy_threads(most) < threads)
      most--;
   return most;
}

uint32_t agxc_end_of_step(uint32_t halves)
{
   uint32_t end = AGX_MIN(AGX_MAX(halves, 1), AGX_GPR_HALVES);
   while (end < AGX_GPR_HALVES && agx_occupancy_threads(end + 1) == agx_occupancy_threads(end))
      end++;
   return end;
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
