/* SPDX-License-Identifier: MIT
 *
 * What must hold of a program's fields, wherever it comes from: limits of the machine,
 * tables that agree with each other, text that is text.
 */
#include <string.h>

#include "agx/chip.h"
#include "base/util.h"
#include "program/container.h"
#include "program/lines.h"

static agx_status check_text(const char *text, size_t capacity, const char *what)
{
   size_t length = strnlen(text, capacity);
   if (length == 0 || length == capacity)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: %s is empty or not terminated", what);
   for (size_t i = 0; i < length; i++)
      if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) /* UTF-8 may stand in names */
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: %s has byte 0x%02x at %zu", what,
                         (unsigned char)text[i], i);
   return AGX_OK;
}

static agx_status check_limits(const struct agx_program *program)
{
   const struct {
      const char *what;
      uint32_t value, limit;
   } limits[] = {
      {"gpr_halves", program->gpr_halves, AGX_GPR_HALVES},
      {"preamble_gpr_halves", program->preamble_gpr_halves, AGX_GPR_HALVES},
      {"uniform_halves", program->uniform_halves, AGX_UNIFORM_HALVES},
      {"shared_B", program->shared_B, AGX_MAX_SHARED_BYTES},
      {"scratch_B", program->scratch_B, agx_program_frame_B(AGX_PROGRAM_MAX_SCRATCH_B)},
      {"push_B", program->push_B, AGX_PROGRAM_MAX_PUSH_B},
      {"is_vertex", program->is_vertex, 1},
      {"has_dynamic_local_size", program->has_dynamic_local_size, program->is_vertex ? 0 : 1},
      {"has_dynamic_shared", program->has_dynamic_shared, program->is_vertex ? 0 : 1},
      {"binding_count", program->binding_count, AGX_PROGRAM_MAX_BINDINGS},
      {"uniform_count", program->uniform_count, AGX_PROGRAM_MAX_UNIFORMS},
      {"state_count", program->state_count, AGX_PROGRAM_MAX_STATES},
      {"parameter_count", program->parameter_count, AGX_PROGRAM_MAX_PARAMETERS},
      {"constant_count", program->constant_count, AGX_PROGRAM_MAX_CONSTANTS},
      {"names_B", program->names_B, AGX_PROGRAM_MAX_NAMES_B},
      {"code_B", program->code_B, AGX_PROGRAM_MAX_CODE_B},
      {"preamble_B", program->preamble_B, AGX_PROGRAM_MAX_CODE_B},
      {"data_B", program->data_B, AGX_PROGRAM_MAX_DATA_B},
      {"lines_B", program->lines_B, AGX_PROGRAM_MAX_LINES_B},
      {"texts_B", program->texts_B, AGX_PROGRAM_MAX_TEXTS_B},
   };
   for (size_t i = 0; i < AGX_COUNT(limits); i++)
      if (limits[i].value > limits[i].limit)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s %u is above %u", limits[i].what, limits[i].value,
                         limits[i].limit);
   return AGX_OK;
}

static agx_status check_workgroup(const struct agx_program *program)
{
   uint64_t threads = 1;
   for (unsigned i = 0; i < 3; i++) {
      uint32_t size = program->local_size[i];
      if (size == 0 || size > AGX_MAX_WORKGROUP_THREADS)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "local size %u in dimension %u", size, i);
      threads *= size;
   }
   if (threads > agx_occupancy_threads(program->gpr_halves))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%u register halves do not leave room for %u threads",
                      program->gpr_halves, (unsigned)threads);
   return AGX_OK;
}

/* Vertex stages alone have such bindings, each at its place; others have no strides. */
static bool vertex_fits(const struct agx_program *program,
                        const struct agx_program_binding *binding)
{
   uint32_t at = binding->binding, size = binding->element_B, stride = binding->stride_B;
   bool is_other = stride || size || binding->per_instance || binding->divisor;
   if (!agx_binding_is_vertex(binding->kind))
      return !is_other && binding->set != AGX_PROGRAM_VERTEX_SET;
   if (!program->is_vertex || binding->set != AGX_PROGRAM_VERTEX_SET || binding->min_size_B ||
       stride > AGX_PROGRAM_MAX_STRIDE_B || binding->element || binding->per_instance > 1)
      return false;
   bool writes = binding->access & AGX_BINDING_WRITES;
   switch (binding->kind) {
   case AGX_BINDING_VERTEX_BUFFER:
      return !writes && at < AGX_PROGRAM_MAX_ATTRIBUTES && size >= 1 &&
             size <= AGX_PROGRAM_MAX_ACCESS_B && (binding->per_instance || !binding->divisor);
   case AGX_BINDING_INDEX_BUFFER:
      return !writes && at == AGX_PROGRAM_INDEX_BINDING && size == stride && !binding->divisor &&
             !binding->per_instance && (size == 1 || size == 2 || size == 4);
   default:
      return at >= AGX_PROGRAM_FEEDBACK_BINDING &&
             at - AGX_PROGRAM_FEEDBACK_BINDING < AGX_PROGRAM_MAX_FEEDBACKS && stride &&
             stride % 4 == 0 && !size && !binding->divisor && !binding->per_instance &&
             binding->robustness == AGX_PROGRAM_ROBUST_OFF;
   }
}

static agx_status check_bindings(const struct agx_program *program)
{
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const struct agx_program_binding *binding = &program->bindings[i], *before = binding - 1;
      bool is_sorted =
         i == 0 || before->set < binding->set ||
         (before->set == binding->set &&
          (before->binding < binding->binding ||
           (before->binding == binding->binding && before->element < binding->element)));
      uint32_t may_access = AGX_BINDING_READS | AGX_BINDING_WRITES;
      if (!agx_binding_is_vertex(binding->kind))
         may_access |= AGX_BINDING_HEAP;
      if (binding->kind == AGX_BINDING_KIND_STORAGE_IMAGE)
         may_access |= AGX_BINDING_ATOMICS;
      if (binding->kind == AGX_BINDING_STORAGE_BUFFER)
         may_access |= AGX_BINDING_BYTES;
      uint32_t last_dim = agx_binding_has_image(binding->kind)   ? AGX_PROGRAM_LAST_DIM
                          : agx_binding_is_vertex(binding->kind) ? 2
                                                                 : 0;
      bool takes_robustness =
         agx_binding_is_buffer(binding->kind) || agx_binding_is_texels(binding->kind);
      bool is_array = binding->elements > 0, is_heap = binding->access & AGX_BINDING_HEAP;
      if (binding->kind >= AGX_BINDING_KIND_COUNT || binding->access & ~may_access ||
          (is_array &&
           (!agx_binding_is_array(binding->kind, binding->access) || binding->element)) ||
          (is_heap && !is_array) ||
          (binding->elements > AGX_PROGRAM_MAX_HEAP_ELEMENTS &&
           binding->elements != AGX_PROGRAM_UNSIZED) ||
          binding->dim > last_dim || binding->element >= AGX_PROGRAM_MAX_ELEMENTS || !is_sorted ||
          binding->robustness >= AGX_PROGRAM_ROBUST_COUNT ||
          (binding->robustness && !takes_robustness) || !vertex_fits(program, binding))
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "binding %u (set %u, binding %u, kind %u, dimension %u, access %u, "
                         "robustness %u)",
                         i, binding->set, binding->binding, binding->kind, binding->dim,
                         binding->access, binding->robustness);
   }
   return AGX_OK;
}

static bool state_fits(const struct agx_program *program, const struct agx_program_state *state)
{
   if (state->kind == AGX_STATE_FETCH_SAMPLER)
      return state->index == 0 && state->element == 0;
   if (state->index >= program->binding_count)
      return false;
   uint32_t kind = program->bindings[state->index].kind;
   if (program->bindings[state->index].access & AGX_BINDING_HEAP ||
       state->element >= AGX_MAX(program->bindings[state->index].elements, 1u))
      return false;
   switch (state->kind) {
   case AGX_STATE_TEXTURE:
      return agx_binding_has_image(kind);
   case AGX_STATE_IMAGE:
      return kind == AGX_BINDING_KIND_STORAGE_IMAGE ||
             kind == AGX_BINDING_KIND_STORAGE_TEXEL_BUFFER;
   case AGX_STATE_SAMPLER:
      return agx_binding_has_sampler(kind);
   default:
      return false;
   }
}

static agx_status check_states(const struct agx_program *program)
{
   uint32_t textures = 0, samplers = 0;
   for (uint32_t i = 0; i < program->state_count; i++) {
      const struct agx_program_state *state = &program->states[i];
      if (!state_fits(program, state))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "state register %u (kind %u, index %u)", i,
                         state->kind, state->index);
      *(agx_state_is_texture(state->kind) ? &textures : &samplers) += 1;
   }
   if (textures > AGX_PROGRAM_MAX_TEXTURES || samplers > AGX_PROGRAM_MAX_SAMPLERS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%u texture and %u sampler registers", textures,
                      samplers);
   return AGX_OK;
}

static bool image_slot_fits(const struct agx_program *program,
                            const struct agx_program_uniform *uniform)
{
   if (uniform->index >= program->binding_count)
      return false;
   const struct agx_program_binding *binding = &program->bindings[uniform->index];
   if ((binding->access & AGX_BINDING_HEAP || !agx_binding_has_image(binding->kind)) &&
       uniform->value != AGX_IMAGE_ELEMENTS)
      return false;
   uint64_t property = uniform->value & ((1u << AGX_IMAGE_ELEMENT_SHIFT) - 1);
   uint64_t element = uniform->value >> AGX_IMAGE_ELEMENT_SHIFT;
   return property < AGX_IMAGE_PROPERTY_COUNT && element < AGX_MAX(binding->elements, 1u) &&
          uniform->halves == (property == AGX_IMAGE_ADDRESS ? 4 : 2);
}

static bool heap_slot_fits(const struct agx_program *program,
                           const struct agx_program_uniform *uniform)
{
   if (uniform->index >= program->binding_count || uniform->value >= AGX_HEAP_PART_COUNT)
      return false;
   const struct agx_program_binding *binding = &program->bindings[uniform->index];
   bool is_storage = binding->kind == AGX_BINDING_KIND_STORAGE_IMAGE ||
                     binding->kind == AGX_BINDING_KIND_STORAGE_TEXEL_BUFFER;
   bool has_part = uniform->value == AGX_HEAP_SAMPLERS  ? agx_binding_has_sampler(binding->kind)
                   : uniform->value == AGX_HEAP_BUFFERS ? agx_binding_is_buffer(binding->kind)
                                                        : agx_binding_has_image(binding->kind);
   bool is_placed = !agx_heap_part_is_hardware((uint32_t)uniform->value) ||
                    (uniform->start % 4 == 0 && uniform->start <= AGX_HEAP_LAST_HALF);
   return binding->elements && has_part && (is_storage || uniform->value != AGX_HEAP_IMAGES) &&
          uniform->halves == 4 && is_placed;
}

static bool sampler_slot_fits(const struct agx_program *program,
                              const struct agx_program_uniform *uniform)
{
   if (uniform->index >= program->binding_count)
      return false;
   const struct agx_program_binding *binding = &program->bindings[uniform->index];
   return agx_binding_has_sampler(binding->kind) && !(binding->access & AGX_BINDING_HEAP) &&
          uniform->halves == 1 && uniform->value < AGX_MAX(binding->elements, 1u);
}

static bool names_buffer(const struct agx_program *program, uint32_t index)
{
   if (index >= program->binding_count)
      return false;
   const struct agx_program_binding *binding = &program->bindings[index];
   return !binding->elements &&
          (agx_binding_is_buffer(binding->kind) || agx_binding_is_texels(binding->kind));
}

/* The sink that stray accesses to buffers of the heap go to. */
static bool asks_for_sink(const struct agx_program *program,
                          const struct agx_program_uniform *uniform)
{
   return uniform->kind == AGX_UNIFORM_BUFFER_GUARD && uniform->index < program->binding_count &&
          agx_binding_is_buffer(program->bindings[uniform->index].kind) &&
          agx_program_access_unpack(uniform->value).constant == UINT32_MAX;
}

static bool access_fits(const struct agx_program *program,
                        const struct agx_program_uniform *uniform)
{
   struct agx_program_access access = agx_program_access_unpack(uniform->value);
   if (!(names_buffer(program, uniform->index) || asks_for_sink(program, uniform)) ||
       program->bindings[uniform->index].robustness == AGX_PROGRAM_ROBUST_OFF)
      return false;
   return agx_program_access_pack(access) == uniform->value && access.stride >= 1 &&
          access.stride <= AGX_PROGRAM_MAX_STRIDE_B && access.bytes >= 1 &&
          access.bytes <= AGX_PROGRAM_MAX_ACCESS_B;
}

/* What index may be, and how long the slot is, by kind. */
static bool slot_fits(const struct agx_program *program, const struct agx_program_uniform *uniform)
{
   switch (uniform->kind) {
   case AGX_UNIFORM_BUFFER_ADDRESS:
      return names_buffer(program, uniform->index) && uniform->halves == 4;
   case AGX_UNIFORM_BUFFER_SIZE:
      return names_buffer(program, uniform->index) && uniform->halves == 2;
   case AGX_UNIFORM_PUSH:
      return agx_range_fits(uniform->index, 2ull * uniform->halves, AGX_PROGRAM_MAX_PUSH_B);
   case AGX_UNIFORM_WORKGROUP_COUNT:
      return uniform->index < 3 && uniform->halves == 2;
   case AGX_UNIFORM_LOCAL_SIZE:
      return program->has_dynamic_local_size && uniform->index < 3 && uniform->halves == 2;
   case AGX_UNIFORM_DRAW:
      return program->is_vertex && uniform->index < AGX_DRAW_VALUE_COUNT && uniform->halves == 2;
   case AGX_UNIFORM_DATA_ADDRESS:
      return uniform->index == 0 && uniform->halves == 4 && uniform->value < program->data_B;
   case AGX_UNIFORM_CONSTANT:
      return uniform->halves <= 4;
   case AGX_UNIFORM_BUFFER_COUNT:
   case AGX_UNIFORM_BUFFER_LAST:
   case AGX_UNIFORM_BUFFER_SINK:
      return access_fits(program, uniform) && uniform->halves == 2;
   case AGX_UNIFORM_BUFFER_GUARD:
      return access_fits(program, uniform) && uniform->halves == 4;
   case AGX_UNIFORM_HEAP:
      return heap_slot_fits(program, uniform);
   case AGX_UNIFORM_IMAGE:
      return image_slot_fits(program, uniform);
   case AGX_UNIFORM_SAMPLER:
      return sampler_slot_fits(program, uniform);
   default:
      return false;
   }
}

/* Marks the halves of a slot; false: another slot has one of them. */
static bool takes_halves(uint64_t *taken, const struct agx_program_uniform *uniform)
{
   for (uint32_t half = uniform->start; half < uniform->start + uniform->halves; half++) {
      if (taken[half / 64] >> half % 64 & 1)
         return false;
      taken[half / 64] |= 1ull << half % 64;
   }
   return true;
}

static agx_status check_uniforms(const struct agx_program *program)
{
   uint64_t taken[AGX_UNIFORM_HALVES / 64] = {0};
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *uniform = &program->uniforms[i];
      bool is_placed = uniform->halves > 0 && (uniform->halves == 1 || uniform->start % 2 == 0) &&
                       agx_range_fits(uniform->start, uniform->halves, program->uniform_halves);
      if (!is_placed || !slot_fits(program, uniform) || !takes_halves(taken, uniform))
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "uniform slot %u (kind %u, start %u, halves %u, index %u)", i,
                         uniform->kind, uniform->start, uniform->halves, uniform->index);
   }
   return AGX_OK;
}

/* Names are text that ends, and what has one points into them. */
static agx_status check_reflection(const struct agx_program *program)
{
   uint32_t names_B = program->names_B;
   if ((program->parameter_count || program->constant_count) && names_B == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "no names");
   for (uint32_t i = 0; i < names_B; i++)
      if (program->names[i] &&
          ((unsigned char)program->names[i] < ' ' || program->names[i] == 0x7f))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "byte 0x%02x in names",
                         (unsigned char)program->names[i]);
   if (names_B && program->names[names_B - 1])
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "names without end");
   for (uint32_t i = 0; i < program->parameter_count; i++) {
      const struct agx_program_parameter *p = &program->parameters[i];
      bool is_binding =
         p->kind == AGX_PARAMETER_KIND_BINDING || p->kind == AGX_PARAMETER_KIND_UNUSED;
      if (p->kind >= AGX_PARAMETER_KIND_COUNT || p->name >= names_B ||
          (is_binding ? p->offset_B || p->size_B : p->set || p->binding))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "parameter %u (kind %u)", i, p->kind);
   }
   for (uint32_t i = 0; i < program->constant_count; i++) {
      const struct agx_program_constant *c = &program->constants[i];
      bool is_size = c->bytes == 1 || c->bytes == 2 || c->bytes == 4 || c->bytes == 8;
      if (c->type >= AGX_CONSTANT_TYPE_COUNT || !is_size || c->name >= names_B)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "constant %u (type %u, %u bytes)", i, c->type,
                         c->bytes);
   }
   return AGX_OK;
}

/* The texts of failures lack the program's name. */
static agx_status check_all(const struct agx_program *program, const struct agx_host_alloc *alloc)
{
   AGX_TRY(check_limits(program));
   AGX_TRY(check_workgroup(program));
   AGX_TRY(check_bindings(program));
   AGX_TRY(check_states(program));
   AGX_TRY(check_uniforms(program));
   AGX_TRY(check_reflection(program));
   AGX_TRY(agx_program_check_guards(program));
   AGX_TRY(agx_lines_check(program));
   return agx_program_check_code(program, alloc);
}

agx_status agx_program_check(const struct agx_program *program, const struct agx_host_alloc *alloc)
{
   AGX_TRY(check_text(program->name, sizeof(program->name), "the name"));
   if (program->long_name)
      AGX_TRY(check_text(program->long_name, AGX_PROGRAM_MAX_NAME_B, "the name"));
   AGX_TRY(check_text(program->chip, sizeof(program->chip), "the chip"));
   const struct agx_chip *chip = agx_chip_find(program->chip);
   if (!chip || strcmp(chip->name, program->chip) != 0)
      return AGX_FAIL(AGX_INCOMPATIBLE, "program %s: unknown chip \"%s\"", program->name,
                      program->chip);
   agx_status status = check_all(program, alloc);
   if (status != AGX_OK)
      agx_error_prefix("program %s", program->name);
   return status;
}
