#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_vote : require
// One operation on 64-bit floats, which the caller chooses, of three numbers (doubles_test.c).
layout(local_size_x = 32) in;
layout(constant_id = 0) const int operation = 0;
layout(constant_id = 1) const double factor = 1.0 / 3;
shared double exchanged[32];
layout(set = 0, binding = 0) readonly buffer Numbers { double numbers[]; };
layout(set = 0, binding = 1) buffer Results { double results[]; };

double of(int64_t x) { return int64BitsToDouble(x); }
double of(float x) { return of(int64_t(floatBitsToUint(x))); }
double of(bool x) { return of(int64_t(x ? 1 : 0)); }

double arithmetic(double x, double y, double z)
{
   int n;
   switch (operation) {
   case 0: return x + y;
   case 1: return x - y;
   case 2: return x * y;
   case 3: return x / y;
   case 4: return sqrt(x);
   case 5: return fma(x, y, z);
   case 6: return -x;
   case 7: return abs(x);
   case 8: return floor(x);
   case 9: return ceil(x);
   case 10: return trunc(x);
   case 11: return roundEven(x);
   case 12: return min(x, y);
   case 13: return max(x, y);
   case 14: return ldexp(x, int(uint(doubleBitsToInt64(y)) % 4400u) - 2200);
   case 15: return frexp(x, n);
   case 16: frexp(x, n); return of(int64_t(n));
   case 17: return of(x == y);
   case 18: return of(x != y);
   case 19: return of(x < y);
   case 20: return of(x >= y);
   case 21: return of(!(x < y));
   case 22: return of(!(x >= y));
   case 23: return of(isnan(x));
   case 24: return of(isinf(x));
   default: return x;
   }
}

double conversion(double x)
{
   int64_t bits = doubleBitsToInt64(x);
   switch (operation) {
   case 25: return of(float(x));
   case 26: return of(int64_t(float16BitsToUint16(float16_t(x))));
   case 27: return double(intBitsToFloat(int(bits)));
   case 28: return double(uint16BitsToFloat16(uint16_t(bits)));
   case 29: return of(int64_t(int8_t(x)));
   case 30: return of(int64_t(uint8_t(x)));
   case 31: return of(int64_t(int16_t(x)));
   case 32: return of(int64_t(uint16_t(x)));
   case 33: return of(int64_t(int(x)));
   case 34: return of(int64_t(uint(x)));
   case 35: return of(int64_t(x));
   case 36: return of(int64_t(uint64_t(x)));
   case 37: return double(int8_t(bits));
   case 38: return double(uint8_t(bits));
   case 39: return double(int16_t(bits));
   case 40: return double(uint16_t(bits));
   case 41: return double(int(bits));
   case 42: return double(uint(bits));
   case 43: return double(bits);
   case 44: return double(uint64_t(bits));
   default: return x;
   }
}

double composed(double x, double y, double z)
{
   double whole;
   switch (operation) {
   case 45: return mod(x, y);
   case 46: return fract(x);
   case 47: return sign(x);
   case 48: return modf(x, whole);
   case 49: modf(x, whole); return whole;
   case 50: return clamp(x, y, z);
   case 51: return mix(x, y, z);
   case 52: return step(x, y);
   case 53: return smoothstep(x, y, z);
   case 54: return inversesqrt(x);
   case 55: return length(dvec2(x, y));
   case 56: return distance(x, y);
   case 57: return dot(dvec3(x, y, z), dvec3(y, z, x));
   case 58: return normalize(dvec2(x, y)).y;
   case 59: return cross(dvec3(x, y, z), dvec3(y, z, x)).x;
   case 60: return faceforward(dvec2(x, y), dvec2(y, z), dvec2(z, x)).x;
   case 61: return reflect(dvec2(x, y), dvec2(y, z)).x;
   case 62: return refract(dvec2(x, y), dvec2(y, z), x).x;
   case 63: return packDouble2x32(unpackDouble2x32(x).yx);
   case 64: return (dmat2(x, y, z, x) * dvec2(y, z)).x;
   case 65: return determinant(dmat2(x, y, z, x));
   case 66: return (dvec2(x, y) * z).y;
   case 67: return x < y ? z : x;
   case 68: return round(x);
   default: return x;
   }
}

double moved(double x, double y, double z)
{
   uint i = gl_LocalInvocationIndex, bits = unpackDouble2x32(y).x;
   double three[3] = double[](x, y, z);
   precise double sum = z; // spirv-opt would make Fma of it
   switch (operation) {
   case 69: return subgroupMin(x);
   case 70: return subgroupMax(x);
   case 71: return subgroupShuffleXor(x, 5);
   case 72:
      exchanged[i] = x;
      subgroupBarrier();
      return exchanged[31 - i];
   case 73: return three[bits % 3];
   case 74: return x * factor;
   case 75:
      for (uint k = 0; k < bits % 8; k++)
         sum = sum < y ? sum * y + x : sum - x;
      return sum;
   default: return x;
   }
}

// Small whole numbers, and powers of two of both signs: sums and products of 32 are exact.
double whole(double x) { return double(int(unpackDouble2x32(x).x % 64u) - 32); }

double power(double x)
{
   uint bits = unpackDouble2x32(x).x;
   return ldexp((bits & 4u) != 0u ? -1.0LF : 1.0LF, int(bits & 3u) - 1);
}

double gathered(double x, double y, double z)
{
   uint i = gl_LocalInvocationIndex, bits = unpackDouble2x32(y).x;
   double number = isnan(x) ? 0.0LF : x;
   switch (operation) {
   case 76: return subgroupAdd(whole(x));
   case 77: return subgroupInclusiveAdd(whole(x));
   case 78: return subgroupExclusiveAdd(whole(x));
   case 79: return subgroupClusteredAdd(whole(x), 8);
   case 80: return subgroupMul(power(x));
   case 81: return subgroupExclusiveMul(power(x));
   case 82: return subgroupExclusiveMin(number);
   case 83: return subgroupInclusiveMax(number);
   case 84:
      if ((bits & 1u) != 0u)
         return subgroupAdd(whole(x));
      return z;
   case 85:
      if ((bits & 1u) != 0u)
         return subgroupClusteredMul(power(x), 4);
      return z;
   case 86: return of(subgroupAllEqual(bits % 16u == 0u ? whole(x) : 33.0LF));
   case 87: return subgroupBroadcast(x, 5);
   case 88:
      if ((bits & 1u) != 0u)
         return subgroupBroadcastFirst(x);
      return z;
   case 89: {
      double got = subgroupShuffleUp(x, 3);
      return i < 3u ? z : got;
   }
   case 90: return subgroupQuadSwapHorizontal(x);
   case 91: return subgroupShuffle(dvec2(x, y), i ^ 9u).y;
   default: return x;
   }
}

void main()
{
   uint i = gl_LocalInvocationIndex;
   double x = numbers[3 * i], y = numbers[3 * i + 1], z = numbers[3 * i + 2];
   results[i] = operation < 25   ? arithmetic(x, y, z)
                : operation < 45 ? conversion(x)
                : operation < 69 ? composed(x, y, z)
                : operation < 76 ? moved(x, y, z)
                                 : gathered(x, y, z);
}
