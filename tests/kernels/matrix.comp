#version 450
// SPDX-License-Identifier: MIT
// D = -(A B + C) * scale + bias * element-wise things, of any shape, type (T of A and B, S of C
// and D), layout and stride; from buffers or through workgroup memory. One subgroup.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint M = 8;
layout(constant_id = 1) const uint N = 8;
layout(constant_id = 2) const uint K = 8;
layout(constant_id = 3) const uint ROWS = 7; // bits: A, B, C and D lie by rows
layout(constant_id = 4) const uint SHARED = 0;
layout(constant_id = 5) const uint STRIDE = 0; // 0: from the buffer
layout(constant_id = 6) const uint TURNS = 1;
layout(std430, binding = 0) readonly buffer A { T a[]; };
layout(std430, binding = 1) readonly buffer B { T b[]; };
layout(std430, binding = 2) readonly buffer C { S c[]; };
layout(std430, binding = 3) buffer D { S d[]; };
layout(std430, binding = 4) buffer P { uint stride, turns, count; float scale; };
shared T sa[64 * 72];
shared S sc[32 * 40];

#define LAYOUT(bit) ((ROWS & bit) != 0u ? gl_CooperativeMatrixLayoutRowMajor : gl_CooperativeMatrixLayoutColumnMajor)

void main()
{
   uint line = STRIDE != 0u ? STRIDE : stride;
   coopmat<T, gl_ScopeSubgroup, M, K, gl_MatrixUseA> x;
   coopmat<T, gl_ScopeSubgroup, K, N, gl_MatrixUseB> y;
   coopmat<S, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> z;
   if (SHARED != 0u) {
      uint lines = (ROWS & 1u) != 0u ? M : K;
      for (uint i = gl_LocalInvocationIndex; i < lines * line; i += 32u)
         sa[i] = a[i];
      barrier();
      coopMatLoad(x, sa, 0, line, LAYOUT(1u));
   } else {
      coopMatLoad(x, a, 0, line, LAYOUT(1u));
   }
   coopMatLoad(y, b, 0, line, LAYOUT(2u));
   coopMatLoad(z, c, 0, line, LAYOUT(4u));
   if (TURNS != 1u) {
      for (uint i = 0u; i < turns; i++)
         z = coopMatMulAdd(x, y, z);
   } else {
      z = coopMatMulAdd(x, y, z);
   }
   z = -z * S(scale);
   for (int i = 0; i < z.length(); i++)
      z[i] += S(1.0);
   z = z + coopmat<S, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(S(2.0));
   coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> wide =
      coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(z);
   if (turns > 1u)
      wide = wide * wide;
   z = coopmat<S, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(wide);
   coopMatStore(z, d, 0, line, LAYOUT(8u));
   if (gl_LocalInvocationIndex == 0u)
      count = uint(z.length());
}
