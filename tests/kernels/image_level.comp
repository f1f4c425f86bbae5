#version 450
// SPDX-License-Identifier: MIT
// One fetch at level LEVEL, for the price of finding out whether the level is there.
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2D image;
layout(binding = 1) uniform sampler unused;
layout(std430, binding = 2) writeonly buffer Y { vec4 y[]; };
layout(push_constant) uniform P { int level; };
void main()
{
   ivec2 at = ivec2(gl_GlobalInvocationID.xy);
   y[at.x] = texelFetch(sampler2D(image, unused), at, LEVEL);
}
