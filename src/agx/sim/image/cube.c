/* SPDX-License-Identifier: MIT
 *
 * Cube map geometry: which face a direction meets, where on it, and which face lies beyond
 * an edge. sample.c calls it.
 */
#include "agx/sim/image/cube.h"

#include <math.h>

#include "base/util.h"

/* Cube faces in the order +x, -x, +y, -y, +z, -z: which coordinates s, t and the major
 * axis are, and their signs. */
static const struct {
   uint8_t s_axis, t_axis, major;
   int8_t s_sign, t_sign, sign;
} faces[6] = {
   {2, 1, 0, -1, -1, 1}, {2, 1, 0, 1, -1, -1}, {0, 2, 1, 1, 1, 1},
   {0, 2, 1, 1, -1, -1}, {0, 1, 2, 1, -1, 1},  {0, 1, 2, -1, -1, -1},
};

unsigned agxs_cube_face(const double at[3])
{
   double x = fabs(at[0]), y = fabs(at[1]), z = fabs(at[2]);
   unsigned axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
   return axis * 2 + (at[axis] < 0.0);
}

void agxs_cube_to_face(const double at[3], unsigned face, double out[2])
{
   double major = fabs(at[faces[face].major]);
   double scale = major > 0.0 ? 0.5 / major : 0.0;
   out[0] = at[faces[face].s_axis] * faces[face].s_sign * scale + 0.5;
   out[1] = at[faces[face].t_axis] * faces[face].t_sign * scale + 0.5;
}

void agxs_cube_cross_edge(int64_t size, unsigned *face, int64_t texel[2])
{
   double at[3], on_face[2];
   double s = 2.0 * ((double)texel[0] + 0.5) / (double)size - 1.0;
   double t = 2.0 * ((double)texel[1] + 0.5) / (double)size - 1.0;
   at[faces[*face].s_axis] = s * faces[*face].s_sign;
   at[faces[*face].t_axis] = t * faces[*face].t_sign;
   at[faces[*face].major] = faces[*face].sign;
   *face = agxs_cube_face(at);
   agxs_cube_to_face(at, *face, on_face);
   for (unsigned i = 0; i < 2; i++) {
      int64_t index = (int64_t)floor(on_face[i] * (double)size);
      texel[i] = index < 0 ? 0 : AGX_MIN(index, size - 1);
   }
}

void agxs_cube_derivative(const double at[3], const double derivative[3], double out[2])
{
   unsigned face = agxs_cube_face(at);
   double major = at[faces[face].major] * faces[face].sign;
   double moved = derivative[faces[face].major] * faces[face].sign;
   double s = at[faces[face].s_axis] * faces[face].s_sign;
   double t = at[faces[face].t_axis] * faces[face].t_sign;
   double square = major > 0.0 ? 0.5 / (major * major) : 0.0;
   out[0] = (derivative[faces[face].s_axis] * faces[face].s_sign * major - s * moved) * square;
   out[1] = (derivative[faces[face].t_axis] * faces[face].t_sign * major - t * moved) * square;
}
