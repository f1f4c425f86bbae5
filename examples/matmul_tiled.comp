#version 450
// SPDX-License-Identifier: MIT
// C = A B for row-major matrices whose sides are multiples of the tile.
const uint TILE = 16;
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) readonly buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { float b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform Arguments { uint rows, columns, inner; };
shared float tile_a[TILE][TILE];
shared float tile_b[TILE][TILE];

void main()
{
   uvec2 local = gl_LocalInvocationID.xy;
   uvec2 global = gl_GlobalInvocationID.xy;
   float sum = 0.0;
   for (uint k = 0; k < inner; k += TILE) {
      tile_a[local.y][local.x] = a[global.y * inner + k + local.x];
      tile_b[local.y][local.x] = b[(k + local.y) * columns + global.x];
      barrier();
      for (uint i = 0; i < TILE; i++)
         sum += tile_a[local.y][i] * tile_b[i][local.x];
      barrier();
   }
   c[global.y * columns + global.x] = sum;
}
