#version 450
// SPDX-License-Identifier: MIT
// One operation between lanes (OP) on one type (-DT_...), in one kind of control flow (MODE).
// build.sh makes subgroup_T.spv of it.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require

#if defined(T_bool)
#define T bool
#define LOAD(w) (((w).x & 1u) != 0u)
#define SAVE(v) uvec2(uint(v), 0)
#elif defined(T_uint)
#define T uint
#define LOAD(w) ((w).x)
#define SAVE(v) uvec2((v), 0)
#elif defined(T_int)
#define T int
#define LOAD(w) (int((w).x))
#define SAVE(v) uvec2(uint(v), 0)
#elif defined(T_float)
#define T float
#define LOAD(w) (uintBitsToFloat((w).x))
#define SAVE(v) uvec2(floatBitsToUint(v), 0)
#elif defined(T_float16_t)
#define T float16_t
#define LOAD(w) (uint16BitsToHalf(uint16_t((w).x)))
#define SAVE(v) uvec2(uint(halfBitsToUint16(v)), 0)
#elif defined(T_uint64_t)
#define T uint64_t
#define LOAD(w) (packUint2x32(w))
#define SAVE(v) unpackUint2x32(v)
#elif defined(T_int64_t)
#define T int64_t
#define LOAD(w) (packInt2x32(ivec2(w)))
#define SAVE(v) uvec2(unpackInt2x32(v))
#else // 8 and 16 bits
#define T TYPE
#define LOAD(w) (T((w).x))
#define SAVE(v) uvec2(uint(v), 0)
#endif

layout(local_size_x_id = 0, local_size_y_id = 4, local_size_z_id = 5) in;
layout(constant_id = 1) const int OP = 0;
layout(constant_id = 2) const int MODE = 0;
layout(constant_id = 3) const uint K = 1;
layout(std430, binding = 0) readonly buffer X { uvec2 x[]; };
layout(std430, binding = 1) readonly buffer I { uint lane[]; };
layout(std430, binding = 2) readonly buffer M { uint mask[]; };
layout(std430, binding = 3) buffer Y { uvec2 y[]; };

#define B(e) uvec2(uint(e), 0)

#if defined(T_bool)
#define NUMBERS(name, at)
#define BITS(name, at)                             \
   case at + 4: r = SAVE(name##And(v)); break;     \
   case at + 5: r = SAVE(name##Or(v)); break;      \
   case at + 6: r = SAVE(name##Xor(v)); break;
#else
#define NUMBERS(name, at)                          \
   case at + 0: r = SAVE(name##Add(v)); break;     \
   case at + 1: r = SAVE(name##Mul(v)); break;     \
   case at + 2: r = SAVE(name##Min(v)); break;     \
   case at + 3: r = SAVE(name##Max(v)); break;
#if defined(T_float) || defined(T_float16_t)
#define BITS(name, at)
#else
#define BITS(name, at)                             \
   case at + 4: r = SAVE(name##And(v)); break;     \
   case at + 5: r = SAVE(name##Or(v)); break;      \
   case at + 6: r = SAVE(name##Xor(v)); break;
#endif
#endif
#define CLUSTERS(name, size, at) case at: r = SAVE(subgroupClustered##name(v, size)); break;
#if defined(T_bool)
#define CLUSTER_NUMBERS(size, at)
#else
#define CLUSTER_NUMBERS(size, at)                                           \
   CLUSTERS(Add, size, at) CLUSTERS(Mul, size, at + 1)                      \
   CLUSTERS(Min, size, at + 2) CLUSTERS(Max, size, at + 3)
#endif
#if defined(T_float) || defined(T_float16_t)
#define CLUSTER_BITS(size, at)
#else
#define CLUSTER_BITS(size, at)                                              \
   CLUSTERS(And, size, at + 4) CLUSTERS(Or, size, at + 5) CLUSTERS(Xor, size, at + 6)
#endif
#define CLUSTER(size, at) CLUSTER_NUMBERS(size, at) CLUSTER_BITS(size, at)

uvec2 work(uint g)
{
   T v = LOAD(x[g]);
   uint k = lane[g];
   bool odd = (x[g].x & 1u) != 0u;
   uvec4 votes = uvec4(lane[gl_NumSubgroups * 32u], 7, 7, 7);
   uvec2 r = uvec2(0);
   switch (OP) {
   case 0: r = B(subgroupElect()); break;
   case 1: r = B(subgroupAll(odd)); break;
   case 2: r = B(subgroupAny(odd)); break;
   case 3: r = B(subgroupAllEqual(v)); break;
   case 4: r = SAVE(subgroupBroadcast(v, K)); break;
   case 5: r = SAVE(subgroupBroadcastFirst(v)); break;
   case 6: r = subgroupBallot(odd).xy; break;
   case 7: r = B(subgroupInverseBallot(votes)); break;
   case 8: r = B(subgroupBallotBitExtract(votes, k)); break;
   case 9: r = B(subgroupBallotBitCount(votes)); break;
   case 10: r = B(subgroupBallotInclusiveBitCount(votes)); break;
   case 11: r = B(subgroupBallotExclusiveBitCount(votes)); break;
   case 12: r = B(subgroupBallotFindLSB(votes)); break;
   case 13: r = B(subgroupBallotFindMSB(votes)); break;
   case 14: r = SAVE(subgroupShuffle(v, k)); break;
   case 15: r = SAVE(subgroupShuffleXor(v, k)); break;
   case 16: r = SAVE(subgroupShuffleUp(v, k)); break;
   case 17: r = SAVE(subgroupShuffleDown(v, k)); break;
   case 18: r = SAVE(subgroupShuffleXor(v, K)); break;
   case 19: r = SAVE(subgroupShuffleUp(v, K)); break;
   case 20: r = SAVE(subgroupShuffleDown(v, K)); break;
   case 21: r = SAVE(subgroupShuffle(v, K)); break;
   case 22: r = SAVE(subgroupQuadBroadcast(v, 2)); break;
   case 23: r = SAVE(subgroupQuadSwapHorizontal(v)); break;
   case 24: r = SAVE(subgroupQuadSwapVertical(v)); break;
   case 25: r = SAVE(subgroupQuadSwapDiagonal(v)); break;
   case 26: r = SAVE(subgroupBroadcast(v, lane[gl_NumSubgroups * 32u] & 31u)); break;
   case 27: r = gl_SubgroupEqMask.xy; break;
   case 28: r = gl_SubgroupGeMask.xy; break;
   case 29: r = gl_SubgroupGtMask.xy; break;
   case 30: r = gl_SubgroupLeMask.xy; break;
   case 31: r = gl_SubgroupLtMask.xy; break;
   case 32: r = uvec2(gl_SubgroupInvocationID, gl_SubgroupID); break;
   case 33: r = uvec2(gl_NumSubgroups, gl_SubgroupSize); break;
   NUMBERS(subgroup, 40)
   BITS(subgroup, 40)
   NUMBERS(subgroupInclusive, 50)
   BITS(subgroupInclusive, 50)
   NUMBERS(subgroupExclusive, 60)
   BITS(subgroupExclusive, 60)
   CLUSTER(1, 70)
   CLUSTER(2, 80)
   CLUSTER(4, 90)
   CLUSTER(8, 100)
   CLUSTER(16, 110)
   CLUSTER(32, 120)
   }
   return r;
}

// Bit 16 + pass of the mask: the result is defined.
void save(uint g, uint pass, uvec2 r)
{
   if ((mask[g] >> (16u + pass) & 1u) != 0u)
      y[pass * gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z + g] = r;
}

void main()
{
   uint g = gl_LocalInvocationIndex;
   if (MODE == 0) {
      save(g, 0, work(g));
   } else if (MODE == 1) {
      if ((mask[g] & 1u) != 0u)
         save(g, 0, work(g));
   } else if (MODE == 2) {
      if ((mask[g] & 1u) == 0u)
         return;
      save(g, 0, work(g));
   } else {
      for (uint i = 0; i < 3u; i++) {
         if ((mask[g] >> i & 1u) == 0u)
            continue;
         if (i == 2u && (mask[g] & 8u) != 0u)
            break;
         save(g, i, work(g));
      }
   }
}
