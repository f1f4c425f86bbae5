#version 450
// SPDX-License-Identifier: MIT
// What samples can be besides plain: gathers of each channel, with offsets, comparisons, projective
// coordinates, derivatives of three coordinates.
layout(local_size_x = 32) in;
layout(binding = 0) uniform sampler2D flat2;
layout(binding = 1) uniform sampler2DShadow depth;
layout(binding = 2) uniform sampler3D solid;
layout(binding = 3) uniform sampler2DArrayShadow depths;
struct Request { vec4 at; };
layout(std430, binding = 4) readonly buffer R { Request requests[]; };
layout(std430, binding = 5) writeonly buffer Y { uvec4 y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   vec4 r = requests[i].at;
   const ivec2 offsets[4] = {ivec2(-8, 7), ivec2(1, 0), ivec2(0, -1), ivec2(3, 2)};
   y[8 * i] = floatBitsToUint(textureGather(flat2, r.xy, 1));
   y[8 * i + 1] = floatBitsToUint(textureGather(flat2, r.xy, 3));
   y[8 * i + 2] = floatBitsToUint(textureGatherOffset(flat2, r.xy, ivec2(int(i & 7u) - 4, 2), 2));
   y[8 * i + 3] = floatBitsToUint(textureGatherOffsets(flat2, r.xy, offsets, 0));
   y[8 * i + 4] = floatBitsToUint(textureGather(depth, r.xy, r.z));
   y[8 * i + 5] = floatBitsToUint(vec4(textureLod(depth, r.xyz, 0), textureLodOffset(depth, r.xyz, 0, ivec2(2, -3)),
                                       textureProjLod(depth, vec4(r.xyz * 2, 2), 0),
                                       textureGrad(depths, vec4(r.xy, 1, r.z), vec2(0), vec2(0))));
   y[8 * i + 6] = floatBitsToUint(vec4(textureGrad(solid, r.xyz, vec3(r.w, 0, 0), vec3(0, r.w * 0.25, 0)).x,
                                       textureGrad(solid, r.xyz, vec3(0), vec3(0, 0, r.w)).x,
                                       textureProjLod(flat2, vec3(r.xy * 4, 4), 0).x,
                                       textureProjGrad(flat2, vec3(r.xy, 1), vec2(0), vec2(0)).y));
   y[8 * i + 7] = floatBitsToUint(textureLodOffset(solid, r.xyz, 0, ivec3(1, -1, 2)));
}
