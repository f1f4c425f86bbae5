/* SPDX-License-Identifier: MIT
 *
 * All that a dispatch binds, element by element of arrays: what is retained, the descriptors of
 * state registers, and the heap, in which those of indexed arrays lie.
 */
#pragma once

#include "hal/record/bind_image.h"

/* A dispatch being recorded. */
struct agx_binder {
   struct agx_device *device;
   const struct agx_dispatch *dispatch;
   const struct agx_vertex_dispatch *draw; /* NULL: a compute kernel */
   const struct agx_program *program;
   bool is_unchecked; /* AGX_COMMAND_BUFFER_UNCHECKED: ranges may be shorter than the kernel's
                         blocks */
   struct agx_bound bound[AGX_PROGRAM_MAX_BINDINGS]; /* of arrays: element 0 */
   uint32_t object_count;                            /* two for each binding and element */
   uint32_t element_count;                           /* of all arrays */
   uint32_t heap_B;
};

/* Checks all but the elements of arrays, and counts those. */
AGX_MUST_CHECK agx_status agx_binder_init(struct agx_binder *binder, struct agx_device *device,
                                          const struct agx_program *program,
                                          const struct agx_dispatch *dispatch,
                                          const struct agx_vertex_dispatch *draw,
                                          bool is_unchecked);

/* It is another program that will run, of the same bindings. */
void agx_binder_run(struct agx_binder *binder, const struct agx_program *program);

/* One element of what program->bindings[index] is. */
AGX_MUST_CHECK agx_status agx_binder_element(const struct agx_binder *binder, uint32_t index,
                                             uint32_t element, struct agx_bound *out_bound);

/* How many elements of a binding the launch itself knows of. */
static inline uint32_t agx_binder_elements(const struct agx_binder *binder, uint32_t index)
{
   return binder->bound[index].heap ? 0 : binder->bound[index].elements;
}

/* Says which of the bindings given is one too many, where they are more than those found: given
 * twice, or an element beyond its array's end. */
AGX_MUST_CHECK agx_status agx_binder_refuse(const struct agx_binder *binder) __attribute__((cold));

/* found: how many of all bindings and elements the dispatch gave, by agx_bound's is_given. */
static inline AGX_MUST_CHECK agx_status agx_binder_check_given(const struct agx_binder *binder,
                                                               uint32_t found)
{
   return found == binder->dispatch->binding_count ? AGX_OK : agx_binder_refuse(binder);
}

/* The descriptors that program->states asks for: textures, then samplers. */
AGX_MUST_CHECK agx_status agx_binder_states(const struct agx_binder *binder, uint8_t *out);

/* What a uniform of the kind AGX_UNIFORM_IMAGE says: value is the slot's, a property of an element.
 */
AGX_MUST_CHECK agx_status agx_binder_property(const struct agx_binder *binder, uint32_t index,
                                              uint64_t value, uint64_t *out_value);

/* What names a sampler in the device's heap: a uniform of the kind AGX_UNIFORM_SAMPLER, or an entry
 * of an array's table. AGX_RESOURCE_EXHAUSTED: the heap is full. */
AGX_MUST_CHECK agx_status agx_binder_sampler(const struct agx_binder *binder, uint32_t index,
                                             uint64_t element, uint64_t *out_number);

/* Writes heap_B bytes: the descriptors and numbers of arrays. */
AGX_MUST_CHECK agx_status agx_binder_heap(const struct agx_binder *binder, uint8_t *out);

/* Where the part begins that the slot of kind AGX_UNIFORM_HEAP with this index and value names: in
 * a heap of the application's, or in the launch's own at heap_va. */
uint64_t agx_binder_heap_address(const struct agx_binder *binder, uint32_t index, uint64_t value,
                                 uint64_t heap_va);
