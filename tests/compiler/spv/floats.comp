// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { float a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float r[][32]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   float x = a[i], u = fract(abs(x)); // u in 0 .. 1
   int e;
   float whole;
   r[i][0] = round(x) + trunc(x) * 10;
   r[i][1] = floor(x) + ceil(x) * 10;
   r[i][2] = sign(x);
   r[i][3] = radians(x);
   r[i][4] = degrees(x);
   r[i][5] = sin(x);
   r[i][6] = cos(x);
   r[i][7] = tan(x);
   r[i][8] = asin(2 * u - 1);
   r[i][9] = acos(2 * u - 1);
   r[i][10] = atan(x);
   r[i][11] = atan(x, u - 0.5);
   r[i][12] = sinh(x);
   r[i][13] = cosh(x);
   r[i][14] = tanh(x);
   r[i][15] = asinh(x);
   r[i][16] = acosh(1 + abs(x));
   r[i][17] = atanh(u * 0.9 - 0.45);
   r[i][18] = pow(abs(x), u);
   r[i][19] = exp(x);
   r[i][20] = log(abs(x) + 0.01);
   r[i][21] = inversesqrt(abs(x) + 1);
   r[i][22] = mix(x, 3.0, u);
   r[i][23] = step(0.5, u) + smoothstep(-2.0, 2.0, x) * 4;
   r[i][24] = fma(x, u, 2.0);
   r[i][25] = frexp(x, e);
   r[i][26] = float(e);
   r[i][27] = ldexp(u + 1, int(x));
   r[i][28] = modf(x, whole) + whole * 16;
   r[i][29] = mod(x, 1.7);
   r[i][30] = clamp(x, -1, 1) + min(x, u) * max(x, u);
   r[i][31] = (isnan(x) ? 1 : 0) + (isinf(x) ? 2 : 0) + (x != u ? 4 : 0);
}
