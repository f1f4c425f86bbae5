#version 450
// SPDX-License-Identifier: MIT
// One access in each of several forms to memory of any size, by binding and by address: TYPE is what
// is accessed, ALIGN its alignment, FAR how many of them 1.5 GiB hold.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 32) in;
struct Part { TYPE first; TYPE e[3]; };
struct Whole { TYPE before; Part parts[5]; };
layout(std430, binding = 0) buffer A { TYPE a[]; };
layout(std430, binding = 1) buffer B { Whole b[]; };
layout(std430, binding = 2) buffer Out { TYPE y[]; };
layout(std430, binding = 3) buffer In { uvec4 k[]; };
layout(std430, binding = 4) buffer C { TYPE pad[FAR]; TYPE c[]; };
layout(buffer_reference, std430, buffer_reference_align = ALIGN) buffer PC { TYPE pad[FAR]; TYPE c[]; };
layout(buffer_reference, std430, buffer_reference_align = ALIGN) buffer PA { TYPE a[]; };
layout(buffer_reference, std430, buffer_reference_align = ALIGN) buffer PB { Whole b[]; };
layout(push_constant) uniform P { uint64_t address; uint i; uint form; };
#define DO(place) { if (stores) place = y[t]; else y[t] = place; return; }
void main()
{
   uint t = gl_LocalInvocationIndex, x = k[t].x, j = k[t].y, l = k[t].z;
   int s = int(x);
   bool stores = (form & 1) != 0;
   PA p = PA(address); PB q = PB(address); PC r = PC(address);
   switch (form >> 1) {
   case 0: DO(a[i])
   case 1: DO(a[gl_GlobalInvocationID.x + i])
   case 2: DO(a[x])
   case 3: DO(a[x + 5])
   case 4: DO(a[x - 3])
   case 5: if (stores) { a[x + 1] = y[t]; a[x + 2] = y[t]; } else y[t] = a[x + 2] + a[x + 1]; return;
   case 6: DO(b[x].parts[j].e[l])
   case 7: DO(b[x + 2].parts[j].e[1])
   case 8: DO(b[i].parts[3].first)
   case 9: DO(a[70000])
   case 10: DO(p.a[i])
   case 11: DO(p.a[gl_GlobalInvocationID.x + i])
   case 12: DO(p.a[x])
   case 13: DO(p.a[x + 5])
   case 14: DO(p.a[x - 3])
   case 15: if (stores) { p.a[x + 1] = y[t]; p.a[x + 2] = y[t]; } else y[t] = p.a[x + 2] + p.a[x + 1]; return;
   case 16: DO(q.b[x].parts[j].e[l])
   case 17: DO(q.b[x + 2].parts[j].e[1])
   case 18: DO(q.b[i].parts[3].first)
   case 19: DO(p.a[70000])
   case 20: DO(p.a[s])
   case 21: DO(p.a[s - 7])
   case 22: DO(q.b[s].parts[j].first)
   case 23: DO(c[x])
   case 24: DO(r.c[x])
   case 25: DO(c[x + 9])
   }
}
