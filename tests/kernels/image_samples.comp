#version 450
// SPDX-License-Identifier: MIT
// Multisampled images, layer by layer: loads, then stores of any sample, inside or not.
layout(local_size_x = 32) in;
layout(binding = 0) uniform texture2DMS flat2;
layout(binding = 1) uniform texture2DMSArray layers;
layout(binding = 2, r32f) uniform image2DMS stored;
layout(binding = 3, rgba8) uniform writeonly image2DMSArray packed;
struct Request { ivec3 at; int number; };
layout(std430, binding = 4) readonly buffer R { Request requests[]; };
layout(std430, binding = 5) writeonly buffer Y { uvec4 y[]; };
layout(binding = 6) uniform sampler unused;
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   y[i] = uvec4(floatBitsToUint(texelFetch(sampler2DMS(flat2, unused), r.at.xy, r.number).x),
                floatBitsToUint(texelFetch(sampler2DMSArray(layers, unused), r.at, r.number).x),
                textureSamples(sampler2DMS(flat2, unused)), imageSize(packed).z);
   imageStore(stored, r.at.xy, r.number, vec4(1 + r.at.x + 64 * r.at.y + 4096 * r.number));
   imageStore(packed, r.at, r.number, vec4(r.at.x, r.at.y, r.at.z, r.number + 1) / 255.0);
}
