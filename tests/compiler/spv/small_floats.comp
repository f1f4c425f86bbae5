#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_float_e4m3 : require
#extension GL_EXT_float_e5m2 : require
// One conversion from or to bfloat16, E4M3 or E5M2, which the caller chooses (small_floats_test.c).
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint operation = 0;
layout(set = 0, binding = 0) readonly buffer In { uint64_t given[]; };
layout(set = 0, binding = 1) buffer Out { uint64_t results[]; };

#define B bfloat16_t
#define E floate4m3_t
#define F floate5m2_t
uint16_t bits(B x) { return bfloat16BitsToUintEXT(x); }
uint8_t bits(E x) { return floate4m3BitsToUintEXT(x); }
uint8_t bits(F x) { return floate5m2BitsToUintEXT(x); }
uint bits(float x) { return floatBitsToUint(x); }
uint16_t bits(float16_t x) { return float16BitsToUint16(x); }
uint64_t bits(double x) { return doubleBitsToUint64(x); }
B b_of(uint64_t x) { return uintBitsToBFloat16EXT(uint16_t(x)); }
E e_of(uint64_t x) { return uintBitsToFloate4m3EXT(uint8_t(x)); }
F f_of(uint64_t x) { return uintBitsToFloate5m2EXT(uint8_t(x)); }
float single_of(uint64_t x) { return uintBitsToFloat(uint(x)); }
float16_t half_of(uint64_t x) { return uint16BitsToFloat16(uint16_t(x)); }
double double_of(uint64_t x) { return uint64BitsToDouble(x); }

// To T from each type; MAKE converts.
#define TO(first, MAKE, T)                                                                         \
   case first + 0: return uint64_t(MAKE(T, single_of(x)));                                         \
   case first + 1: return uint64_t(MAKE(T, half_of(x)));                                           \
   case first + 2: return uint64_t(MAKE(T, double_of(x)));                                         \
   case first + 3: return uint64_t(MAKE(T, int(x)));                                               \
   case first + 4: return uint64_t(MAKE(T, uint(x)));                                              \
   case first + 5: return uint64_t(MAKE(T, int16_t(x)));                                           \
   case first + 6: return uint64_t(MAKE(T, uint16_t(x)));                                          \
   case first + 7: return uint64_t(MAKE(T, int8_t(x)));                                            \
   case first + 8: return uint64_t(MAKE(T, uint8_t(x)));                                           \
   case first + 9: return uint64_t(MAKE(T, int64_t(x)));                                           \
   case first + 10: return uint64_t(MAKE(T, x));                                                   \
   case first + 11: return uint64_t(MAKE(T, b_of(x)));
#define TO_FROM_8(first, T)                                                                        \
   case first + 12: return uint64_t(bits(T(e_of(x))));                                             \
   case first + 13: return uint64_t(bits(T(f_of(x))));
#define FROM(first, of)                                                                            \
   case first + 0: return uint64_t(bits(float(of(x))));                                            \
   case first + 1: return uint64_t(bits(float16_t(of(x))));                                        \
   case first + 2: return bits(double(of(x)));                                                     \
   case first + 3: return uint64_t(int(of(x)));                                                    \
   case first + 4: return uint64_t(uint(of(x)));                                                   \
   case first + 5: return uint64_t(int16_t(of(x)));                                                \
   case first + 6: return uint64_t(uint16_t(of(x)));                                               \
   case first + 7: return uint64_t(int8_t(of(x)));                                                 \
   case first + 8: return uint64_t(uint8_t(of(x)));                                                \
   case first + 9: return uint64_t(int64_t(of(x)));                                                \
   case first + 10: return uint64_t(of(x));
#define PLAIN(T, value) bits(T(value))
#define SATURATED(T, value) saturated_##T(value)
#define DEFINE(T, from) uint8_t saturated_##T(from x) { T y; saturatedConvertEXT(y, x); return bits(y); }
#define DEFINE_ALL(from) DEFINE(floate4m3_t, from) DEFINE(floate5m2_t, from)
DEFINE_ALL(float) DEFINE_ALL(float16_t) DEFINE_ALL(double)
DEFINE_ALL(int) DEFINE_ALL(uint) DEFINE_ALL(int16_t) DEFINE_ALL(uint16_t) DEFINE_ALL(int8_t)
DEFINE_ALL(uint8_t) DEFINE_ALL(int64_t) DEFINE_ALL(uint64_t)
DEFINE_ALL(B)

uint64_t convert(uint64_t x)
{
   switch (operation) {
   TO(0, PLAIN, B) TO_FROM_8(0, B)
   TO(16, PLAIN, E) TO_FROM_8(16, E)
   TO(32, PLAIN, F) TO_FROM_8(32, F)
   TO(64, SATURATED, floate4m3_t)
   TO(80, SATURATED, floate5m2_t)
   FROM(96, b_of)
   FROM(112, e_of)
   FROM(128, f_of)
   }
   return 0ul;
}

void main()
{
   for (uint k = 0; k < 8; k++) {
      uint i = k * 32 + gl_LocalInvocationIndex;
      results[i] = convert(given[i]);
   }
}
