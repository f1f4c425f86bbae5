/* SPDX-License-Identifier: MIT
 *
 * Gives out uniform registers, state registers, scratch memory and room for constants. The front
 * half of the compiler asks for them while it lowers accesses, the spiller for memory; the program
 * file carries the list to the HAL, whose launches fill it in.
 */
#include "agx/compiler/ir/launch_slots.h"

/* Source: docs/hw/machine.md, section 3: memory bases reach the first 256 halves only. */
#define BASE_HALVES 256

uint32_t agxc_scratch_alloc(struct agxc_shader *shader, uint64_t bytes)
{
   uint32_t at = (uint32_t)agx_align_up(shader->scratch_B, 4);
   if (bytes > AGX_PROGRAM_MAX_SCRATCH_B - at)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: scratch memory of %llu bytes on top of %u; a thread may have %u", shader->name,
                (unsigned long long)bytes, at, AGX_PROGRAM_MAX_SCRATCH_B);
   shader->scratch_B = at + (uint32_t)bytes;
   return at;
}

static uint32_t take_halves(struct agxc_shader *shader, uint32_t halves)
{
   uint32_t start = (uint32_t)agx_align_up(shader->uniform_halves, AGX_MIN(halves, 2));
   if (start + halves > AGX_UNIFORM_HALVES)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: uniform registers: more than %u halves",
                shader->name, AGX_UNIFORM_HALVES);
   shader->uniform_halves = start + halves;
   return start;
}

/* Source: docs/hw/machine.md, 15.4: a heap's base is named by a multiple of four halves, of 5 bits.
 */
static uint32_t take_heap(struct agxc_shader *shader)
{
   shader->uniform_halves = (uint32_t)agx_align_up(shader->uniform_halves, 4);
   uint32_t start = take_halves(shader, 4);
   if (start > AGX_HEAP_LAST_HALF)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: uniform registers: more than %u arrays of images", shader->name,
                AGX_HEAP_LAST_HALF / 4 + 1);
   return start;
}

const struct agx_program_uniform *agxc_slot_at(const struct agxc_shader *shader, uint32_t half)
{
   for (uint32_t i = 0; i < shader->uniform_count; i++)
      if (shader->uniforms[i].start == half)
         return &shader->uniforms[i];
   return NULL;
}

struct agxc_ref agxc_uniform_slot(struct agxc_shader *shader, enum agx_uniform_kind kind,
                                  uint32_t index, uint64_t value, unsigned bits)
{
   shader = agxc_uniform_owner(shader);
   uint32_t halves = AGX_MAX(bits / 16, 1);
   for (uint32_t i = 0; i < shader->uniform_count; i++) {
      const struct agx_program_uniform *slot = &shader->uniforms[i];
      if (slot->kind == (uint32_t)kind && slot->index == index && slot->value == value &&
          slot->halves == halves)
         return agxc_uniform(slot->start, bits, 1);
   }
   if (shader->uniform_count == AGX_PROGRAM_MAX_UNIFORMS)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: uniform registers: more than %u slots",
                shader->name, AGX_PROGRAM_MAX_UNIFORMS);
   bool is_heap = kind == AGX_UNIFORM_HEAP && agx_heap_part_is_hardware((uint32_t)value);
   uint32_t start = is_heap ? take_heap(shader) : take_halves(shader, halves);
   bool is_address = kind == AGX_UNIFORM_BUFFER_ADDRESS || kind == AGX_UNIFORM_DATA_ADDRESS ||
                     kind == AGX_UNIFORM_BUFFER_GUARD || kind == AGX_UNIFORM_HEAP ||
                     (kind == AGX_UNIFORM_IMAGE && bits == 64);
   if (is_address && start + halves > BASE_HALVES)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED,
                "%s: uniform registers: the address of binding %u would lie beyond half %u",
                shader->name, index, BASE_HALVES);
   shader->uniforms[shader->uniform_count++] = (struct agx_program_uniform){
      .kind = kind, .start = start, .halves = halves, .index = index, .value = value};
   return agxc_uniform(start, bits, 1);
}

uint32_t agxc_state_slot(struct agxc_shader *shader, enum agx_state_kind kind, uint32_t binding,
                         uint32_t element)
{
   shader = agxc_uniform_owner(shader);
   bool is_texture = agx_state_is_texture(kind);
   uint32_t limit = is_texture ? AGX_PROGRAM_MAX_TEXTURES : AGX_PROGRAM_MAX_SAMPLERS, slot = 0;
   for (uint32_t i = 0; i < shader->state_count; i++) {
      const struct agx_program_state *state = &shader->states[i];
      if (state->kind == (uint32_t)kind && state->index == binding && state->element == element)
         return slot;
      slot += agx_state_is_texture(state->kind) == is_texture;
   }
   if (slot == limit)
      agxc_fail(shader, AGX_RESOURCE_EXHAUSTED, "%s: more than %u %s state registers", shader->name,
                limit, is_texture ? "texture" : "sampler");
   shader->states[shader->state_count++] =
      (struct agx_program_state){.kind = kind, .index = binding, .element = element};
   return slot;
}

struct agxc_ref agxc_uniform_result(struct agxc_shader *shader, unsigned bits)
{
   return agxc_uniform(take_halves(shader, AGX_MAX(bits / 16, 1)), bits, 1);
}

#define DATA_ALIGN_B 16u

/* Where the bytes stand already, or the end. */
static uint32_t find_data(const struct agxc_shader *shader, const uint8_t *bytes, uint32_t size_B)
{
   uint32_t at = 0;
   while (at + size_B <= shader->data_B && memcmp(shader->data + at, bytes, size_B) != 0)
      at += DATA_ALIGN_B;
   return at + size_B <= shader->data_B ? at : (uint32_t)agx_align_up(shader->data_B, DATA_ALIGN_B);
}

bool agxc_data_add(struct agxc_shader *shader, const uint8_t *bytes, uint32_t size_B,
                   struct agxc_ref *out_address)
{
   uint32_t at = find_data(shader, bytes, size_B);
   bool has_room = shader->uniform_halves + 8 <= BASE_HALVES &&
                   shader->uniform_count + 8 < AGX_PROGRAM_MAX_UNIFORMS;
   if (!has_room || size_B > AGX_PROGRAM_MAX_DATA_B - at)
      return false;
   if (at >= shader->data_B) {
      shader->data = agx_arena_grow(shader->arena, shader->data, shader->data_B, at + size_B, 1);
      memcpy(shader->data + at, bytes, size_B);
      shader->data_B = at + size_B;
   }
   *out_address = agxc_uniform_slot(shader, AGX_UNIFORM_DATA_ADDRESS, 0, at, 64);
   return true;
}
