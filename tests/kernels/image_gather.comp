#version 450
// SPDX-License-Identifier: MIT
// Samples whose level comes from derivatives, and the four texels around a place.
layout(local_size_x = 32) in;
layout(binding = 0) uniform sampler2D flat2;
layout(std430, binding = 1) readonly buffer R { vec4 requests[]; };
layout(std430, binding = 2) writeonly buffer Y { vec4 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   vec4 r = requests[i];
   y[2 * i] = textureGrad(flat2, r.xy, vec2(r.z, 0.0), vec2(0.0, r.w));
   y[2 * i + 1] = textureGather(flat2, r.xy);
}
