// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { float16_t a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float16_t r[][56]; };
void main()
{
   uint i = gl_LocalInvocationIndex;
   float16_t x = a[2 * i], y = a[2 * i + 1], p = abs(x), q = fract(p);
   const float16_t one = float16_t(1), h = float16_t(0.5);
   float16_t whole;
   int e;
   r[i][0] = x + y;
   r[i][1] = x - y;
   r[i][2] = x * y;
   r[i][3] = x / y;
   r[i][4] = fma(x, y, one);
   r[i][5] = mod(x, y);
   r[i][6] = floor(x);
   r[i][7] = ceil(x);
   r[i][8] = trunc(x);
   r[i][9] = roundEven(x);
   r[i][10] = sqrt(p);
   r[i][11] = inversesqrt(p);
   r[i][12] = exp2(x);
   r[i][13] = log2(p);
   r[i][14] = exp(x);
   r[i][15] = log(p);
   r[i][16] = pow(p, h);
   r[i][17] = sin(x);
   r[i][18] = cos(x);
   r[i][19] = tan(q);
   r[i][20] = asin(q);
   r[i][21] = acos(q);
   r[i][22] = atan(x);
   r[i][23] = atan(x, y);
   r[i][24] = sinh(q);
   r[i][25] = cosh(q);
   r[i][26] = tanh(x);
   r[i][27] = asinh(x);
   r[i][28] = acosh(one + p);
   r[i][29] = atanh(q * h);
   r[i][30] = min(x, y);
   r[i][31] = max(x, y);
   r[i][32] = clamp(x, -one, one);
   r[i][33] = mix(x, y, q);
   r[i][34] = step(x, y);
   r[i][35] = smoothstep(-one, one, q);
   r[i][36] = sign(x);
   r[i][37] = modf(x, whole);
   r[i][38] = whole;
   r[i][39] = frexp(x, e);
   r[i][40] = float16_t(e);
   r[i][41] = ldexp(x, 2);
   r[i][42] = length(f16vec3(x, y, one));
   r[i][43] = distance(f16vec2(x, y), f16vec2(one, h));
   r[i][44] = dot(f16vec2(x, y), f16vec2(y, h));
   r[i][45] = normalize(f16vec3(x, y, one)).y;
   r[i][46] = cross(f16vec3(x, y, one), f16vec3(y, one, x)).z;
   r[i][47] = reflect(f16vec2(x, y), f16vec2(one, 0)).x;
   r[i][48] = determinant(f16mat2(x, one, y, h));
   r[i][49] = radians(x);
   r[i][50] = degrees(q);
   r[i][51] = isnan(x) || isinf(y) ? one : h;
   r[i][52] = x < y && x != y ? x : y;
   r[i][53] = float16_t(float(x) * float(y));
   r[i][54] = float16_t(int(x)) + float16_t(uint16_t(p));
   r[i][55] = unpackFloat2x16(packFloat2x16(f16vec2(x, y))).y;
}
