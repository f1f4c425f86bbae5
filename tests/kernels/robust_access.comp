#version 450
// SPDX-License-Identifier: MIT
// One access of a kind at an index that may be anything: build.sh says which kinds there are.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
#ifdef MEMBERS
struct Element { MEMBERS };
#else
#define Element TYPE
#endif
layout(binding = 0, std430) buffer A
{
#ifdef HEAD
   uint head[HEAD];
#endif
   Element a[];
};
layout(binding = 1, std430) readonly buffer I { uint places[]; };
layout(binding = 2, std430) buffer O { TYPE o[]; };
layout(push_constant) uniform P { uint writes; };
void main()
{
   uint l = gl_LocalInvocationID.x;
   uint i = places[2 * l], j = places[2 * l + 1];
   if (writes == 0)
      o[l] = ACCESS;
   else
      ACCESS = o[l];
}
