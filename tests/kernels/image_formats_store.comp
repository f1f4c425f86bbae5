#version 450
#extension GL_EXT_shader_image_load_formatted : require
// SPDX-License-Identifier: MIT
// Stores to an image of any dimension and format, or loads from it, inside or not. S: as for
// image_formats_fetch.comp.
#ifdef S
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define OF(name) JOINED(S, name)
#else
#define OF(name) name
#endif
layout(local_size_x = 32) in;
layout(binding = 0) uniform OF(image1D) line;
layout(binding = 1) uniform OF(image1DArray) lines;
layout(binding = 2) uniform OF(image2D) flat2;
layout(binding = 3) uniform OF(image2DArray) layers;
layout(binding = 4) uniform OF(image3D) solid;
layout(binding = 5) uniform OF(imageCube) cube;
struct Request { ivec3 at; uint is_load; OF(vec4) texel; };
layout(std430, binding = 6) readonly buffer R { Request requests[]; };
layout(std430, binding = 7) writeonly buffer Y { OF(vec4) y[]; };
layout(push_constant) uniform P { uint dimension; };
#define ACCESS(image, at) if (r.is_load != 0) y[i] = imageLoad(image, at); else imageStore(image, at, r.texel)
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   if (dimension == 0) {
      ACCESS(line, r.at.x);
   } else if (dimension == 1) {
      ACCESS(lines, r.at.xz);
   } else if (dimension == 2) {
      ACCESS(flat2, r.at.xy);
   } else if (dimension == 3) {
      ACCESS(layers, r.at);
   } else if (dimension == 4) {
      ACCESS(solid, r.at);
   } else {
      ACCESS(cube, r.at);
   }
}
