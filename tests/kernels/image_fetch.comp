#version 450
// SPDX-License-Identifier: MIT
// Fetches of any level, layer and texel, inside or not: one thread for each request.
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2D flat2;
layout(binding = 1) uniform texture2DArray layers;
layout(binding = 2) uniform texture3D solid;
struct Request { ivec3 at; int level; };
layout(std430, binding = 3) readonly buffer R { Request requests[]; };
layout(std430, binding = 4) writeonly buffer Y { uvec4 y[]; };
layout(binding = 5) uniform sampler unused;
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   y[4 * i] = floatBitsToUint(texelFetch(sampler2D(flat2, unused), r.at.xy, r.level));
   y[4 * i + 1] = floatBitsToUint(texelFetch(sampler2DArray(layers, unused), r.at, r.level));
   y[4 * i + 2] = floatBitsToUint(texelFetch(sampler3D(solid, unused), r.at, r.level));
   y[4 * i + 3] = floatBitsToUint(texelFetchOffset(sampler2D(flat2, unused), r.at.xy, r.level, ivec2(-8, 7)));
}
