// SPDX-License-Identifier: MIT
// Descriptors out of a heap, of each kind that there is: set 1 is in a heap, set 0 is not.
#version 460
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 32) in;
struct Request { uint which; int at; uint pad0, pad1; };
layout(set = 0, binding = 0) readonly buffer Requests { Request requests[]; };
struct Answer { uint data[4]; uint numbers[4]; float texels[4]; uint rest[4]; };
layout(set = 0, binding = 1) buffer Answers { Answer answers[]; };

layout(set = 1, binding = 0) readonly buffer Data { uint head; uvec2 words[]; } data[];
layout(set = 1, binding = 1) uniform Constants { uvec4 head; uvec4 words[4]; } constants[8];
layout(set = 1, binding = 2) uniform sampler2D textures[8];
layout(set = 1, binding = 3, r32ui) uniform uimage2D images[4];
layout(set = 1, binding = 4) buffer One { uint count; uint words[]; } one;
layout(set = 1, binding = 5) uniform texture2D picture;
layout(set = 1, binding = 6) uniform sampler samplers[40];
layout(set = 1, binding = 7) uniform samplerBuffer texels[3];
layout(set = 1, binding = 8) buffer Out { uint count; uint words[]; } outs[64];
layout(set = 1, binding = 9, r32ui) uniform uimage2D plane;

void main()
{
   uint i = gl_GlobalInvocationID.x, which = requests[i].which;
   int at = requests[i].at;
   answers[i].data[0] = data[nonuniformEXT(which)].words[at].y;
   answers[i].data[1] = constants[nonuniformEXT(which % 8)].words[at & 3].z;
   answers[i].data[2] = uint(data[nonuniformEXT(which)].words.length());
   answers[i].data[3] = one.words[at];
   answers[i].numbers[0] = uint(textureSize(textures[nonuniformEXT(which % 8)], 0).x);
   answers[i].numbers[1] = uint(imageSize(images[nonuniformEXT(which % 4)]).y);
   answers[i].numbers[2] = uint(one.words.length());
   answers[i].numbers[3] = uint(textureSize(texels[nonuniformEXT(which % 3)]));
   answers[i].texels[0] = texelFetch(textures[nonuniformEXT(which % 8)], ivec2(at & 3, at >> 2 & 3), 0).x;
   answers[i].texels[1] = texelFetch(picture, ivec2(at & 3, 1), 0).x;
   answers[i].texels[2] = textureLod(sampler2D(picture, samplers[nonuniformEXT(which % 40)]), vec2(1.6, 0.1), 0).x;
   answers[i].texels[3] = texelFetch(texels[nonuniformEXT(which % 3)], at & 7).x;
   answers[i].rest[0] = data[2].head; // a constant index
   answers[i].rest[1] = atomicAdd(outs[nonuniformEXT(which)].count, 1u) * 0u + 7u;
   outs[nonuniformEXT(which)].words[i] = i + 100u;
   atomicAdd(one.count, 2u);
   imageStore(images[nonuniformEXT(which % 4)], ivec2(i & 31, i >> 5), uvec4(i + which));
   imageStore(plane, ivec2(i & 31, i >> 5), uvec4(3u * i));
   answers[i].rest[2] = imageAtomicAdd(plane, ivec2(i & 31, 8), 5u) * 0u + 1u;
   answers[i].rest[3] = constants[7].head.w;
}
