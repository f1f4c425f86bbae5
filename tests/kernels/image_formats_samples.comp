#version 450
#extension GL_EXT_shader_image_load_formatted : require
// SPDX-License-Identifier: MIT
// Samples of texels: fetches, loads and stores, inside or not. S: as for image_formats_fetch.comp.
#ifdef S
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define OF(name) JOINED(S, name)
#else
#define OF(name) name
#endif
layout(local_size_x = 32) in;
layout(binding = 0) uniform OF(sampler2DMS) fetched;
layout(binding = 1) uniform OF(image2DMS) stored;
struct Request { ivec3 at; int kind; OF(vec4) texel; };
layout(std430, binding = 2) readonly buffer R { Request requests[]; };
layout(std430, binding = 3) writeonly buffer Y { OF(vec4) y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   if (r.kind == 0)
      imageStore(stored, r.at.xy, r.at.z, r.texel);
   else if (r.kind == 1)
      y[i] = texelFetch(fetched, r.at.xy, r.at.z);
   else
      y[i] = imageLoad(stored, r.at.xy, r.at.z);
}
