/* SPDX-License-Identifier: MIT
 *
 * Finds what the application gives for each binding and element of a program, checks it, and writes
 * descriptors of state registers and of the heap. The general path of recording calls this.
 */
#include "hal/record/bind_array.h"

#include <string.h>

#include "base/util.h"
#include "hal/executable/executable.h"
#include "hal/memory/sampler_heap.h"
#include "hal/record/bind_buffer.h"
#include "hal/record/descriptor_heap.h"
#include "hal/record/vertex.h"

/* The application's binding of that element, or NULL. Programs usually give them in the
 * executable's order. */
static const struct agx_binding *find(const struct agx_dispatch *dispatch,
                                      const struct agx_program_binding *wanted, uint32_t element,
                                      uint32_t likely)
{
   uint32_t count = dispatch->binding_count;
   likely = likely < count ? likely : 0;
   for (uint32_t i = 0; i < count; i++) {
      uint32_t at = likely + i < count ? likely + i : likely + i - count;
      const struct agx_binding *binding = &dispatch->bindings[at];
      if (binding->set == wanted->set && binding->binding == wanted->binding &&
          binding->element == element)
         return binding;
   }
   return NULL;
}

/* One more than the last element that is given, at least 1. */
static uint32_t count_elements(const struct agx_dispatch *dispatch,
                               const struct agx_program_binding *wanted)
{
   uint32_t count = 1;
   if (wanted->elements != AGX_PROGRAM_UNSIZED)
      return wanted->elements;
   for (uint32_t i = 0; i < dispatch->binding_count; i++) {
      const struct agx_binding *binding = &dispatch->bindings[i];
      if (binding->set == wanted->set && binding->binding == wanted->binding &&
          binding->element < AGX_PROGRAM_MAX_ELEMENTS)
         count = AGX_MAX(count, binding->element + 1);
   }
   return count;
}

/* An element of an array of buffers that the dispatch leaves out. */
static const struct agx_binding no_binding;

static agx_status bind(const struct agx_binder *binder, uint32_t index, uint32_t element,
                       uint32_t likely, struct agx_bound *out)
{
   const struct agx_program *program = binder->program;
   const struct agx_program_binding *wanted = &program->bindings[index];
   const struct agx_heap_range *range =
      agx_heap_find(binder->dispatch, wanted->set, wanted->binding);
   if (range) {
      *out = (struct agx_bound){0};
      return agx_heap_bind(program->name, wanted, range, binder->device, binder->is_unchecked, out);
   }
   const struct agx_binding *binding =
      find(binder->dispatch, wanted, wanted->elements ? element : wanted->element, likely);
   *out = (struct agx_bound){0};
   if (agx_binding_is_vertex(wanted->kind))
      return agx_bind_vertex(program->name, wanted, binder->draw, binder->device, out);
   out->is_given = binding != NULL;
   if (agx_binding_is_buffer(wanted->kind)) {
      struct agx_program_binding asked = *wanted;
      asked.min_size_B = binder->is_unchecked ? 0 : wanted->min_size_B;
      if (wanted->elements) {
         asked.robustness =
            AGX_PROGRAM_ROBUST_ZERO; /* elements may be left out; and for the sinks */
         binding = binding ? binding : &no_binding;
      }
      AGX_TRY(agx_bind_buffer(program->name, &asked, binding, binder->device, out));
      if (wanted->elements) /* code asks for those of any element */
         (void)agxw_device_null(agx_context_of(binder->device)->winsys, &out->sinks);
      return AGX_OK;
   }
   if (!binding && !wanted->elements)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: set %u binding %u is not given",
                      program->name, wanted->set, wanted->binding);
   return agx_bind_image(program->name, wanted, binding, binder->device, out);
}

/* ---- what is given too much --------------------------------------------- */

/* Whether the program takes such a binding, for any element of it. Elements of an array of buffers
 * that the code does not reach are left out one by one. */
static bool takes(const struct agx_program *program, const struct agx_binding *given,
                  uint32_t *out_elements)
{
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const struct agx_program_binding *wanted = &program->bindings[i];
      if (wanted->set != given->set || wanted->binding != given->binding ||
          agx_binding_is_vertex(wanted->kind))
         continue;
      *out_elements =
         wanted->elements == AGX_PROGRAM_UNSIZED ? AGX_PROGRAM_MAX_ELEMENTS : wanted->elements;
      return true;
   }
   return false;
}

/* Whether the module declares a binding that the program leaves out; variants of it don't know. */
static bool declares(const struct agx_program *program, const struct agx_binding *given)
{
   for (uint32_t i = 0; i < program->parameter_count; i++) {
      const struct agx_program_parameter *parameter = &program->parameters[i];
      if (parameter->kind != AGX_PARAMETER_KIND_UNUSED)
         continue;
      bool is_any =
         parameter->set == AGX_PROGRAM_ANY_BINDING && parameter->binding == AGX_PROGRAM_ANY_BINDING;
      if (is_any || (parameter->set == given->set && parameter->binding == given->binding))
         return true;
   }
   return false;
}

static agx_status check_unlike_before(const struct agx_binder *binder, uint32_t index)
{
   const struct agx_binding *given = &binder->dispatch->bindings[index];
   for (uint32_t i = 0; i < index; i++) {
      const struct agx_binding *before = &binder->dispatch->bindings[i];
      if (before->set == given->set && before->binding == given->binding &&
          before->element == given->element)
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "dispatch of %s: set %u binding %u element %u is given twice, as "
                         "bindings[%u] and bindings[%u]",
                         binder->program->name, given->set, given->binding, given->element, i,
                         index);
   }
   return AGX_OK;
}

static agx_status check_element(const struct agx_binder *binder, uint32_t index)
{
   const struct agx_binding *given = &binder->dispatch->bindings[index];
   uint32_t elements = 0;
   if (!takes(binder->program, given, &elements)) {
      if (declares(binder->dispatch->executable->program, given))
         return AGX_OK;
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch of %s: bindings[%u]: its module declares no set %u binding %u",
                      binder->program->name, index, given->set, given->binding);
   }
   if (!elements || given->element < elements)
      return AGX_OK;
   return AGX_FAIL(AGX_OUT_OF_RANGE,
                   "dispatch of %s: bindings[%u]: element %u of set %u binding %u, an array of %u",
                   binder->program->name, index, given->element, given->set, given->binding,
                   elements);
}

static agx_status check_heaps(const struct agx_binder *binder)
{
   const struct agx_dispatch *dispatch = binder->dispatch;
   const char *name = binder->program->name;
   if (dispatch->heap_count > AGX_MAX_BINDINGS || !dispatch->heaps)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %u ranges of heaps at %p; at most %u",
                      name, dispatch->heap_count, (const void *)dispatch->heaps, AGX_MAX_BINDINGS);
   for (uint32_t i = 0; i < dispatch->heap_count; i++) {
      const struct agx_heap_range *range = &dispatch->heaps[i];
      const struct agx_binding as_given = {.set = range->set, .binding = range->binding};
      uint32_t elements;
      if (agx_heap_find(dispatch, range->set, range->binding) != range)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: heaps[%u]: set %u binding %u again",
                         name, i, range->set, range->binding);
      if (!takes(binder->program, &as_given, &elements) &&
          !declares(dispatch->executable->program, &as_given))
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "dispatch of %s: heaps[%u]: its module declares no set %u binding %u",
                         name, i, range->set, range->binding);
   }
   for (uint32_t i = 0; i < dispatch->binding_count; i++) {
      const struct agx_binding *given = &dispatch->bindings[i];
      if (agx_heap_find(dispatch, given->set, given->binding))
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "dispatch of %s: bindings[%u]: set %u binding %u is in a heap already",
                         name, i, given->set, given->binding);
   }
   return AGX_OK;
}

agx_status agx_binder_refuse(const struct agx_binder *binder)
{
   uint64_t seen[64] = {0}; /* bits of hashes: only where one is set may there be another */
   for (uint32_t i = 0; i < binder->dispatch->binding_count; i++) {
      const struct agx_binding *given = &binder->dispatch->bindings[i];
      const uint32_t hash = given->element + 61 * given->binding + 1021 * given->set;
      uint64_t *word = &seen[hash / 64 % AGX_COUNT(seen)];
      if (*word >> hash % 64 & 1)
         AGX_TRY(check_unlike_before(binder, i));
      *word |= 1ull << hash % 64;
      AGX_TRY(check_element(binder, i));
   }
   return AGX_OK;
}

/* ---- a dispatch ---------------------------------------------------------- */

/* A multiple of what descriptors are aligned to. */
static uint32_t part_B(const struct agx_binder *binder, const struct agx_program_uniform *slot)
{
   const struct agx_bound *bound = &binder->bound[slot->index];
   return bound->heap
             ? 0
             : (uint32_t)agx_align_up((uint64_t)bound->elements * agx_heap_stride(slot->value), 8);
}

agx_status agx_binder_init(struct agx_binder *binder, struct agx_device *device,
                           const struct agx_program *program, const struct agx_dispatch *dispatch,
                           const struct agx_vertex_dispatch *draw, bool is_unchecked)
{
   binder->device = device;
   binder->is_unchecked = is_unchecked;
   binder->dispatch = dispatch;
   binder->draw = draw;
   binder->program = program;
   binder->object_count = binder->element_count = binder->heap_B = 0;
   if (dispatch->heap_count)
      AGX_TRY(check_heaps(binder));
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const struct agx_program_binding *wanted = &program->bindings[i];
      AGX_TRY(bind(binder, i, 0, i, &binder->bound[i]));
      if (binder->bound[i].heap) {
         binder->object_count++;
         continue;
      }
      uint32_t elements = wanted->elements ? count_elements(dispatch, wanted) : 1;
      binder->bound[i].elements = elements;
      binder->object_count += 2 * elements; /* an image and a sampler each, at most */
      binder->element_count += wanted->elements ? elements : 0;
   }
   agx_binder_run(binder, program);
   return AGX_OK;
}

void agx_binder_run(struct agx_binder *binder, const struct agx_program *program)
{
   binder->program = program;
   binder->heap_B = 0;
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      if (slot->kind == AGX_UNIFORM_HEAP)
         binder->heap_B += part_B(binder, slot);
   }
}

agx_status agx_binder_element(const struct agx_binder *binder, uint32_t index, uint32_t element,
                              struct agx_bound *out_bound)
{
   *out_bound = binder->bound[index];
   if (element == 0)
      return AGX_OK;
   AGX_TRY(bind(binder, index, element, index + element, out_bound));
   out_bound->elements = binder->bound[index].elements;
   return AGX_OK;
}

agx_status agx_binder_property(const struct agx_binder *binder, uint32_t index, uint64_t value,
                               uint64_t *out_value)
{
   const uint32_t property = value & ((1u << AGX_IMAGE_ELEMENT_SHIFT) - 1);
   struct agx_bound bound;
   AGX_TRY(agx_binder_element(binder, index, (uint32_t)(value >> AGX_IMAGE_ELEMENT_SHIFT), &bound));
   *out_value = agx_bound_property(&bound, (enum agx_image_property)property);
   return AGX_OK;
}

/* ---- state registers --------------------------------------------------- */

static agx_status write_state(const struct agx_binder *binder,
                              const struct agx_program_state *state, uint8_t *out)
{
   struct agx_bound bound;
   if (state->kind == AGX_STATE_FETCH_SAMPLER)
      return agx_pack_fetch_sampler(out);
   AGX_TRY(agx_binder_element(binder, state->index, state->element, &bound));
   if (state->kind == AGX_STATE_TEXTURE)
      return agx_bound_pack_texture(&bound, out);
   if (state->kind == AGX_STATE_IMAGE)
      return agx_bound_pack_image(&bound, out);
   if (!bound.sampler) /* an element that is not given */
      return agx_pack_fetch_sampler(out);
   memcpy(out, bound.sampler->words, AGX_HW_SAMPLER_BYTES);
   return AGX_OK;
}

agx_status agx_binder_states(const struct agx_binder *binder, uint8_t *out)
{
   const struct agx_program *program = binder->program;
   for (unsigned textures = 1; textures < 2; textures--) {
      for (uint32_t i = 0; i < program->state_count; i++) {
         const struct agx_program_state *state = &program->states[i];
         if (agx_state_is_texture(state->kind) != (textures == 1))
            continue;
         AGX_TRY(write_state(binder, state, out));
         out += textures ? AGX_HW_TEXTURE_BYTES : AGX_HW_SAMPLER_BYTES;
      }
   }
   return AGX_OK;
}

/* ---- heap -------------------------------------------------------------- */

uint64_t agx_binder_heap_address(const struct agx_binder *binder, uint32_t index, uint64_t value,
                                 uint64_t heap_va)
{
   uint64_t offset_B = 0;
   if (binder->bound[index].heap)
      return agx_heap_address(&binder->bound[index], value);
   for (uint32_t i = 0; i < binder->program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &binder->program->uniforms[i];
      if (slot->kind != AGX_UNIFORM_HEAP)
         continue;
      if (slot->index == index && slot->value == value)
         break;
      offset_B += part_B(binder, slot);
   }
   return heap_va + offset_B;
}

agx_status agx_binder_sampler(const struct agx_binder *binder, uint32_t index, uint64_t element,
                              uint64_t *out_number)
{
   struct agx_bound bound;
   uint32_t number;
   AGX_TRY(agx_binder_element(binder, index, (uint32_t)element, &bound));
   agx_status status = agx_sampler_heap_enter(binder->device, bound.sampler, &number);
   if (status != AGX_OK)
      agx_error_prefix("dispatch of %s", binder->program->name);
   *out_number = number;
   return status;
}

static agx_status write_element(const struct agx_binder *binder,
                                const struct agx_program_uniform *slot, uint32_t element,
                                uint8_t *out)
{
   struct agx_bound bound;
   AGX_TRY(agx_binder_element(binder, slot->index, element, &bound));
   agx_status status = agx_heap_write_part(binder->device, &bound, slot->value, out);
   if (status != AGX_OK)
      agx_error_prefix("dispatch of %s", binder->program->name);
   return status;
}

agx_status agx_binder_heap(const struct agx_binder *binder, uint8_t *out)
{
   const struct agx_program *program = binder->program;
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      if (slot->kind != AGX_UNIFORM_HEAP)
         continue;
      for (uint32_t e = 0; e < agx_binder_elements(binder, slot->index); e++)
         AGX_TRY(write_element(binder, slot, e, out + (size_t)e * agx_heap_stride(slot->value)));
      out += part_B(binder, slot);
   }
   return AGX_OK;
}
