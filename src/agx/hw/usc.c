/* SPDX-License-Identifier: MIT
 *
 * Writes USC words of compute programs. The HAL makes launch plans and breadcrumbs with it.
 */
#include "agx/hw/usc.h"

#include <inttypes.h>

#include "agx/chip.h"
#include "base/util.h"

#define HIGH_START 256u /* uniform halves from here on have words of their own */

static agx_status append_uniform(struct agx_hw_buffer *buffer, uint32_t start, uint32_t halves,
                                 uint64_t address)
{
   if (start < HIGH_START) {
      const struct agx_hw_usc_uniform low = {start, halves, address};
      return agx_hw_append(buffer, &agx_hw_usc_uniform_packet, &low);
   }
   const struct agx_hw_usc_uniform_high high = {start - HIGH_START, halves, address};
   return agx_hw_append(buffer, &agx_hw_usc_uniform_high_packet, &high);
}

agx_status agx_hw_usc_uniforms(struct agx_hw_buffer *buffer, uint32_t start, uint32_t halves,
                               uint64_t address)
{
   if (!agx_range_fits(start, halves, AGX_UNIFORM_HALVES))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "USC uniforms: %u halves from %u; there are %u", halves,
                      start, AGX_UNIFORM_HALVES);
   while (halves) {
      uint32_t end = start < HIGH_START ? HIGH_START : AGX_UNIFORM_HALVES;
      uint32_t count = AGX_MIN(AGX_MIN(halves, AGX_HW_USC_UNIFORM_MAX), end - start);
      if (count < halves && count % 2)
         count--; /* the next word's address must be 4-aligned */
      if (count == 0)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "USC uniforms: %u halves from %u can't be split",
                         halves, start);
      AGX_TRY(append_uniform(buffer, start, count, address));
      start += count;
      halves -= count;
      address += 2ull * count;
   }
   return AGX_OK;
}

/* The code of a scratch size in the Registers word. Source: docs/hw/cmdstream.md 2.3: min(15, 1 +
 * ceil(log2(ceil(words / 8)))) */
static uint32_t spill_code(uint32_t scratch_B)
{
   uint64_t eights = agx_div_up(agx_div_up(scratch_B, 4), 8);
   uint32_t code = 1;
   if (eights == 0)
      return 0;
   while (eights > 1ull << (code - 1))
      code++;
   return AGX_MIN(code, 15);
}

static agx_status append_shared(struct agx_hw_buffer *buffer, uint32_t shared_B)
{
   struct agx_hw_usc_shared shared = agx_hw_usc_shared_default();
   if (shared_B > AGX_HW_SHARED_MAX_BYTES)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "USC Shared: %u bytes; the limit is %u", shared_B,
                      AGX_HW_SHARED_MAX_BYTES);
   shared.layout = AGX_HW_SHARED_LAYOUT_VERTEX_COMPUTE;
   if (shared_B) {
      shared.uses_shared_memory = true;
      shared.bytes_per_threadgroup = shared_B;
   }
   return agx_hw_append(buffer, &agx_hw_usc_shared_packet, &shared);
}

agx_status agx_hw_usc_compute(struct agx_hw_buffer *buffer,
                              const struct agx_hw_usc_program *program)
{
   /* source: docs/hw/cmdstream.md 2: Unk 2 is 3 in compute programs */
   const struct agx_hw_usc_shader shader = {.unk_2 = 3, .code = program->code_offset};
   const struct agx_hw_usc_registers registers = {
      .register_count = program->gpr_halves,
      .spill_size = spill_code(program->scratch_B),
   };
   const struct agx_hw_usc_preshader preamble = {.code = program->preamble_offset};
   const struct agx_hw_usc_no_preshader none = agx_hw_usc_no_preshader_default();
   AGX_TRY(append_shared(buffer, program->shared_B));
   AGX_TRY(agx_hw_append(buffer, &agx_hw_usc_shader_packet, &shader));
   AGX_TRY(agx_hw_append(buffer, &agx_hw_usc_registers_packet, &registers));
   if (program->has_preamble)
      return agx_hw_append(buffer, &agx_hw_usc_preshader_packet, &preamble);
   return agx_hw_append(buffer, &agx_hw_usc_no_preshader_packet, &none);
}
