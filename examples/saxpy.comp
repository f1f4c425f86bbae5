#version 450
// SPDX-License-Identifier: MIT
// y = a x + y
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Arguments { float a; uint count; };

void main()
{
   uint i = gl_GlobalInvocationID.x;
   if (i < count)
      y[i] = a * x[i] + y[i];
}
