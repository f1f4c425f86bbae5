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
   struct agx_bound bound[AGX_PROGRAM_MAX_BINDINGS]; /* of arrays: element 0 */
   uint32_t object_count;                            /* two for each binding and element */
   uint32_t element_count;                           /* of all arrays */
   uint32_t heap_B;
};

/* Checks all but the elements of arrays, and counts those. */
AGX_MUST_CHECK agx_status agx_binder_init(struct agx_binder *binder, struct agx_device *device,
                                          const struct agx_program *program,
                                          const struct agx_dispatch *dispatch,
                                          const struct agx_vertex_dispatch *draw);

/* It is another program that will run, of the same bindings. */
void agx_binder_run(struct agx_binder *binder, const struct agx_program *program);

/* The objects to retain, NULL where there are none; checks the elements of arrays. */
AGX_MUST_CHECK agx_status agx_binder_objects(const struct agx_binder *binder, void **out_objects);

/* One element of what program->bindings[index] is. */
AGX_MUST_CHECK agx_status agx_binder_element(const struct agx_binder *binder, uint32_t index,
                                             uint32_t element, struct agx_bound *out_bound);

/* The descriptors that program->states asks for: textures, then samplers. */
AGX_MUST_CHECK agx_status agx_binder_states(const struct agx_binder *binder, uint8_t *out);

/* The heap's contents, and in uniforms the offset in it where each part begins; the heap's address
 * is added by agx_heap_place, once it is known. */
AGX_MUST_CHECK agx_status agx_binder_heap(const struct agx_binder *binder, uint8_t *uniforms,
                                          uint8_t *out);
void agx_heap_place(const struct agx_program *program, uint64_t heap_va, uint8_t *uniforms);
