#version 450
// SPDX-License-Identifier: MIT
// An indexed array of samplers without a length: samplers are in registers, so it is refused.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2D image;
layout(binding = 1) uniform sampler samplers[];
layout(std430, binding = 2) writeonly buffer Y { vec4 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   y[i] = textureLod(sampler2D(image, samplers[nonuniformEXT(i)]), vec2(0.5), 0);
}
