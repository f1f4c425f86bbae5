#version 450
// SPDX-License-Identifier: MIT
// Atomics on 3D and cube images, inside or not.
layout(local_size_x = 32) in;
layout(binding = 0, r32ui) uniform uimage3D solid;
layout(binding = 1, r32ui) uniform uimageCube cube;
layout(std430, binding = 2) readonly buffer R { ivec4 requests[]; };
void main()
{
   ivec4 r = requests[gl_GlobalInvocationID.x];
   imageAtomicAdd(solid, r.xyz, uint(r.w));
   imageAtomicMax(cube, r.xyz, uint(r.w));
}
