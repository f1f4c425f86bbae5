/* SPDX-License-Identifier: MIT */
#include "hal/executable/launch_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "hal/memory/descriptor.h"

/* ---- bindings ------------------------------------------------------------ */

static uint8_t kind_of(const struct agx_program_binding *binding)
{
   uint8_t kind = AGX_TEMPLATE_BUFFER;
   if (agx_binding_is_vertex(binding->kind))
      return AGX_TEMPLATE_VERTEX;
   if (agx_binding_is_buffer(binding->kind))
      return binding->robustness == AGX_PROGRAM_ROBUST_OFF ? AGX_TEMPLATE_BUFFER
                                                           : AGX_TEMPLATE_ROBUST;
   if (agx_binding_has_image(binding->kind))
      kind |= AGX_TEMPLATE_IMAGE;
   if (agx_binding_has_sampler(binding->kind))
      kind |= AGX_TEMPLATE_SAMPLER;
   return kind;
}

static bool add_bindings(const struct agx_program *program, struct agx_launch_template *template)
{
   if (program->binding_count > AGX_TEMPLATE_MAX_BINDINGS)
      return false;
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const struct agx_program_binding *binding = &program->bindings[i];
      if (agx_binding_is_texels(binding->kind) || binding->elements ||
          (template->given_count < i && !agx_binding_is_vertex(binding->kind)))
         return false;
      template->bindings[i] =
         (struct agx_template_binding){.set = binding->set,
                                       .binding = binding->binding,
                                       .element = binding->element,
                                       .kind = kind_of(binding),
                                       .access = (uint8_t)binding->access,
                                       .align_mask = binding->access & AGX_BINDING_BYTES ? 0 : 3,
                                       .dim = (uint8_t)binding->dim,
                                       .usage = agx_binding_usage(binding),
                                       .min_size_B = binding->min_size_B};
      template->is_plain &= template->bindings[i].kind == AGX_TEMPLATE_BUFFER;
      template->robust |= (uint32_t)(template->bindings[i].kind == AGX_TEMPLATE_ROBUST) << i;
      template->has_others |= !agx_template_is_buffer(&template->bindings[i]);
      template->given_count += template->bindings[i].kind != AGX_TEMPLATE_VERTEX;
   }
   template->binding_count = program->binding_count;
   return true;
}

/* ---- contents ------------------------------------------------------------ */

static int by_start(const void *a, const void *b)
{
   const struct agx_program_uniform *first = a, *second = b;
   return first->start < second->start ? -1 : first->start > second->start;
}

static bool is_constant(const struct agx_program_uniform *slot)
{
   return slot->kind == AGX_UNIFORM_CONSTANT || slot->kind == AGX_UNIFORM_LOCAL_SIZE;
}

/* False: there are too many parts. */
static bool add_part(struct agx_launch_template *template, const struct agx_template_part *part)
{
   if (template->part_count == AGX_TEMPLATE_MAX_PARTS)
      return false;
   template->parts[template->part_count++] = *part;
   return true;
}

/* All that is the same in each dispatch, and zeros elsewhere; what is long ends with zeros. */
static void fill_constants(const struct agx_program *program, uint8_t *out)
{
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      uint64_t value = slot->value;
      if (!is_constant(slot))
         continue;
      if (slot->kind == AGX_UNIFORM_LOCAL_SIZE) /* template dispatches have the program's own */
         value = program->is_vertex ? 0 : program->local_size[slot->index];
      memcpy(out + slot->start * 2u, &value, AGX_MIN(slot->halves * 2u, sizeof(value)));
   }
}

/* Constants up to a place. */
static bool add_constants(struct agx_launch_template *template, const uint8_t *constants,
                          uint32_t *at_B, uint32_t end_B)
{
   while (*at_B < end_B) {
      const uint32_t bytes = end_B - *at_B < 8 ? 4 : 8;
      struct agx_template_part part = {.kind = AGX_UNIFORM_CONSTANT, .bytes = (uint16_t)bytes};
      memcpy(&part.value, constants + *at_B, bytes); /* hosts are little-endian */
      if (!add_part(template, &part))
         return false;
      *at_B += bytes;
   }
   return true;
}

/* Push constants that lie one behind the other are one part. */
static bool join_push(struct agx_launch_template *template, const struct agx_program_uniform *slot,
                      uint32_t bytes)
{
   struct agx_template_part *last =
      template->part_count ? &template->parts[template->part_count - 1] : NULL;
   template->push_B = AGX_MAX(template->push_B, slot->index + bytes);
   if (!last || last->kind != AGX_UNIFORM_PUSH || last->index + last->bytes != slot->index)
      return false;
   last->bytes = (uint16_t)(last->bytes + bytes);
   return true;
}

/* What it is, and that it has a size that is written. */
static bool add_value(struct agx_launch_template *template, const struct agx_program_uniform *slot,
                      uint32_t bytes)
{
   struct agx_template_part part = {(uint16_t)slot->kind, (uint16_t)bytes, slot->index,
                                    slot->value};
   switch (slot->kind) {
   case AGX_UNIFORM_PUSH:
      return join_push(template, slot, bytes) || add_part(template, &part);
   case AGX_UNIFORM_BUFFER_GUARD:
      template->sinks |= 1u << slot->index;
      return bytes == 8 && add_part(template, &part);
   case AGX_UNIFORM_BUFFER_ADDRESS:
      return bytes == 8 && add_part(template, &part);
   case AGX_UNIFORM_IMAGE: /* of no element but the first */
      return slot->value < AGX_IMAGE_PROPERTY_COUNT && (bytes == 4 || bytes == 8) &&
             add_part(template, &part);
   case AGX_UNIFORM_BUFFER_SINK:
      template->sinks |= 1u << slot->index;
      return bytes == 4 && add_part(template, &part);
   case AGX_UNIFORM_DRAW:
      return bytes == 4 && add_part(template, &part);
   case AGX_UNIFORM_BUFFER_SIZE:
   case AGX_UNIFORM_BUFFER_COUNT:
   case AGX_UNIFORM_BUFFER_LAST:
   case AGX_UNIFORM_WORKGROUP_COUNT:
      return (bytes == 4 || bytes == 8) && add_part(template, &part);
   default:
      return false;
   }
}

static bool add_slot(struct agx_launch_template *template, const struct agx_program_uniform *slot,
                     const uint8_t *constants, uint32_t *at_B)
{
   const uint32_t start_B = slot->start * 2, bytes = slot->halves * 2;
   if (start_B % 4 || bytes % 4 || start_B < *at_B ||
       !add_constants(template, constants, at_B, start_B))
      return false;
   *at_B += bytes;
   return add_value(template, slot, bytes);
}

static bool add_parts(const struct agx_program *program, uint32_t uniform_B,
                      struct agx_launch_template *template)
{
   struct agx_program_uniform slots[AGX_PROGRAM_MAX_UNIFORMS];
   uint8_t constants[2 * AGX_UNIFORM_HALVES] = {0};
   uint32_t at_B = 0, count = 0;
   fill_constants(program, constants);
   for (uint32_t i = 0; i < program->uniform_count; i++)
      if (!is_constant(&program->uniforms[i]))
         slots[count++] = program->uniforms[i];
   qsort(slots, count, sizeof(slots[0]), by_start);
   for (uint32_t i = 0; i < count; i++)
      if (!add_slot(template, &slots[i], constants, &at_B))
         return false;
   return add_constants(template, constants, &at_B, uniform_B);
}

/* ---- descriptors --------------------------------------------------------- */

static bool add_states(const struct agx_program *program, struct agx_launch_template *template)
{
   uint32_t count = 0;
   if (program->state_count > AGX_TEMPLATE_MAX_STATES)
      return false;
   for (unsigned textures = 1; textures < 2; textures--)
      for (uint32_t i = 0; i < program->state_count; i++) {
         const struct agx_program_state *state = &program->states[i];
         if (state->element)
            return false;
         if (agx_state_is_texture(state->kind) == (textures == 1))
            template->states[count++] = (struct agx_template_state){state->kind, state->index};
      }
   return true;
}

static agx_status pack_states(const struct agx_plan *plan, struct agx_launch_template *template)
{
   const struct agx_hw_usc_texture textures = {.count = plan->texture_count};
   const struct agx_hw_usc_sampler samplers = {.count = plan->sampler_count};
   AGX_TRY(agx_hw_usc_texture_pack(&textures, &template->texture_word));
   AGX_TRY(agx_hw_usc_sampler_pack(&samplers, &template->sampler_word));
   return agx_pack_fetch_sampler(template->fetch_sampler);
}

/* ---- all ----------------------------------------------------------------- */

agx_status agx_launch_template_make(const struct agx_program *program, const struct agx_plan *plan,
                                    struct agx_launch_template *out_template)
{
   *out_template = (struct agx_launch_template){
      .is_plain = !program->unchecked && !program->takes_addresses && !program->state_count &&
                  !program->is_vertex,
      .is_vertex = program->is_vertex,
      .takes_addresses = program->takes_addresses,
      .block = agx_plan_block(plan, 0),
      .push_B = program->push_B,
      .local = {program->local_size[0], program->local_size[1], program->local_size[2]},
      .max_groups = AGX_MIN(0x7fffffffu, UINT32_MAX / AGX_MAX(program->local_size[0], 1u)),
   };
   out_template->is_fast = add_bindings(program, out_template) &&
                           add_parts(program, plan->uniform_B, out_template) &&
                           add_states(program, out_template);
   return program->state_count ? pack_states(plan, out_template) : AGX_OK;
}
