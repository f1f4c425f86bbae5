#version 450
#extension GL_EXT_shader_image_load_formatted : require
#extension GL_EXT_samplerless_texture_functions : require
// SPDX-License-Identifier: MIT
// Fetches from a buffer of texels, loads from it, stores to it, inside or not. S: as for
// image_formats_fetch.comp.
#ifdef S
#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define OF(name) JOINED(S, name)
#else
#define OF(name) name
#endif
layout(local_size_x = 32) in;
layout(binding = 0) uniform OF(textureBuffer) fetched;
layout(binding = 1) uniform OF(imageBuffer) stored;
struct Request { int at, kind, unused[2]; OF(vec4) texel; };
layout(std430, binding = 2) readonly buffer R { Request requests[]; };
layout(std430, binding = 3) writeonly buffer Y { OF(vec4) y[]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   Request r = requests[i];
   if (r.kind == 0)
      imageStore(stored, r.at, r.texel);
   else if (r.kind == 1)
      y[i] = texelFetch(fetched, r.at);
   else
      y[i] = imageLoad(stored, r.at);
}
