/* SPDX-License-Identifier: MIT
 *
 * Not a test: how long the simulator takes for an instruction of 32 lanes, by kind,
 * and for an inner loop as of a matrix product. Prints nanoseconds.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"

static const struct {
   const char *name, *body;
} rows[] = {
   {"mov", "mov d=r5 a=r6"},
   {"iadd", "iadd d=r5 a=r5 b=r6"},
   {"iadd imm", "iadd d=r5 a=r5 b=1"},
   {"iadd 64", "iadd d=dr6 a=dr6 b=r5 shift=lsl2"},
   {"iadd 16", "iadd d=r5l a=r5l b=r6h"},
   {"imadd", "imadd d=r5 a=r5 b=r6 c=r7"},
   {"and", "and d=r5 a=r5 b=r6"},
   {"shl", "shl d=r5 b=r5 c=3"},
   {"fadd", "fadd d=r5 a=r5 b=r6"},
   {"fmul", "fmul d=r5 a=r5 b=r6"},
   {"ffma", "ffma d=r5 a=r8 b=r6 c=r5"},
   {"ffma uniform", "ffma d=r5 a=r8 b=u8 c=r5"},
   {"ffma neg", "ffma d=r5 a=r8.neg b=r6 c=r5"},
   {"ffma half", "ffma d=r5 a=r8l b=r6h c=r5"},
   {"hfma", "hfma d=r5l a=r8l b=r6h c=r5l"},
   {"rcp", "rcp d=r5 a=r6"},
   {"exp2", "exp2 d=r5 a=r6"},
   {"log2", "log2 d=r5 a=r6"},
   {"sinc", "sinc d=r5 a=r6"},
   {"rsqrt", "rsqrt d=r5 a=r6"},
   {"u32_to_f", "u32_to_f d=r5 a=r6 round=rte"},
   {"f_to_u32", "f_to_u32 d=r5 a=r6 round=rtz"},
   {"mfsr", "mfsr d=r5 sr=thread_in_grid_x"},
   {"icsel", "icsel d=r5 a=r5 b=r6 x=r7 y=r8 cond=ult"},
   {"fcsel", "fcsel d=r5 a=r5 b=r6 x=r7 y=r8 cond=flt"},
   {"if pop", "if_icmp a=r5 b=r6 nest=1 cond=ieq; pop_exec nest=1"},
   {"if else pop",
    "if_icmp a=r5 b=r6 nest=1 cond=ieq; else_fcmp a=0.0 b=0.0 nest=1 cond=feq; pop_exec nest=1"},
   {"load i32", "load r=r5 base=du0 index=r1 format=i32 mask=x group=a"},
   {"load i32 same", "load r=r5 base=du0 index=r2 format=i32 mask=x group=a"},
   {"load i32x4", "load r=r8..r11 base=du0 index=r1 format=i32 mask=xyzw group=a"},
   {"load f16", "load r=r5l base=du0 index=r1 format=f16 mask=x group=a"},
   {"store i32", "store r=r5 base=du0 index=r1 format=i32 mask=x group=a"},
   {"atomic add", "atomic r=none s=r5 base=du0 index=r1 op=add coherency=coherent1 group=a"},
   {"atomic same", "atomic r=none s=r5 base=du0 index=r2 op=add coherency=coherent1 group=a"},
   {"lload", "lload r=r5 base=none index=r1l format=i32 mask=x"},
   {"lload x4", "lload r=r8..r11 base=none index=r1l format=i32 mask=xyzw"},
   {"lstore", "lstore r=r5 base=none index=r1l format=i32 mask=x"},
   {"shuffle", "shuffle d=r5 a=r6 b=1 window=simd op=xor"},
   {"simd fadd", "simd d=r5 a=r6 op=fadd"},
   {"wait", "wait group=a"},
};

static const char *const matrix_loop =
   "ldimm16 d=r0l imm=0\nmov d=r5 a=0\nmov d=r6 a=0\nmov d=r2 a=0\n"
   "mfsr d=r1 sr=thread_index_in_simdgroup\nmov d=r7 a=r1\n"
   "top:\n"
   "load r=r3 base=du0 index=r6 format=i32 mask=x group=a\n"
   "load r=r4 base=du4 index=r7 format=i32 mask=x group=a\n"
   "iadd d=r6 a=r6 b=1\niadd d=r7 a=r7 b=1\n"
   "wait group=a\n"
   "ffma d=r5 a=r3 b=r4 c=r5\n"
   "iadd d=r2 a=r2 b=1\n"
   "while_icmp a=r2 b=u2 nest=1 cond=ult\n"
   "jmp_any offset=@top\n"
   "pop_exec nest=1\n"
   "store r=r5 base=du0 index=r1 format=i32 mask=x group=a";

static double now_ns(void)
{
   struct timespec time;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
   return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds for each instruction of a SIMD-group. */
static double measure(const char *program)
{
   struct sim_launch launch;
   sim_launch_init(&launch, program);
   launch.grid[0] = 256, launch.local[0] = 256;
   launch.shared_bytes = 4096;
   launch.uniform[0] = SIM_DATA;
   launch.uniform[1] = 1000;
   launch.uniform[2] = SIM_DATA + 0x4000;
   sim_map(&launch.memory, SIM_DATA, 0x10000, true);
   double spent = 1e18;
   for (int round = 0; round < 3; round++) {
      double start = now_ns();
      assert_ok(sim_launch_run(&launch));
      spent = AGX_MIN(spent, now_ns() - start);
   }
   double instructions = (double)launch.stats.instructions;
   sim_launch_fini(&launch);
   return spent / instructions;
}

static double measure_body(const char *body, unsigned copies)
{
   char program[8192] = "ldimm16 d=r0l imm=0\nmfsr d=r1 sr=thread_index_in_simdgroup\n"
                        "mov d=r2 a=0\nmov d=r3 a=1\nmov d=r5 a=0\nmov d=r6 a=0\nmov d=r7 a=0\n"
                        "mov d=r8 a=0\ntop:\n";
   for (unsigned i = 0; i < copies; i++) {
      strcat(program, body);
      strcat(program, "\n");
   }
   strcat(program, "iadd d=r3 a=r3 b=1\nwhile_icmp a=r3 b=u2 nest=1 cond=ult\n"
                   "jmp_any offset=@top\npop_exec nest=1");
   return measure(program);
}

/* All rows, or those whose names start with the argument. */
int main(int argc, char **argv)
{
   const char *only = argc > 1 ? argv[1] : "";
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      if (strncmp(rows[i].name, only, strlen(only)) == 0)
         printf("%-14s %7.1f ns\n", rows[i].name, measure_body(rows[i].body, 32));
   }
   if (strncmp("matrix loop", only, strlen(only)) == 0)
      printf("%-14s %7.1f ns\n", "matrix loop", measure(matrix_loop));
   return 0;
}
