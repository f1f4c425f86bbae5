#version 450
// SPDX-License-Identifier: MIT
// Asks for the level of an array's sample, whose coordinates have no layer, where all other values
// lie in front of them.
#extension GL_NV_compute_shader_derivatives : require
layout(local_size_x = 32) in;
layout(derivative_group_linearNV) in;
layout(binding = 0) uniform sampler2DArray flats;
layout(std430, binding = 1) buffer Levels { vec2 y[]; };
void main()
{
   vec2 before = y[gl_LocalInvocationIndex];
   y[gl_LocalInvocationIndex] = before + textureQueryLod(flats, vec2(0)).xx;
}
