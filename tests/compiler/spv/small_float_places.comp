#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_float_e4m3 : require
#extension GL_EXT_float_e5m2 : require
// bfloat16, E4M3 and E5M2 in all kinds of memory, constants and control flow (pointer_test.c).
layout(local_size_x = 32) in;
struct Mixed { bfloat16_t b; floate4m3_t e; floate5m2_t f; };
layout(constant_id = 0) const bfloat16_t b_spec = bfloat16_t(1.5);
layout(constant_id = 1) const floate4m3_t e_spec = floate4m3_t(-0.4375);
layout(constant_id = 2) const float single_spec = 3.3;
const float b_wide = float(b_spec);
const float e_wide = float(e_spec);
const floate5m2_t f_narrow = floate5m2_t(single_spec);
const bfloat16_t b_table[4] = {bfloat16_t(1), bfloat16_t(-2), bfloat16_t(0.5), bfloat16_t(1024.0)};
layout(set = 0, binding = 0, scalar) buffer Out { float results[]; };
layout(set = 0, binding = 1, scalar) buffer Storage { bf16vec3 bs[32]; fe4m3vec2 es[32]; floate5m2_t fs[32]; Mixed mixed[96]; };
layout(set = 0, binding = 2, scalar) uniform Uniforms { bfloat16_t ub; fe5m2vec4 uf[2]; floate4m3_t ue; };
layout(push_constant, scalar) uniform Push { bf16vec2 pb; fe4m3vec4 pe; floate5m2_t pf; };
shared bfloat16_t sb[32];
shared fe5m2vec2 sf[32];

bfloat16_t chosen(bool first, bfloat16_t x, bfloat16_t y) { return first ? x : y; }

void main()
{
   uint i = gl_LocalInvocationIndex, at = 24 * gl_GlobalInvocationID.x;
   vec3 b = vec3(bs[i]);
   results[at + 0] = b.x;
   results[at + 1] = b.y;
   results[at + 2] = b.z;
   results[at + 3] = float(es[i].y);
   results[at + 4] = float(fs[i]);
   results[at + 5] = float(mixed[i].e);
   results[at + 6] = float(ub);
   results[at + 7] = float(uf[i % 2][i % 4]);
   results[at + 8] = float(ue);
   results[at + 9] = float(pb[i % 2]);
   results[at + 10] = float(pe.w);
   results[at + 11] = float(pf);
   results[at + 12] = b_wide + e_wide;
   results[at + 13] = float(f_narrow);
   results[at + 14] = float(b_table[i % 4]);
   sb[i] = bs[i].z;
   sf[i] = fe5m2vec2(fs[i], floate5m2_t(i));
   barrier();
   results[at + 15] = float(sb[31 - i]);
   vec2 other = vec2(sf[31 - i]);
   results[at + 16] = other.x;
   results[at + 17] = other.y;
   results[at + 18] = float(chosen(i < 7, bs[i].x, b_spec));
   floate4m3_t e = e_spec, all[4];
   for (uint k = 0; k < i % 5; k++)
      e = floate4m3_t(float(e) * 1.25 + 1);
   results[at + 19] = float(e);
   for (uint k = 0; k < 4; k++)
      all[(k + i) % 4] = floate4m3_t(k);
   results[at + 20] = float(all[i % 3]);
   Mixed m = mixed[i];
   m.b = bfloat16_t(m.e);
   m.f = floate5m2_t(m.b);
   mixed[32 + gl_GlobalInvocationID.x] = m;
   results[at + 21] = float(m.f);
   vec2 e2 = vec2(fe4m3vec2(bs[i].xy));
   results[at + 22] = e2.x;
   results[at + 23] = e2.y;
}
