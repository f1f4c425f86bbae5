#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) buffer B { float b[]; };

float shape(float x) // inlined
{
   float y = x * 2.0;
   return y + sin(x);
}

void main()
{
   uint i = gl_GlobalInvocationID.x;
   float sum = 0.0;
   for (uint k = 0; k < 4; k++) // unrolled
      sum += a[i + k];
   float turned = 0.25;
   if (sum > 1.0) // becomes a select
      turned = sum - 3.0;
   b[i] = shape(turned);
   if (i == 7) // stays a branch
      b[0] = 1.0 / b[1];
}
