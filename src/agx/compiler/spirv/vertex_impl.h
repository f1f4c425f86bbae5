/* SPDX-License-Identifier: MIT
 *
 * Between the files of vertex stages: where attributes and what is drawn come from.
 */
#pragma once

#include "agx/compiler/spirv/memory_impl.h"

/* Of one location: what reads it, and what it holds once it is fetched. */
struct agxc_spv_location {
   const struct agxc_spv_type *component; /* NULL: nothing reads it */
   uint32_t channels;                     /* up to the last one that is read */
   bool is_fetched;
   struct agxc_ref values[4];
};

/* One output of the default layout, or one that the module captures. */
struct agxc_spv_captured {
   struct agxc_spv_variable *var;
   uint32_t first_scalar, scalars;
   uint32_t buffer, offset_B; /* of the record of a vertex */
};

struct agxc_spv_vertex {
   struct agxc_ref id, instance; /* VertexIndex, and the instance counted from 0 */
   struct agxc_spv_location locations[AGX_PROGRAM_MAX_ATTRIBUTES];
   struct agxc_spv_captured *captured;
   uint32_t captured_count, captured_capacity;
   uint32_t strides_B[AGX_PROGRAM_MAX_FEEDBACKS];
   uint32_t first_binding; /* of locations; the index buffer and feedback buffers follow */
};

/* A value that the draw says. */
struct agxc_ref agxc_spv_draw_value(struct agxc_spv *s, enum agx_draw_value which);

/* The base and the number of an element of a buffer that is checked as the mode wants; marks the
 * binding as used. */
struct agxc_ref agxc_spv_fetch_base(struct agxc_spv *s, uint32_t binding, struct agxc_ref *element);

/* attribute.c: the four channels of a location as 32-bit values. */
const struct agxc_ref *agxc_spv_fetch(struct agxc_spv *s, uint32_t location);

/* What the options ask for a binding, or else for all (variable.c). */
uint32_t agxc_spv_asked_robustness(const struct agxc_options *options, uint32_t set,
                                   uint32_t binding);
/* Inputs that are builtins are read where they are used; others are variables. */
bool agxc_spv_is_builtin_input(const struct agxc_spv_id *id);
/* How many bindings a vertex stage has behind the module's own: the buffers of attributes, indices
 * and feedback. 0 for a compute kernel. */
uint32_t agxc_spv_vertex_binding_count(const struct agxc_spv *s);
/* Adds these bindings; nothing for a compute kernel. */
void agxc_spv_assign_vertex_bindings(struct agxc_spv *s);
/* Sets the workgroup's size, which the module does not say: a row of vertices of one instance. */
void agxc_spv_set_vertex_size(struct agxc_spv *s);
/* Emits what stands in front of the entry point's code: which vertex it is, and its inputs. */
void agxc_spv_begin_vertex(struct agxc_spv *s);
/* Emits what stands behind it: outputs go to the feedback buffers. */
void agxc_spv_end_vertex(struct agxc_spv *s);
