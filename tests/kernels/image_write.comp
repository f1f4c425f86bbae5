#version 450
// SPDX-License-Identifier: MIT
// Stores and atomics around the edges of images of 16 by 16 texels and 3 layers: what lies
// outside is dropped. Then what another thread stored is loaded.
layout(local_size_x = 32, local_size_y = 32) in;
layout(binding = 0, r32ui) uniform uimage2DArray stored;
layout(binding = 1, r32ui) uniform uimage2D counted;
layout(std430, binding = 2) writeonly buffer Y { uint y[]; };
void main()
{
   ivec2 g = ivec2(gl_LocalInvocationID.xy) - 8;
   for (int layer = -1; layer < 4; layer++)
      imageStore(stored, ivec3(g, layer), uvec4((g.y << 16 | g.x & 0xffff) + (layer << 8)));
   imageAtomicAdd(counted, g, uint(g.x + 100 * g.y));
   imageAtomicMax(counted, g, 7u);
   memoryBarrierImage();
   barrier();
   ivec2 other = 15 - g;
   y[gl_LocalInvocationIndex] = imageLoad(stored, ivec3(other, 1)).x;
}
