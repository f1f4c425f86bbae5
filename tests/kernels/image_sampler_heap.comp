#version 450
// SPDX-License-Identifier: MIT
// More samplers than state registers: arrays with computed indices, short, long and without a length, one that
// constants index too, and twenty samplers by constant index. Each result is one sampler's.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2D image;
layout(binding = 1) uniform sampler few[5];
layout(binding = 2) uniform sampler many[40];
layout(binding = 3) uniform sampler unsized[];
layout(binding = 4) uniform sampler2D both[20];
layout(binding = 5) uniform sampler2D chosen[18];
layout(std430, binding = 6) writeonly buffer Y { float y[][32]; };
layout(push_constant) uniform P { vec2 at; };
#define GET(s) textureLod(sampler2D(image, s), at, 0).x
void main()
{
   uint i = gl_GlobalInvocationID.x;
   y[i][0] = GET(few[nonuniformEXT(i % 5)]);
   y[i][1] = GET(many[nonuniformEXT(i % 40)]);
   y[i][2] = GET(unsized[nonuniformEXT(i % 7)]);
   y[i][3] = GET(few[2]);
   y[i][4] = GET(many[39]);
   y[i][5] = GET(unsized[6]);
   y[i][6] = textureLod(chosen[nonuniformEXT(i % 18)], at, 0).x;
   y[i][7] = texelFetch(sampler2D(image, many[3]), ivec2(at * 8), 0).x;
   y[i][8] = texelFetch(sampler2D(image, many[3]), ivec2(i % 8, i / 8), 0).x;
#define BOTH(n) y[i][9 + n] = textureLod(both[n], at, 0).x;
   BOTH(0) BOTH(1) BOTH(2) BOTH(3) BOTH(4) BOTH(5) BOTH(6) BOTH(7) BOTH(8) BOTH(9) BOTH(10) BOTH(11) BOTH(12)
   BOTH(13) BOTH(14) BOTH(15) BOTH(16) BOTH(17) BOTH(18) BOTH(19)
}
