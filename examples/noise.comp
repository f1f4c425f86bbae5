#version 450
// SPDX-License-Identifier: MIT
// Noise that depends on nothing but the frame and the place; pipeline.c has the same in C.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) writeonly buffer Output { uint noise[]; };
layout(push_constant) uniform Arguments { uint count; uint frame; };

void main()
{
   uint i = gl_GlobalInvocationID.x;
   if (i >= count)
      return;
   uint x = (i + 1) * 0x9e3779b9u ^ (frame + 1) * 0x85ebca6bu;
   x ^= x >> 16;
   x *= 0x7feb352du;
   x ^= x >> 15;
   noise[i] = x;
}
