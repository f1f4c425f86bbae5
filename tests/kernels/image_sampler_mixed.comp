#version 450
// SPDX-License-Identifier: MIT
// A constant index into an array of samplers before a computed one: all of it fits state registers.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2D image;
layout(binding = 1) uniform sampler samplers[4];
layout(std430, binding = 2) writeonly buffer Y { vec2 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   float a = textureLod(sampler2D(image, samplers[2]), vec2(1.3, 0.05), 0).x;
   y[i] = vec2(a, textureLod(sampler2D(image, samplers[nonuniformEXT(i % 4)]), vec2(1.3, 0.05), 0).x);
}
