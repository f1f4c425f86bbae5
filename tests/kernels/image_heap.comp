#version 450
// SPDX-License-Identifier: MIT
// Arrays of images: one of a known length, one as long as what is bound, one of samplers, one to
// store to. Indices differ from thread to thread.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2D sized[4];
layout(binding = 1) uniform texture2DArray unsized[];
layout(binding = 2) uniform sampler samplers[3];
layout(binding = 3, r32f) uniform image2D stored[3];
struct Request { uint which; int x, y, level; };
layout(std430, binding = 4) readonly buffer R { Request requests[]; };
layout(std430, binding = 5) writeonly buffer Y { uvec4 y[]; };
layout(binding = 6) uniform sampler unused;
layout(binding = 7) uniform textureBuffer lists[2];
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   float a = texelFetch(sampler2D(sized[nonuniformEXT(r.which)], unused), ivec2(r.x, r.y), r.level).x;
   float b = texelFetch(sampler2DArray(unsized[nonuniformEXT(r.which)], unused), ivec3(r.x, r.y, 1), r.level).x;
   float c = texelFetch(sampler2D(sized[2], unused), ivec2(r.x, r.y), 0).x;
   float d = textureLod(sampler2D(sized[0], samplers[nonuniformEXT(r.which % 3)]), vec2(r.x, r.y) + 0.5, 0).x;
   y[3 * i] = floatBitsToUint(vec4(a, b, c, d));
   y[3 * i + 1] = uvec4(textureSize(sampler2D(sized[nonuniformEXT(r.which)], unused), 0),
                        textureSize(sampler2DArray(unsized[nonuniformEXT(r.which)], unused), 0).z,
                        textureQueryLevels(sampler2D(sized[nonuniformEXT(r.which)], unused)));
   y[3 * i + 2] = floatBitsToUint(texelFetch(lists[nonuniformEXT(r.which & 1u)], r.x));
   imageStore(stored[nonuniformEXT(r.which % 3)], ivec2(i & 31u, i >> 5), vec4(float(i + 1u)));
}
