#version 450
// SPDX-License-Identifier: MIT
// Fetches of any level, layer and texel of an image of any dimension, inside or not. S: u or i for formats
// of integers.
#ifdef S
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define OF(name) JOINED(S, name)
#else
#define OF(name) name
#endif
layout(local_size_x = 32) in;
layout(binding = 0) uniform OF(texture1D) line;
layout(binding = 1) uniform OF(texture1DArray) lines;
layout(binding = 2) uniform OF(texture2D) flat2;
layout(binding = 3) uniform OF(texture2DArray) layers;
layout(binding = 4) uniform OF(texture3D) solid;
struct Request { ivec3 at; int level; };
layout(std430, binding = 5) readonly buffer R { Request requests[]; };
layout(std430, binding = 6) writeonly buffer Y { OF(vec4) y[]; };
layout(binding = 7) uniform sampler unused;
layout(push_constant) uniform P { uint dimension; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   if (dimension == 0)
      y[i] = texelFetch(OF(sampler1D)(line, unused), r.at.x, r.level);
   else if (dimension == 1)
      y[i] = texelFetch(OF(sampler1DArray)(lines, unused), r.at.xz, r.level);
   else if (dimension == 2)
      y[i] = texelFetch(OF(sampler2D)(flat2, unused), r.at.xy, r.level);
   else if (dimension == 3)
      y[i] = texelFetch(OF(sampler2DArray)(layers, unused), r.at, r.level);
   else
      y[i] = texelFetch(OF(sampler3D)(solid, unused), r.at, r.level);
}
