#version 450
// SPDX-License-Identifier: MIT
// One access each, for its code: by KIND.
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require
#define LAYER 1
#define TEXEL 2
#define TEXEL_STORE 3
#define SAMPLE 4
#define HEAP 5
#define HEAP_LEVEL 6
layout(local_size_x = 32) in;
layout(std430, binding = 0) writeonly buffer Y { vec4 y[]; };
layout(binding = 1) uniform texture2DArray layers;
layout(binding = 2) uniform textureBuffer texels;
layout(binding = 3, r32f) uniform writeonly imageBuffer stored;
layout(binding = 4) uniform texture2DMS samples;
layout(binding = 5) uniform texture2D heap[];
layout(push_constant) uniform P { int level; };
void main()
{
   ivec3 at = ivec3(gl_GlobalInvocationID);
#if KIND == LAYER
   y[at.x] = texelFetch(layers, at, 0);
#elif KIND == TEXEL
   y[at.x] = texelFetch(texels, at.x);
#elif KIND == TEXEL_STORE
   imageStore(stored, at.x, vec4(1));
#elif KIND == SAMPLE
   y[at.x] = texelFetch(samples, at.xy, at.z);
#elif KIND == HEAP
   y[at.x] = texelFetch(heap[nonuniformEXT(at.z)], at.xy, 0);
#else
   y[at.x] = texelFetch(heap[nonuniformEXT(at.z)], at.xy, level);
#endif
}
