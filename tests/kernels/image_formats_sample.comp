#version 450
// SPDX-License-Identifier: MIT
// Samples of an image of any dimension at any level. S: as for image_formats_fetch.comp.
#ifdef S
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define OF(name) JOINED(S, name)
#else
#define OF(name) name
#endif
layout(local_size_x = 32) in;
layout(binding = 0) uniform OF(sampler1D) line;
layout(binding = 1) uniform OF(sampler1DArray) lines;
layout(binding = 2) uniform OF(sampler2D) flat2;
layout(binding = 3) uniform OF(sampler2DArray) layers;
layout(binding = 4) uniform OF(sampler3D) solid;
layout(binding = 5) uniform OF(samplerCube) cube;
layout(binding = 6) uniform OF(samplerCubeArray) cubes;
struct Request { vec4 at; float level; };
layout(std430, binding = 7) readonly buffer R { Request requests[]; };
layout(std430, binding = 8) writeonly buffer Y { OF(vec4) y[]; };
layout(push_constant) uniform P { uint dimension; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   if (dimension == 0)
      y[i] = textureLod(line, r.at.x, r.level);
   else if (dimension == 1)
      y[i] = textureLod(lines, r.at.xz, r.level);
   else if (dimension == 2)
      y[i] = textureLod(flat2, r.at.xy, r.level);
   else if (dimension == 3)
      y[i] = textureLod(layers, r.at.xyz, r.level);
   else if (dimension == 4)
      y[i] = textureLod(solid, r.at.xyz, r.level);
   else if (dimension == 5)
      y[i] = textureLod(cube, r.at.xyz, r.level);
   else
      y[i] = textureLod(cubes, r.at, r.level);
}
