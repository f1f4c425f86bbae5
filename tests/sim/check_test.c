/* SPDX-License-Identifier: MIT
 *
 * Check mode: each fault planted here is found, with register, lane and cause in the
 * text, and its corrected twin passes. Then what the shadow of definedness knows of
 * each operation: which bits of a result undefined bits can change.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Memory at u0 to read and write. Only r0, r1 (the lane's number) and r2 (0) are defined. */
static agx_status run(const char *program, bool is_preamble)
{
   struct sim_memory memory;
   sim_memory_init(&memory);
   uint8_t *data = sim_map(&memory, SIM_DATA, 0x4000, true);
   agxs_put_le32(data, 77);
   char text[2000];
   snprintf(text, sizeof(text), "ldimm32 d=r0 imm=0\nmov d=r2 a=0\n%s%s",
            is_preamble ? "mov d=r1 a=0\n" : "mfsr d=r1 sr=thread_index_in_simdgroup\n", program);
   struct sim_group *group = sim_group_new(text);
   group->memory = &memory;
   group->options.check = true;
   group->is_undefined = true;
   group->is_preamble = is_preamble;
   group->halves = 64;
   group->shared_bytes = 256;
   group->stack_words = 16;
   for (unsigned i = 0; i < 4; i++)
      group->uniform[i] = (uint16_t)(SIM_DATA >> 16 * i);
   agx_status status = sim_group_run(group);
   free(group);
   sim_memory_fini(&memory);
   return status;
}

static agx_status check(const char *program)
{
   return run(program, false);
}

#define FAULT(program, text) assert_fails(check(program), AGX_FAILED_PRECONDITION, text)
#define SOUND(program)       assert_ok(check(program))
#define LOAD(r, g)           "load r=" r " base=du0 index=0 format=i32 mask=x group=" g "\n"
#define STORE(r)             "store r=" r " base=du0 index=r1 format=i32 mask=x group=a\n"
#define ADD_ONE(d, a)        "iadd d=" d " a=" a " b=1\n"

static void finds_a_missing_wait(void **state)
{
   FAULT(LOAD("r3", "a") STORE("r3"), "r3l is read while an operation of group a will write it");
   FAULT(LOAD("r3", "b") "wait group=a\n" STORE("r3"), "r3l is read while an operation of group b");
   FAULT(LOAD("r3", "a") "mov d=r3h a=1", "r3h is written while an operation of group a");
   FAULT(LOAD("r3", "a") LOAD("r3", "b"), "r3l is written while an operation of group a");
   FAULT(
      "atomic r=r3 s=r1 base=du0 index=1 op=add coherency=coherent1 group=b\n" ADD_ONE("r4", "r3"),
      "r3l is read while an operation of group b");
   SOUND(LOAD("r3", "a") "wait group=a\n" STORE("r3"));
   SOUND(LOAD("r3", "b") "wait group=b\nmov d=r3h a=1");
   /* Sources of a store are read at once; a wait covers the whole group. */
   SOUND(STORE("r1") "mov d=r1 a=1");
   SOUND(LOAD("r3", "a") LOAD("r4", "a") "wait group=a\niadd d=r5 a=r3 b=r4\n" STORE("r5"));
}

static void finds_what_a_barrier_leaves_open(void **state)
{
   FAULT(LOAD("r3", "a") "barrier", "1 operations of group a and 0 of b are outstanding");
   FAULT(STORE("r1") "memory_barrier", "1 operations of group a and 0 of b are outstanding");
   for (unsigned i = 1; i <= 4; i++) {
      char program[256];
      snprintf(program, sizeof(program), STORE("r1") "image_barrier_%u", i);
      FAULT(program, "1 operations of group a and 0 of b are outstanding");
      snprintf(program, sizeof(program), LOAD("r3", "a") "image_barrier_%u", i);
      SOUND(program);
   }
   SOUND(STORE("r1") "wait group=a\nmemory_barrier");
   SOUND(LOAD("r3", "b") "wait group=b\nbarrier");
}

static void finds_a_ninth_operation(void **state)
{
   char program[1200] = "";
   for (unsigned i = 0; i < 8; i++)
      strcat(program, STORE("r1"));
   SOUND(program);
   char more[1400];
   snprintf(more, sizeof(more), "%swait group=a\n%s", program, STORE("r1"));
   SOUND(more);
   strcat(program, STORE("r1"));
   FAULT(program, "a ninth operation outstanding in group a");
}

static void finds_a_discard_too_early(void **state)
{
   FAULT(
      "mov d=r3 a=7\niadd d=r4 a=^r3 b=1\n" STORE("r3"),
      "r3 of lane 0 (thread 0) reaches device memory, but bits 0xffffffff are undefined: pc 0x16 "
      "discarded it");
   FAULT("mov d=r3 a=7\niadd d=r4 a=^r3l b=1\n" STORE("r3"),
         "r3 of lane 0 (thread 0) reaches device "
         "memory, but bits 0xffff are undefined");
   SOUND("mov d=r3 a=7\niadd d=r4 a=r3 b=1\n" STORE("r3"));
   SOUND("mov d=r3 a=7\niadd d=r3 a=^r3 b=1\n" STORE("r3"));
   SOUND("mov d=r3 a=7\niadd d=r4 a=^r3l b=1\n" STORE("r4"));
}

/* The inactive lanes lose what they had, even where active ones write the same register. */
#define EVEN(body)                                                                                 \
   "mov d=r3 a=7\nand d=r4 a=r1 b=1\nif_icmp a=r4 b=0 nest=1 cond=ieq\n" body "pop_exec nest=1\n"
static void finds_a_discard_in_divergent_code(void **state)
{
   FAULT(EVEN("iadd d=r3 a=^r3 b=1\n") STORE("r3"),
         "r3 of lane 1 (thread 1) reaches device memory");
   FAULT(EVEN("iadd d=r5 a=^r3 b=1\n") STORE("r3"),
         "r3 of lane 0 (thread 0) reaches device memory");
   SOUND(EVEN("iadd d=r3 a=r3 b=1\n") STORE("r3"));
   /* Lost, but no lane reads it any more. */
   SOUND(EVEN("iadd d=r3 a=^r3 b=1\n") STORE("r1"));
}

static void finds_registers_beyond_the_count(void **state)
{
   assert_fails(check("mov d=r32l a=1"), AGX_INVALID_ARGUMENT,
                "mov d=r32l a=1: a register beyond the count that the launch declares");
   assert_fails(check("load r=r31..r32 base=du0 index=0 format=i32 mask=xy group=a"),
                AGX_INVALID_ARGUMENT, "a register beyond the count that the launch declares");
   SOUND("mov d=r31h a=1");
   SOUND("load r=r30..r31 base=du0 index=0 format=i32 mask=xy group=a");
}

static void finds_code_outside_of_the_window(void **state)
{
   assert_fails(check("jmp_any offset=-1000"), AGX_INVALID_ARGUMENT,
                "the jump leaves the 4 GiB window of code");
   assert_fails(check("jmp_any offset=1000000"), AGX_DATA_LOSS, "code fetch from unmapped memory");
   SOUND("jmp_any offset=@end\nend:\nmov d=r3 a=1");
   /* Only who goes there fails. */
   SOUND("jmp_none offset=-1000\nmov d=r3 a=1");
}

static void finds_lanes_that_part_at_a_jump(void **state)
{
   FAULT("ret target=r1", "lane 0 goes to 0x0, lane 1 to 0x1");
   FAULT("mov d=r3 a=r1\ncall_reg target=r3", "lane 0 goes to 0x0, lane 1 to 0x1");
   SOUND("call offset=@end\njmp_any offset=@out\nend:\nret target=r1\nout:\nmov d=r3 a=1");
}

static void finds_uninitialised_reads(void **state)
{
   FAULT(STORE("r9"), "r9 of lane 0 (thread 0) reaches device memory, but bits 0xffffffff are "
                      "undefined: nothing wrote it");
   FAULT("mov d=r9l a=1\n" STORE("r9"), "bits 0xffff0000 are undefined: nothing wrote it");
   FAULT("load r=r3 base=dr8 index=0 format=i32 mask=x group=a", "r8 of lane 0 (thread 0) reaches "
                                                                 "an address");
   FAULT("mov d=r8 a=1\nload r=r3 base=dr8 index=0 format=i32 mask=x group=a",
         "r9 of lane 0 (thread 0) reaches an address");
   FAULT("load r=r3 base=du0 index=r9 format=i32 mask=x group=a",
         "r9 of lane 0 (thread 0) reaches an "
         "address");
   FAULT("atomic r=none s=r9 base=du0 index=0 op=add coherency=coherent1 group=a",
         "r9 of lane 0 (thread 0) reaches device memory");
   FAULT("atomic r=none s=r1 base=du0 index=r9 op=add coherency=coherent1 group=a",
         "r9 of lane 0 (thread 0) reaches an address");
   FAULT("if_icmp a=r9 b=0 nest=1 cond=ieq", "r9 of lane 0 (thread 0) reaches a branch");
   FAULT("if_fcmp a=0.0 b=r9l nest=1 cond=feq", "r9l of lane 0 (thread 0) reaches a branch");
   FAULT("mov d=r0l a=r9l\nupdate_exec", "r0l of lane 0 (thread 0) reaches the execution mask");
   FAULT("ret target=r9", "r9 of lane 0 (thread 0) reaches a jump");
   FAULT("lload r=r3 base=r9l index=0 format=i32 mask=x",
         "r9l of lane 0 (thread 0) reaches an address");
   FAULT("stack_adjust index=4\nstack_load r=r3 index=r9 format=i32 mask=x group=a",
         "r9 of lane 0 (thread 0) reaches an address");
   FAULT("ballot d=r3\nicsel d=r3 a=r1 b=20 x=r3 y=r9 cond=ult\n" STORE("r3"),
         "r3 of lane 20 (thread 20) reaches device memory, but bits 0xffffffff are undefined: "
         "nothing wrote it");
   /* Read, even computed with, but nowhere to be seen. */
   SOUND("iadd d=r3 a=r9 b=1\nfmul d=r4 a=r9 b=r3\nicsel d=r5 a=r4 b=0 x=r3 y=r1 cond=ieq");
   SOUND("mov d=r9 a=5\n" STORE("r9"));
   /* A narrow store takes only the low byte or half. */
   SOUND("mov d=r9l a=5\nstore r=r9 base=du0 index=r1 format=i16 mask=x group=a");
   /* Inactive lanes don't store. */
   SOUND("if_icmp a=r1 b=4 nest=1 cond=ult\nmov d=r9 a=5\n" STORE("r9") "pop_exec nest=1");
}

static void follows_threadgroup_memory_and_stack(void **state)
{
   FAULT("lload r=r3 base=none index=4 format=i32 mask=x\n" STORE("r3"),
         "bits 0xffffffff are undefined: nothing stored threadgroup memory at 0x10");
   FAULT("lstore r=r1 base=none index=8 format=i16 mask=x\n"
         "lload r=r3 base=none index=4 format=i32 mask=x\n" STORE("r3"),
         "bits 0xffff0000 are undefined");
   FAULT("lstore r=r9 base=none index=4 format=i32 mask=x\n"
         "lload r=r3 base=none index=4 format=i32 mask=x\n" STORE("r3"),
         "nothing stored threadgroup");
   FAULT("latomic r=r3 s=r1 base=none index=4 op=add\n" STORE("r3"), "nothing stored threadgroup");
   SOUND("lstore r=r1 base=none index=4 format=i32 mask=x\n"
         "lload r=r3 base=none index=4 format=i32 mask=x\n" STORE("r3"));
   SOUND("lstore r=r2 base=none index=4 format=i32 mask=x\n"
         "latomic r=r3 s=r1 base=none index=4 op=add\n" STORE("r3"));
   SOUND("latomic r=none s=r1 base=none index=4 op=xchg\n"
         "lload r=r3 base=none index=4 format=i32 mask=x\n" STORE("r3"));
   FAULT("stack_adjust index=4\nstack_load r=r3 index=8 format=i32 mask=x group=a\nwait "
         "group=a\n" STORE("r3"),
         "bits 0xffffffff are undefined: nothing stored stack byte 8");
   FAULT("stack_adjust index=4\nstack_store r=r1 index=8 format=i8 mask=x group=a\n"
         "stack_load r=r3 index=8 format=i16 mask=x group=a\nwait group=a\n" STORE("r3"),
         "bits 0xff00 are undefined: nothing stored stack byte 8");
   SOUND("stack_adjust index=4\nstack_store r=r1 index=8 format=i32 mask=x group=a\n"
         "stack_load r=r3 index=8 format=i32 mask=x group=a\nwait group=a\n" STORE("r3"));
}

static void holds_preambles_to_their_limits(void **state)
{
   const char *local = "lload r=r3 base=none index=0 format=i32 mask=x";
   assert_fails(run("mfsr d=r3 sr=thread_in_grid_x", true), AGX_FAILED_PRECONDITION,
                "check: a preamble has no thread position or workgroup");
   assert_fails(run("mfsr d=r3 sr=threads_per_threadgroup_x", true), AGX_FAILED_PRECONDITION,
                "check: a preamble has no thread position or workgroup");
   assert_fails(run(local, true), AGX_FAILED_PRECONDITION,
                "check: a preamble has no threadgroup memory");
   assert_fails(run("latomic r=none s=r1 base=none index=4 op=add", true), AGX_FAILED_PRECONDITION,
                "check: a preamble has no threadgroup memory");
   assert_fails(run("barrier", true), AGX_INVALID_ARGUMENT, "a preamble is no workgroup");
   assert_fails(run("uniform_store u=u10 r=r9", true), AGX_FAILED_PRECONDITION,
                "check: r9l of lane 0 (thread 0) reaches a uniform");
   assert_ok(run("uniform_store u=u10 r=r1\nmov d=r3 a=u10\n" STORE("r3"), true));
}

/* A whole launch: what launch words and preamble leave unloaded is undefined. */
static agx_status launch_with(const char *program, const char *preamble)
{
   struct sim_launch launch;
   sim_launch_init(&launch, program);
   sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   launch.options.check = true;
   launch.preamble = preamble;
   launch.uniform[0] = SIM_DATA;
   launch.loaded_halves = 16;
   launch.grid[0] = launch.local[0] = 70;
   agx_status status = sim_launch_run(&launch);
   sim_launch_fini(&launch);
   return status;
}

#define STORE_U(u) "mov d=r3 a=" u "\nstore r=r3 base=du0 index=0 format=i32 mask=x group=a"

static void finds_uniforms_that_nothing_loaded(void **state)
{
   assert_ok(launch_with(STORE_U("u7"), NULL));
   assert_fails(launch_with(STORE_U("u8"), NULL), AGX_FAILED_PRECONDITION,
                "check: r3 of lane 0 (thread 0) reaches device memory, but bits 0xffffffff are "
                "undefined: no launch word or preamble loaded u8l");
   assert_fails(launch_with("load r=r3 base=du8 index=0 format=i32 mask=x group=a", NULL),
                AGX_FAILED_PRECONDITION, "check: u8 of lane 0 (thread 0) reaches an address");
   /* A preamble may ask for the launch's size, not for a workgroup's. */
   assert_ok(launch_with("mfsr d=r4 sr=dispatch_threads_per_threadgroup_x\nldimm16 d=r0l imm=0\n"
                         "if_icmp a=r4 b=u8 nest=1 cond=ine\njmp_none offset=@same\ntrap\nsame:\n"
                         "pop_exec nest=1",
                         "mfsr d=r2 sr=dispatch_threads_per_threadgroup_x\n"
                         "uniform_store u=u8 r=r2"));
   assert_ok(launch_with(STORE_U("u8"), "mov d=r2 a=5\nuniform_store u=u8 r=r2"));
   assert_fails(launch_with(STORE_U("u8"), "mov d=r2l a=5\nuniform_store u=u8l r=r2l"),
                AGX_FAILED_PRECONDITION, "bits 0xffff0000 are undefined");
   assert_fails(launch_with("mov d=r3 a=u64", NULL), AGX_INVALID_ARGUMENT,
                "a uniform beyond the count that the launch declares");
   /* Lanes without a thread are not checked: a partial SIMD-group is sound. */
   assert_ok(
      launch_with("mfsr d=r1 sr=thread_in_grid_x\nldimm16 d=r0l imm=0\n"
                  "if_icmp a=r1 b=3 nest=1 cond=ult\npop_exec nest=1\n"
                  "ballot d=r3\nsimd d=r4 a=r1 op=iadd\nshuffle d=r5 a=r1 b=1 window=simd op=xor\n"
                  "store r=r4 base=du0 index=r1 format=i32 mask=x group=a",
                  NULL));
}

static agx_status launch_with_barrier(uint32_t word)
{
   struct sim_launch launch;
   sim_launch_init(&launch, "mov d=r1 a=0");
   launch.options.check = true;
   launch.barrier = word;
   agx_status status = sim_launch_run(&launch);
   sim_launch_fini(&launch);
   return status;
}

static void finds_barriers_that_nobody_uses(void **state)
{
   assert_ok(launch_with_barrier(0x600fffff));
   assert_ok(launch_with_barrier(0x60000160));
   assert_fails(launch_with_barrier(0x60000008), AGX_FAILED_PRECONDITION,
                "check: the barrier at 0x2000004020 selects 0x8, and no source says");
   assert_fails(launch_with_barrier(0x610fffff), AGX_FAILED_PRECONDITION, "selects 0x10fffff");
}

/* ---- a whole kernel --------------------------------------------------------------------- */

/* A sparse matrix times a vector, row by row, as the compiler writes it: u0 rows, u1 row
 * starts, u3 columns, u5 values, u7 the vector, u9 the result. */
static const char *const kernel[] = {
   "mfsr d=r1 sr=thread_in_grid_x",
   "ldimm16 d=r0l imm=0",
   "if_icmp a=r1 b=u0 nest=1 cond=ugte",
   "ldimm16 d=r0l imm=16384",
   "pop_exec nest=1",
   "load r=r2 base=du2 index=r1 format=i32 mask=x group=a",
   "ldimm32 d=r3 imm=0",
   "if_fcmp a=0.0 b=0.0 nest=1 cond=feq",
   "iadd d=r4 a=r1 b=1",
   "load r=r4 base=du2 index=r4 format=i32 mask=x group=a",
   "wait group=a",
   "top:",
   "while_icmp a=r2 b=r4 nest=1 cond=ult",
   "load r=r6 base=du4 index=r2 format=i32 mask=x group=a",
   "load r=r5 base=du6 index=r2 format=i32 mask=x group=a",
   "wait group=a",
   "load r=r7 base=du8 index=r6 format=i32 mask=x group=b",
   "wait group=b",
   "fmul d=$r6 a=$r5 b=r7",
   "fadd d=r3 a=r3 b=r6",
   "iadd d=r2 a=r2 b=1",
   "jmp_any offset=@top",
   "pop_exec nest=1",
   "store r=r3 base=du10 index=r1 format=i32 mask=x group=a",
};

struct plant {
   unsigned line;
   const char *instead; /* of that line */
   agx_status code;     /* AGX_OK: it is sound as well */
   const char *text;
};

#define CHECK AGX_FAILED_PRECONDITION

static const struct plant plants[] = {
   /* Waits left out. */
   {10, "", CHECK, "r2l is read while an operation of group a will write it"},
   {15, "", CHECK, "r6l is read while an operation of group a will write it"},
   {17, "", CHECK, "r7l is read while an operation of group b will write it"},
   {17, "wait group=a", CHECK, "r7l is read while an operation of group b will write it"},
   /* Discarded, but needed: later, in the next turn, or by lanes that left the loop. */
   {2, "if_icmp a=^r1 b=u0 nest=1 cond=ugte", CHECK, "r1 of lane 0 (thread 0) reaches an address"},
   {8, "iadd d=r4 a=^r1 b=1", CHECK, "r1 of lane 0 (thread 0) reaches an address"},
   {12, "while_icmp a=^r2 b=r4 nest=1 cond=ult", CHECK, "r2 of lane"},
   {12, "while_icmp a=r2 b=^r4 nest=1 cond=ult", CHECK, "r4 of lane"},
   {19, "fadd d=r3 a=^r3 b=r6", CHECK, "reaches device memory"},
   {18, "fmul d=$r6 a=^r5 b=^r7", AGX_OK, NULL},
   {19, "fadd d=r3 a=r3 b=^r6", AGX_OK, NULL},
   /* Never written. */
   {0, "", CHECK, "r1 of lane 0 (thread 0) reaches a branch"},
   {1, "", CHECK, "r0l of lane 0 (thread 0) reaches the execution mask"},
   {6, "", CHECK, "r3 of lane"},
   {8, "iadd d=r4l a=r1 b=1", CHECK,
    "r4 of lane 0 (thread 0) reaches an address, but bits "
    "0xffff0000 are undefined"},
   /* Registers and code that aren't there. */
   {16, "load r=r16 base=du8 index=r6 format=i32 mask=x group=b", AGX_INVALID_ARGUMENT,
    "a register beyond the count that the launch declares"},
   {21, "jmp_any offset=-100000", AGX_INVALID_ARGUMENT, "the jump leaves the 4 GiB window of code"},
   {21, "jmp_any offset=1000000", AGX_DATA_LOSS, "code fetch from unmapped memory"},
};

/* Ten rows of 0 to 9 entries, for 40 threads. */
static agx_status run_kernel(const struct plant *plant)
{
   char program[4096] = "";
   for (unsigned i = 0; i < AGX_COUNT(kernel); i++) {
      strcat(program, plant && plant->line == i ? plant->instead : kernel[i]);
      strcat(program, "\n");
   }
   struct sim_launch launch;
   sim_launch_init(&launch, program);
   uint8_t *data = sim_map(&launch.memory, SIM_DATA, 0x4000, true);
   for (uint32_t i = 0; i < 64; i++) {
      agxs_put_le32(data + 4 * i, i * (i - 1) / 2);    /* row starts */
      agxs_put_le32(data + 0x400 + 4 * i, i % 10);     /* columns */
      agxs_put_le32(data + 0x800 + 4 * i, 0x40000000); /* values: 2 */
      agxs_put_le32(data + 0xc00 + 4 * i, 0x3f800000); /* the vector: 1 */
   }
   const uint64_t uniforms[] = {
      10, SIM_DATA, SIM_DATA + 0x400, SIM_DATA + 0x800, SIM_DATA + 0xc00, SIM_DATA + 0x1000};
   memcpy(launch.uniform, uniforms, sizeof(uniforms));
   launch.options.check = true;
   launch.options.max_instructions_per_group = 10000;
   launch.grid[0] = 40, launch.local[0] = 20;
   launch.halves = 16;
   agx_status status = sim_launch_run(&launch);
   for (uint32_t row = 0; row < 10 && status == AGX_OK; row++) {
      float sum;
      uint32_t bits = agxs_get_le32(data + 0x1000 + 4 * row);
      memcpy(&sum, &bits, sizeof(sum));
      assert_true(sum == 2.0f * (float)row);
   }
   sim_launch_fini(&launch);
   return status;
}

static void finds_faults_planted_in_a_kernel(void **state)
{
   assert_ok(run_kernel(NULL));
   for (size_t i = 0; i < AGX_COUNT(plants); i++) {
      const struct plant *plant = &plants[i];
      agx_status status = run_kernel(plant);
      if (status != plant->code || (plant->text && !strstr(agx_error_peek(), plant->text)))
         fail_msg("%s instead of %s: %s (%s)", plant->instead, kernel[plant->line],
                  agx_status_name(status), agx_error_peek());
   }
}

/* ---- propagation ---------------------------------------------------------------------- */

struct spread {
   const char *program; /* r3 of lane 5 is 0xff00ff00, with the bits 0x0000f0f0 undefined */
   uint32_t undefined;  /* bits of r4 of lane 5 that come out undefined */
};

static const struct spread spreads[] = {
   {"mov d=r4 a=r3", 0xf0f0},
   {"mov d=r4 a=r3l", 0xf0f0},
   {"mov d=r4 a=r3h", 0},
   {"and d=r4 a=r3 b=255", 0xf0},
   {"and d=r4 a=255 b=r3", 0xf0},
   {"or d=r4 a=r3 b=240", 0xf000},
   {"xor d=r4 a=r3 b=255", 0xf0f0},
   {"xor d=r4 a=r3 b=r3", 0},
   {"andn2 d=r4 a=r3 b=r3", 0},
   {"nor d=r4 a=r3 b=r3", 0xf0f0},
   {"zero d=r4 a=r3 b=r3", 0},
   {"shl d=r4 b=r3 c=4", 0xf0f00},
   {"shl d=r4 b=r3 c=40", 0},
   {"shr d=r4 b=r3 c=12", 0xf},
   {"shl d=r4 b=r1 c=r3", ~0u},
   {"shl d=r4 b=r1 c=r3h", 0},
   {"asr d=r4 a=r3l b=8 c=0 bitmask=0", 0xfffffff0},
   {"asr d=r4 a=r3 b=8 c=0 bitmask=0", 0xf0},
   {"bfi d=r4 a=r1 b=r3 c=8 bitmask=8", 0xf000},
   {"bfeil d=r4 a=r3 b=r1 c=0 bitmask=8", 0xf000},
   {"extr d=r4 a=r3 b=r1 c=8 bitmask=0", 0xf0},
   {"extr d=r4 a=r1 b=r3 c=16 bitmask=0", 0xf0f00000},
   {"bitrev d=r4 a=r3", 0x0f0f0000},
   {"popcnt d=r4 a=r3", 0x3f},
   {"ffs d=r4 a=r3", 0},    /* bit 31 is set, whatever lies below */
   {"ffs d=r4 a=r3l", ~0u}, /* bit 15 is unknown */
   {"intl d=r4 a=r3 b=r1", 0x55005500},
   /* 0xff000f00 to 0xff00fff0. */
   {"iadd d=r4 a=r3 b=1", 0xf0f0},
   {"iadd d=r4 a=r3 b=16", 0x1fff0},
   {"iadd d=r4 a=r3l b=0", 0xf0f0},
   {"iadd d=r4 a=r3l.sx b=0", 0xfffff0f0},
   {"iadd d=r4 a=r1 b=r3h shift=lsl2", 0},
   {"iadd d=r4 a=r1 b=r3l shift=lsl4", 0xf0f00},
   {"imul d=r4 a=r3 b=2", 0xffffffe0},
   {"imul d=r4 a=r3 b=0", 0},
   {"imul d=r4 a=r3 b=r3h", 0xfffff000}, /* times 0xff00 */
   {"iadd d=dr4 a=r3 b=r1", 0xf0f0},
   /* At least 0xff000000, at most 0xff00fff0. */
   {"icsel d=r4 a=r3 b=255 x=1 y=0 cond=ugt", 0},
   {"icsel d=r4 a=r3 b=0 x=1 y=0 cond=slt", 0},
   {"icsel d=r4 a=r3l b=255 x=1 y=3 cond=ugt", 0},
   {"icsel d=r4 a=r3 b=r1 x=1 y=0 cond=ieq", 0},
   {"icsel d=r4 a=r6 b=r3 x=1 y=5 cond=ieq", 4},
   {"icsel d=r4 a=r1 b=5 x=r3 y=r1 cond=ieq", 0xf0f0},
   {"icsel d=r4 a=r1 b=5 x=r1 y=r3 cond=ieq", 0},
   {"fcsel d=r4 a=r3 b=0.0 x=1 y=0 cond=flt", 1},
   {"fadd d=r4 a=r3 b=0.0", ~0u},
   {"fadd d=r4 a=r3h b=0.0", 0},
   {"u8_to_f d=r4 a=r3 round=rte", ~0u},
   {"u8_to_f d=r4 a=r3h round=rte", 0},
   {"f_to_u32 d=r4 a=r3 round=rtz", ~0u},
   {"shuffle d=r4 a=r3 b=5 window=simd op=index", 0xf0f0},
   {"shuffle d=r4 a=r3 b=4 window=simd op=index", 0},
   {"shuffle d=r4 a=r3 b=1 window=quad op=xor", 0},
   {"shuffle d=r4 a=r1 b=r3 window=simd op=index", ~0u},
   {"simd d=r4 a=r3 op=or", 0xe0}, /* other lanes have bits 4 and 12 to 15 */
   {"simd d=r4 a=r3 op=and", 0},   /* and some lane has zeros */
   {"simd d=r4 a=r3 op=iadd", 0xfffffff0},
   {"simd d=r4 a=r3 op=umax", ~0u},
   {"quad d=r4 a=r3 op=xor", 0xf0f0},
   {"simd d=r4 a=r3 prefix op=iadd", 0}, /* lanes below only */
   {"icmp_ballot d=r4 a=r3 b=0 window=simd cond=ieq", 0},
   {"icmp_ballot d=r4 a=r3l b=r6l window=simd cond=ieq", 1 << 5},
   {"icmp_ballot d=r4 a=r3l b=r6 window=simd cond=ieq", 0},
   {"dfdx d=r4 a=r3", ~0u},
   {"dfdy d=r4 a=r3", ~0u},
   {"mfsr d=r4 sr=thread_index_in_simdgroup", 0},
   {"load r=r4 base=du0 index=0 format=i32 mask=x group=a\nwait group=a", 0},
   {"lstore r=r3 base=none index=0 format=i32 mask=x\n"
    "lload r=r4 base=none index=0 format=i8 mask=x",
    0},
};

/* What comes out undefined of r4. */
static uint32_t undefined_bits(const char *program)
{
   struct sim_memory memory;
   sim_memory_init(&memory);
   sim_map(&memory, SIM_DATA, 0x4000, true);
   struct sim_group *group = sim_group_new(program);
   group->memory = &memory;
   group->options.check = true;
   group->shared_bytes = 64;
   group->undefined[3][5] = 0xf0f0;
   for (unsigned i = 0; i < 4; i++)
      group->uniform[i] = (uint16_t)(SIM_DATA >> 16 * i);
   for (unsigned lane = 0; lane < 32; lane++) {
      group->reg[1][lane] = lane;
      group->reg[3][lane] = lane == 5 ? 0xff00ff00 : lane == 6 ? 0xf000 : lane;
      group->reg[6][lane] = lane == 5 ? 0xff00ff00 : 0;
   }
   assert_ok(sim_group_run(group));
   uint32_t undefined = group->undefined[4][5];
   free(group);
   sim_memory_fini(&memory);
   return undefined;
}

static void spreads_what_is_undefined(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(spreads); i++) {
      uint32_t undefined = undefined_bits(spreads[i].program);
      if (undefined != spreads[i].undefined)
         fail_msg("%s: bits 0x%08x are undefined, not 0x%08x", spreads[i].program, undefined,
                  spreads[i].undefined);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_a_missing_wait),
      cmocka_unit_test(finds_what_a_barrier_leaves_open),
      cmocka_unit_test(finds_a_ninth_operation),
      cmocka_unit_test(finds_a_discard_too_early),
      cmocka_unit_test(finds_a_discard_in_divergent_code),
      cmocka_unit_test(finds_registers_beyond_the_count),
      cmocka_unit_test(finds_code_outside_of_the_window),
      cmocka_unit_test(finds_lanes_that_part_at_a_jump),
      cmocka_unit_test(finds_uninitialised_reads),
      cmocka_unit_test(follows_threadgroup_memory_and_stack),
      cmocka_unit_test(holds_preambles_to_their_limits),
      cmocka_unit_test(finds_uniforms_that_nothing_loaded),
      cmocka_unit_test(finds_barriers_that_nobody_uses),
      cmocka_unit_test(finds_faults_planted_in_a_kernel),
      cmocka_unit_test(spreads_what_is_undefined),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
