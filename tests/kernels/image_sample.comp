#version 450
// SPDX-License-Identifier: MIT
// Samples at levels between the images' own.
layout(local_size_x = 32) in;
layout(binding = 0) uniform sampler2D flat2;
layout(binding = 1) uniform sampler2DArray layers;
layout(binding = 2) uniform samplerCube cube;
layout(binding = 3) uniform sampler1D line;
layout(std430, binding = 4) readonly buffer R { vec4 requests[]; };
layout(std430, binding = 5) writeonly buffer Y { vec4 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   vec4 r = requests[i];
   y[4 * i] = textureLod(flat2, r.xy, r.w);
   y[4 * i + 1] = textureLod(layers, r.xyz, r.w);
   y[4 * i + 2] = textureLod(cube, r.xyz, 0.0);
   y[4 * i + 3] = textureLod(line, r.x, r.w);
}
