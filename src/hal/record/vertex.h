/* SPDX-License-Identifier: MIT
 *
 * Draws as dispatches: what a vertex stage's own buffers and uniforms are.
 */
#pragma once

#include "hal/record/bind_image.h"

/* That a draw fits the program; draw NULL: that the program is a compute kernel. */
AGX_MUST_CHECK agx_status agx_vertex_check(const struct agx_program *program,
                                           const struct agx_vertex_dispatch *draw);

/* A binding of the kinds that agx_binding_is_vertex names. */
AGX_MUST_CHECK agx_status agx_bind_vertex(const char *name,
                                          const struct agx_program_binding *wanted,
                                          const struct agx_vertex_dispatch *draw,
                                          struct agx_device *device, struct agx_bound *out_bound);

/* What a uniform of the kind AGX_UNIFORM_DRAW holds. */
uint32_t agx_vertex_value(const struct agx_program *program, const struct agx_vertex_dispatch *draw,
                          enum agx_draw_value which);
