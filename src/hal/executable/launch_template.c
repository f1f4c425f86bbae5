/* SPDX-License-Identifier: MIT
 *
 * Makes launch templates, for executable.c: puts the uniform slots of a program into the order of
 * their registers, with constants between them, and notes what the fast path of recording checks.
 */
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
      template->is_plain &=
         template->bindings[i].kind == AGX_TEMPLATE_BUFFER &&template->bindings[i].access;
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

/* Parts while they are put together; there is room for all that a program can have. */
struct parts {
   struct agx_launch_template *template;
   uint32_t count;
   struct agx_template_part parts[2 * AGX_PROGRAM_MAX_UNIFORMS + AGX_UNIFORM_HALVES / 4];
};

static void add_part(struct parts *out, const struct agx_template_part *part)
{
   agx_assert(out->count < AGX_COUNT(out->parts));
   out->parts[out->count++] = *part;
}

/* Whether the slot holds the same in each dispatch. */
static bool is_constant(const struct agx_program_uniform *slot)
{
   return slot->kind == AGX_UNIFORM_CONSTANT || slot->kind == AGX_UNIFORM_DATA_ADDRESS;
}

/* All that is the same in each dispatch, and zeros elsewhere; what is long ends with zeros. */
static void fill_constants(const struct agx_program *program, uint64_t data_va, uint8_t *out)
{
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      const uint64_t value =
         slot->kind == AGX_UNIFORM_DATA_ADDRESS ? data_va + slot->value : slot->value;
      if (is_constant(slot))
         memcpy(out + slot->start * 2u, &value, AGX_MIN(slot->halves * 2u, sizeof(value)));
   }
}

/* Constants from one place to another. */
static void add_constants(struct parts *out, const uint8_t *constants, uint32_t at_B,
                          uint32_t end_B)
{
   while (at_B < end_B) {
      const uint32_t bytes = AGX_MIN(end_B - at_B, 8u);
      struct agx_template_part part = {.kind = AGX_UNIFORM_CONSTANT, .bytes = (uint16_t)bytes};
      memcpy(&part.value, constants + at_B, bytes); /* hosts are little-endian */
      add_part(out, &part);
      at_B += bytes;
   }
}

/* Push constants that lie one behind the other are one part. */
static void add_push(struct parts *out, const struct agx_template_part *part)
{
   struct agx_launch_template *template = out->template;
   struct agx_template_part *last = out->count ? &out->parts[out->count - 1] : NULL;
   template->push_B = AGX_MAX(template->push_B, part->index + part->bytes);
   if (last && last->kind == AGX_UNIFORM_PUSH && last->index + last->bytes == part->index)
      last->bytes = (uint16_t)(last->bytes + part->bytes);
   else
      add_part(out, part);
}

/* A part, and what the fast path must know of it. */
static void add_slot(struct parts *out, const struct agx_program_uniform *slot)
{
   struct agx_launch_template *template = out->template;
   const struct agx_template_part part = {(uint16_t)slot->kind, (uint16_t)(slot->halves * 2),
                                          slot->index, slot->value};
   if (slot->kind == AGX_UNIFORM_PUSH) {
      add_push(out, &part);
      return;
   }
   if (slot->kind == AGX_UNIFORM_BUFFER_GUARD || slot->kind == AGX_UNIFORM_BUFFER_SINK)
      template->sinks |= slot->index < 32 ? 1u << slot->index : 0;
   if (slot->kind == AGX_UNIFORM_HEAP || slot->kind == AGX_UNIFORM_SAMPLER ||
       (slot->kind == AGX_UNIFORM_IMAGE && slot->value >= AGX_IMAGE_PROPERTY_COUNT))
      template->is_fast = false; /* of elements of arrays, or out of the heap of samplers */
   add_part(out, &part);
}

static agx_status add_parts(const struct agx_program *program, uint32_t uniform_B, uint64_t data_va,
                            const struct agx_host_alloc *alloc,
                            struct agx_launch_template *template)
{
   struct agx_program_uniform slots[AGX_PROGRAM_MAX_UNIFORMS];
   uint8_t constants[2 * AGX_UNIFORM_HALVES] = {0};
   struct parts parts;
   uint32_t at_B = 0, count = 0;
   parts.template = template;
   parts.count = 0;
   fill_constants(program, data_va, constants);
   for (uint32_t i = 0; i < program->uniform_count; i++)
      if (!is_constant(&program->uniforms[i]))
         slots[count++] = program->uniforms[i];
   qsort(slots, count, sizeof(slots[0]), by_start);
   for (uint32_t i = 0; i < count; i++) {
      add_constants(&parts, constants, at_B, slots[i].start * 2);
      add_slot(&parts, &slots[i]);
      at_B = (slots[i].start + slots[i].halves) * 2;
   }
   add_constants(&parts, constants, at_B, uniform_B);
   if (!parts.count)
      return AGX_OK;
   template->parts = agx_host_zalloc(alloc, parts.count * sizeof(parts.parts[0]));
   if (!template->parts)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable %s: out of host memory", program->name);
   memcpy(template->parts, parts.parts, parts.count * sizeof(parts.parts[0]));
   template->part_count = parts.count;
   return AGX_OK;
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

agx_status agx_launch_template_init(const struct agx_program *program, const struct agx_plan *plan,
                                    uint64_t data_va, const struct agx_host_alloc *alloc,
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
   out_template->is_fast = add_bindings(program, out_template) && add_states(program, out_template);
   AGX_TRY(add_parts(program, plan->uniform_B, data_va, alloc, out_template));
   return program->state_count ? pack_states(plan, out_template) : AGX_OK;
}

void agx_launch_template_fini(struct agx_launch_template *template,
                              const struct agx_host_alloc *alloc)
{
   if (template->parts)
      agx_host_free(alloc, template->parts, template->part_count * sizeof(template->parts[0]));
   template->parts = NULL;
   template->part_count = 0;
}
