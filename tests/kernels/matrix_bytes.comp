#version 450
// SPDX-License-Identifier: MIT
// D = -(A B + C) * scale + bias of bytes (T of A, U of B) in words (S), or of longer and shorter
// integers, of any shape, layout and stride; where PACKED says so, A is loaded from words of
// workgroup memory, which have four of its bytes. One subgroup.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint M = 16;
layout(constant_id = 1) const uint N = 16;
layout(constant_id = 2) const uint K = 16;
layout(constant_id = 3) const uint ROWS = 7; // bits: A, B, C and D lie by rows
layout(constant_id = 4) const uint PACKED = 0; // A comes from words of workgroup memory
layout(constant_id = 5) const uint STRIDE = 0; // 0: from the buffer
layout(constant_id = 6) const uint TURNS = 1;
layout(constant_id = 7) const uint SATURATES = 0;
layout(std430, binding = 0) readonly buffer A { T a[]; };
layout(std430, binding = 1) readonly buffer B { U b[]; };
layout(std430, binding = 2) readonly buffer C { S c[]; };
layout(std430, binding = 3) buffer D { S d[]; };
layout(std430, binding = 4) buffer P { uint stride, turns, count; int scale, bias; };
shared uint words[64 * 72 / 4];

#define LAYOUT(bit) ((ROWS & bit) != 0u ? gl_CooperativeMatrixLayoutRowMajor : gl_CooperativeMatrixLayoutColumnMajor)

void main()
{
   uint line = STRIDE != 0u ? STRIDE : stride; // a multiple of 4
   coopmat<T, gl_ScopeSubgroup, M, K, gl_MatrixUseA> x;
   coopmat<U, gl_ScopeSubgroup, K, N, gl_MatrixUseB> y;
   coopmat<S, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> z;
   if (PACKED != 0u) {
      uint lines = (ROWS & 1u) != 0u ? M : K;
      for (uint i = gl_LocalInvocationIndex; i < lines * line / 4u; i += 32u)
         words[i] = uint(uint8_t(a[4u * i])) | uint(uint8_t(a[4u * i + 1u])) << 8 |
                    uint(uint8_t(a[4u * i + 2u])) << 16 | uint(uint8_t(a[4u * i + 3u])) << 24;
      barrier();
      coopMatLoad(x, words, 0, line / 4u, LAYOUT(1u));
   } else {
      coopMatLoad(x, a, 0, line, LAYOUT(1u));
   }
   coopMatLoad(y, b, 0, line, LAYOUT(2u));
   coopMatLoad(z, c, 0, line, LAYOUT(4u));
   if (SATURATES != 0u) {
      for (uint i = 0u; i < turns; i++)
         z = coopMatMulAdd(x, y, z, gl_MatrixOperandsSaturatingAccumulation);
   } else if (TURNS != 1u) {
      for (uint i = 0u; i < turns; i++)
         z = coopMatMulAdd(x, y, z);
   } else {
      z = coopMatMulAdd(x, y, z);
   }
   z = -z * S(scale);
   for (int i = 0; i < z.length(); i++)
      z[i] += S(bias);
   coopMatStore(z, d, 0, line, LAYOUT(8u));
   if (gl_LocalInvocationIndex == 0u)
      count = uint(z.length());
}
