/* SPDX-License-Identifier: MIT
 *
 * The geometry of cube maps: faces in the order +x, -x, +y, -y, +z, -z, each with s
 * to the right and t down, as Vulkan and GL have them.
 */
#pragma once

#include <stdint.h>

/* The face that a direction meets. */
unsigned agxs_cube_face(const double at[3]);
/* s and t in 0..1 of a direction on the face. */
void agxs_cube_to_face(const double at[3], unsigned face, double out[2]);
/* What s and t change by when the direction changes by `derivative`. */
void agxs_cube_derivative(const double at[3], const double derivative[3], double out[2]);
/* Moves a texel that lies beyond the edge of its face, of size by size texels, to the face
 * that it is on. */
void agxs_cube_cross_edge(int64_t size, unsigned *face, int64_t texel[2]);
