#version 460
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
// SPDX-License-Identifier: MIT
// One atomic on floats in a buffer and in workgroup memory, by 64 threads for eight words; results that no order changes.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint operation = 0;
layout(std430, binding = 0) readonly buffer X { uvec2 x[]; }; // a place and the bits of a float
layout(std430, binding = 1) buffer Y { float y[]; };
shared float s[64];
void main()
{
   uint i = gl_LocalInvocationIndex, place = x[i].x;
   float f = uintBitsToFloat(x[i].y);
   s[i] = y[i];
   barrier();
   switch (operation) {
   case 0:
      atomicAdd(y[place], f);
      atomicAdd(s[place], f);
      break;
   case 1:
      atomicMin(y[place], f);
      atomicMin(s[place], f);
      break;
   case 2:
      atomicMax(y[place], f);
      atomicMax(s[place], f);
      break;
   case 3: // a word of each thread's own
      y[64 + i] = atomicExchange(y[i], f);
      y[128 + i] = atomicExchange(s[i], f);
      break;
   }
   barrier();
   y[192 + i] = s[i];
}
