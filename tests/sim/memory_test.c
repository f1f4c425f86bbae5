/* SPDX-License-Identifier: MIT
 *
 * Device and threadgroup memory, atomics, the stack, the uniform file, and what
 * happens where nothing is mapped.
 */
#include "sim_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A group with r1 = lane, u0:u1 = SIM_DATA (two writable pages), u2:u3 = a
 * read-only page, u4:u5 = an address that is not mapped. */
struct memory_case {
   struct sim_memory memory;
   struct sim_group *group;
   uint8_t *data, *constant;
};

static void begin(struct memory_case *c, const char *program)
{
   sim_memory_init(&c->memory);
   c->data = sim_map(&c->memory, SIM_DATA, 0x8000, true);
   c->constant = sim_map(&c->memory, SIM_DATA + 0x100000, 0x4000, false);
   c->group = sim_group_new(program);
   c->group->memory = &c->memory;
   const uint64_t address[3] = {SIM_DATA, SIM_DATA + 0x100000, 0x5000000000};
   for (unsigned i = 0; i < 12; i++)
      c->group->uniform[i] = (uint16_t)(address[i / 4] >> 16 * (i % 4));
   for (unsigned lane = 0; lane < 32; lane++)
      c->group->reg[1][lane] = lane;
}

static void end(struct memory_case *c)
{
   free(c->group);
   sim_memory_fini(&c->memory);
}

struct load_row {
   const char *program;
   uint8_t bytes[16];
   uint32_t r2, r3, r4, r5; /* 0xeeeeeeee before */
};

#define E 0xeeeeeeeeu

static const struct load_row load_rows[] = {
   {"load r=r2 base=du0 index=0 format=i32 mask=x group=a", {1, 2, 3, 4}, 0x04030201, E, E, E},
   {"load r=r2 base=du0 index=1 format=i8 mask=x group=a", {1, 0xff}, 0xff, E, E, E},
   {"load r=r2l base=du0 index=1 format=i8 mask=x group=a", {1, 0xff}, 0xeeee00ff, E, E, E},
   {"load r=r2 base=du0 index=1 format=i16 mask=x group=a", {1, 2, 3, 0xf4}, 0xf403, E, E, E},
   {"load r=r2h base=du0 index=0 format=f16 mask=x group=a", {0x34, 0x12}, 0x1234eeee, E, E, E},
   /* Into a whole register a half becomes a single [U]: -2.0, and the smallest denormal. */
   {"load r=r2..r3 base=du0 index=0 format=f16 mask=xy group=a",
    {0x00, 0xc0, 1, 0},
    0xc0000000,
    0x33800000,
    E,
    E},
   {"load r=r2l..r3l base=du0 index=0 format=i16 mask=xyz group=a",
    {1, 0, 2, 0, 3, 0},
    0x00020001,
    0xeeee0003,
    E,
    E},
   {"load r=r2..r3 base=du0 index=0 format=i32 mask=xw group=a",
    {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4},
    1,
    4,
    E,
    E},
   {"load r=r2..r5 base=du0 index=0 format=i8 mask=xyzw group=a", {9, 8, 7, 6}, 9, 8, 7, 6},
   {"load r=r2 base=du0 index=1 shift=lsl1 format=i16 mask=x group=a",
    {0, 0, 0, 0, 5, 6},
    0x0605,
    E,
    E,
    E},
   {"load r=r2 base=du0 index=1 shift=3 format=i8 mask=x group=a", {0, 0, 0, 0, 5, 6}, 5, E, E, E},
   {"load r=r2 base=du0 index=0 format=u8norm mask=x group=a", {255}, 0x3f800000, E, E, E},
   {"load r=r2..r3 base=du0 index=0 format=s8norm mask=xy group=a",
    {0x80, 0x7f},
    0xbf800000,
    0x3f800000,
    E,
    E},
   {"load r=r2l base=du0 index=0 format=u8norm mask=x group=a", {128}, 0xeeee3804, E, E, E},
   {"load r=r2 base=du0 index=0 format=u16norm mask=x group=a", {0xff, 0xff}, 0x3f800000, E, E, E},
   {"load r=r2 base=du0 index=0 format=s16norm mask=x group=a", {1, 0x80}, 0xbf800000, E, E, E},
   {"load r=r2..r5 base=du0 index=0 format=rgb10a2 mask=xyzw group=a",
    {0xff, 3, 0xf0, 0xff},
    0x3f800000,
    0,
    0x3f800000,
    0x3f800000},
   {"load r=r2..r5 base=du0 index=0 format=srgba8 mask=xyzw group=a",
    {255, 0, 255, 51},
    0x3f800000,
    0,
    0x3f800000,
    0x3e4ccccd},
   /* 1.0 (exponent 15), 0.5 (14), 2.0 (16): 11, 11 and 10 bits. */
   {"load r=r2..r4 base=du0 index=0 format=rg11b10f mask=xyz group=a",
    {0xc0, 0x03, 0x1c, 0x80},
    0x3f800000,
    0x3f000000,
    0x40000000,
    E},
   /* 256 * 2^(16-15-9) = 1, 128: 0.5, 1: 2^-8; e = 16. */
   {"load r=r2..r4 base=du0 index=0 format=rgb9e5 mask=xyz group=a",
    {0x00, 0x01, 0x05, 0x80},
    0x3f800000,
    0x3f000000,
    0x3b800000,
    E},
};

static void loads_every_format(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(load_rows); i++) {
      const struct load_row *row = &load_rows[i];
      const uint32_t expected[4] = {row->r2, row->r3, row->r4, row->r5};
      struct memory_case c;
      begin(&c, row->program);
      memcpy(c.data, row->bytes, sizeof(row->bytes));
      memset(c.group->reg[2], 0xee, 4 * sizeof(c.group->reg[0]));
      assert_ok(sim_group_run(c.group));
      for (unsigned r = 0; r < 4; r++) {
         if (c.group->reg[2 + r][5] != expected[r])
            fail_msg("%s: r%u is 0x%08x, not 0x%08x", row->program, 2 + r, c.group->reg[2 + r][5],
                     expected[r]);
      }
      end(&c);
   }
}

/* The inverse; what was loaded above goes back as it came. */
static void stores_every_format(void **state)
{
   static const struct {
      const char *program;
      uint32_t reg[4];
      uint8_t bytes[16];
   } rows[] = {
      {"store r=r2 base=du0 index=0 format=i32 mask=x group=a", {0x04030201}, {1, 2, 3, 4}},
      {"store r=r2 base=du0 index=1 format=i8 mask=x group=a", {0x1ff}, {0, 0xff}},
      {"store r=r2h base=du0 index=0 format=i16 mask=x group=a", {0x12340000}, {0x34, 0x12}},
      {"store r=r2..r3 base=du0 index=0 format=i16 mask=xz group=a", {1, 2}, {1, 0, 0, 0, 2}},
      {"store r=r2..r5 base=du0 index=0 format=i32 mask=xyzw group=a",
       {1, 2, 3, 4},
       {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}},
      {"store r=r2..r3 base=du0 index=0 format=u8norm mask=xy group=a",
       {0x3f000000, 0x40000000},
       {128, 255}},
      {"store r=r2..r3 base=du0 index=0 format=s8norm mask=xy group=a",
       {0xbf800000, 0x7fc00000},
       {0x81, 0}},
      {"store r=r2 base=du0 index=0 format=u16norm mask=x group=a", {0xbf800000}, {0, 0}},
      {"store r=r2l base=du0 index=0 format=s16norm mask=x group=a", {0xbc00}, {1, 0x80}},
      {"store r=r2..r5 base=du0 index=0 format=rgb10a2 mask=xyzw group=a",
       {0x3f800000, 0, 0x3f800000, 0x3f800000},
       {0xff, 3, 0xf0, 0xff}},
      {"store r=r2..r5 base=du0 index=0 format=srgba8 mask=xyzw group=a",
       {0x3f800000, 0, 0x3e5d0a8b, 0x3e4ccccd},
       {255, 0, 128, 51}},
      {"store r=r2..r4 base=du0 index=0 format=rg11b10f mask=xyz group=a",
       {0x3f800000, 0x3f000000, 0x40000000},
       {0xc0, 0x03, 0x1c, 0x80}},
      {"store r=r2..r4 base=du0 index=0 format=rgb9e5 mask=xyz group=a",
       {0x3f800000, 0x3f000000, 0x3b800000},
       {0x00, 0x01, 0x05, 0x80}},
      /* 1 + 2^-7 + 2^-8 lies three quarters up between two 11-bit floats. */
      {"store r=r2..r4 base=du0 index=0 format=rg11b10f mask=xyz group=a",
       {0x3f818000, 0, 0},
       {0xc1, 0x03}},
      {"store r=r2..r4 base=du0 index=0 format=rg11b10f_rtz mask=xyz group=a",
       {0x3f818000, 0, 0},
       {0xc0, 0x03}},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      struct memory_case c;
      begin(&c, rows[i].program);
      for (unsigned r = 0; r < 4; r++)
         for (unsigned lane = 0; lane < 32; lane++)
            c.group->reg[2 + r][lane] = rows[i].reg[r];
      assert_ok(sim_group_run(c.group));
      if (memcmp(c.data, rows[i].bytes, 16) != 0)
         fail_msg("%s: %02x %02x %02x %02x", rows[i].program, c.data[0], c.data[1], c.data[2],
                  c.data[3]);
      end(&c);
   }
}

static void forms_addresses(void **state)
{
   struct memory_case c;
   /* Index registers: sign-extended, zero-extended, shifted; bases in registers. */
   begin(&c, "load r=r2 base=du0 index=r1 format=i32 mask=x group=a\n"
             "iadd d=dr6 a=dr8 b=r1 shift=lsl3\n"
             "load r=r3 base=dr6 index=-1 format=i32 mask=x group=a\n"
             "isub d=r4 a=r1 b=40\n"
             "load r=r4 base=dr8 index=r4.sx format=i32 mask=x group=a\n"
             "load r=r5 base=du0 index=r1 shift=lsl2 format=i16 mask=x group=a");
   for (unsigned i = 0; i < 0x2000; i++)
      agxs_put_le32(c.data + 4 * i, i);
   for (unsigned lane = 0; lane < 32; lane++) {
      c.group->reg[8][lane] = (uint32_t)(SIM_DATA + 400);
      c.group->reg[9][lane] = SIM_DATA >> 32;
   }
   assert_ok(sim_group_run(c.group));
   for (unsigned lane = 0; lane < 32; lane++) {
      assert_int_equal(c.group->reg[2][lane], lane);
      assert_int_equal(c.group->reg[3][lane], 100 + 2 * lane - 1);
      assert_int_equal(c.group->reg[4][lane], 100 + lane - 40);
      assert_int_equal(c.group->reg[5][lane], 2 * lane);
   }
   end(&c);
   /* Misaligned addresses are rounded down. */
   begin(&c, "load r=r2 base=dr8 index=0 format=i32 mask=x group=a\n"
             "store r=r1 base=dr8 index=1 format=i16 mask=x group=a");
   for (unsigned i = 0; i < 16; i++)
      c.data[i] = (uint8_t)i;
   for (unsigned lane = 0; lane < 32; lane++) {
      c.group->reg[8][lane] = (uint32_t)SIM_DATA + 7;
      c.group->reg[9][lane] = SIM_DATA >> 32;
   }
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->reg[2][0], 0x07060504);
   assert_int_equal(agxs_get_le16(c.data + 8), 31); /* (7 + 2) & ~1; the last lane wins */
   end(&c);
}

static struct agxs_fault seen[64];
static unsigned seen_count;

static void note_fault(void *user, const struct agxs_fault *fault)
{
   if (seen_count < AGX_COUNT(seen))
      seen[seen_count++] = *fault;
}

static void faults_softly(void **state)
{
   struct memory_case c;
   /* A vector that straddles the end of the mapping: per element. */
   begin(&c, "load r=r2..r5 base=dr8 index=0 format=i32 mask=xyzw group=a\n"
             "store r=r2..r5 base=dr8 index=0 format=i32 mask=xyzw group=a\n"
             "store r=r1 base=du2 index=0 format=i32 mask=x group=a\n"
             "atomic r=r6 s=r1 base=du4 index=0 op=add coherency=coherent1 group=a");
   c.group->options.strict = false;
   c.group->options.on_fault = note_fault;
   c.group->exists = 1;
   seen_count = 0;
   agxs_put_le32(c.data + 0x7ff8, 5);
   agxs_put_le32(c.data + 0x7ffc, 6);
   agxs_put_le32(c.constant, 123);
   c.group->reg[8][0] = (uint32_t)SIM_DATA + 0x7ff8;
   c.group->reg[9][0] = SIM_DATA >> 32;
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->reg[2][0], 5);
   assert_int_equal(c.group->reg[3][0], 6);
   assert_int_equal(c.group->reg[4][0], 0);
   assert_int_equal(c.group->reg[5][0], 0);
   assert_int_equal(c.group->reg[6][0], 0);
   assert_int_equal(agxs_get_le32(c.constant), 123);
   assert_int_equal(c.group->stats.soft_faults, 6);
   assert_int_equal(seen_count, 6);
   assert_int_equal(seen[0].kind, AGXS_FAULT_SOFT_LOAD);
   assert_true(seen[0].va == SIM_DATA + 0x8000);
   assert_int_equal(seen[2].kind, AGXS_FAULT_SOFT_STORE);
   assert_true(seen[4].va == SIM_DATA + 0x100000);
   assert_true(seen[5].va == 0x5000000000);
   assert_string_equal(seen[5].what, "atomic");
   end(&c);
}

static void faults_hard_when_strict(void **state)
{
   struct memory_case c;
   begin(&c, "load r=r2 base=du4 index=r1 format=i32 mask=x group=a");
   assert_fails(sim_group_run(c.group), AGX_DATA_LOSS,
                "load at 0x5000000000 is not mapped so: dispatch 0, workgroup 0,0,0, thread 0, "
                "kernel pc 0x0: load");
   end(&c);
   begin(&c, "store r=r1 base=du2 index=r1 format=i32 mask=x group=a");
   c.group->exists = 0xf0;
   assert_fails(sim_group_run(c.group), AGX_DATA_LOSS, "store at 0x2000200010");
   end(&c);
   /* Inactive lanes touch nothing. */
   begin(&c, "ldimm16 d=r0l imm=1\nupdate_exec\n"
             "load r=r2 base=du4 index=r1 format=i32 mask=x group=a");
   assert_ok(sim_group_run(c.group));
   end(&c);
}

static void does_atomics(void **state)
{
   static const struct {
      const char *op;
      uint32_t before, after; /* every lane i applies i + 1 */
   } rows[] = {
      {"add", 10, 10 + 528},    {"sub", 1000, 1000 - 528},
      {"xchg", 7, 32},          {"umin", 0xffffffff, 1},
      {"imin", 5, 1},           {"umax", 0, 32},
      {"imax", 0xffffffff, 32}, {"and", 0xff, 0},
      {"or", 0x100, 0x13f},     {"xor", 0, 32},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      char program[200];
      struct memory_case c;
      snprintf(program, sizeof(program),
               "iadd d=r1 a=r1 b=1\n"
               "atomic r=r2 s=r1 base=du0 index=3 op=%s coherency=coherent1 group=a\n"
               "latomic r=r3 s=r1 base=none index=2 op=%s",
               rows[i].op, rows[i].op);
      begin(&c, program);
      c.group->shared_bytes = 256;
      agxs_put_le32(c.data + 12, rows[i].before);
      assert_ok(sim_group_run(c.group));
      if (agxs_get_le32(c.data + 12) != rows[i].after)
         fail_msg("%s: %u", rows[i].op, agxs_get_le32(c.data + 12));
      assert_int_equal(c.group->reg[2][0], rows[i].before);
      assert_int_equal(c.group->reg[3][0], 0xa5a5a5a5); /* no lane wrote it */
      end(&c);
   }
   struct memory_case c;
   /* {new, compare}: only the lane whose compare is what is there. */
   begin(&c, "iadd d=r2 a=r1 b=100\nmov d=r3 a=r1\n"
             "atomic r=r4 s=r2..r3 base=du0 index=0 op=cmpxchg coherency=coherent1 group=a\n"
             "atomic r=none s=r1 base=du0 index=1 op=add coherency=coherent1 group=a");
   agxs_put_le32(c.data, 9);
   assert_ok(sim_group_run(c.group));
   assert_int_equal(agxs_get_le32(c.data), 109);
   assert_int_equal(agxs_get_le32(c.data + 4), 496);
   assert_int_equal(c.group->reg[4][9], 9);
   assert_int_equal(c.group->reg[4][10], 109);
   end(&c);
}

static void uses_threadgroup_memory(void **state)
{
   struct memory_case c;
   begin(&c, "shl d=r4 b=r1 c=2\n"
             "lstore r=r1 base=r4l index=0 format=i32 mask=x\n"
             "isub d=r5l a=31 b=r1l\n"
             "lload r=r2 base=none index=r5l format=i32 mask=x\n"
             "lload r=r6l..r6h base=u0l index=-1 format=i16 mask=xy");
   c.group->shared_bytes = 256;
   c.group->uniform[0] = 10;
   assert_ok(sim_group_run(c.group));
   for (unsigned lane = 0; lane < 32; lane++) {
      assert_int_equal(c.group->reg[2][lane], 31 - lane);
      assert_int_equal(c.group->reg[6][lane], 2); /* bytes 8 to 11 */
   }
   end(&c);
}

/* Words of four or three channels, the index in words; f16 from whole registers [U]. */
static void converts_in_threadgroup_memory(void **state)
{
   struct memory_case c;
   begin(&c, "fadd d=r2 a=1.0 b=-0.0\nfadd d=r3 a=0.0 b=-0.0\nfadd d=r4 a=2.0 b=-0.0\n"
             "fadd d=r5 a=1.0 b=-0.0\n"
             "lstore r=r2..r5 base=none index=1 format=rgb10a2 mask=xyzw\n"
             "lstore r=r2 base=none index=2 format=rg11b10f mask=x\n"
             "lstore r=r4 base=none index=6 format=f16 mask=x\n"
             "lload r=r6 base=none index=1 format=i32 mask=x\n"
             "lload r=r7 base=none index=2 format=i32 mask=x\n"
             "lload r=r8..r10 base=none index=2 format=rg11b10f mask=xyz\n"
             "lload r=r11 base=none index=6 format=i16 mask=x\n"
             "lload r=r12l base=none index=1 format=rgb10a2 mask=x");
   c.group->shared_bytes = 256;
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->reg[6][3], 0xfff003ff);
   assert_int_equal(c.group->reg[7][3], 0x800003c0);
   assert_int_equal(c.group->reg[8][3], 0x3f800000);
   assert_int_equal(c.group->reg[9][3], 0);
   assert_int_equal(c.group->reg[10][3], 0x40000000);
   assert_int_equal(c.group->reg[11][3], 0x4000);
   assert_int_equal(c.group->reg[12][3], 0x00003c00);
   assert_int_equal(c.group->reg[13][3], 0x3c003c00);
   end(&c);
   begin(&c, "lstore r=r2 base=none index=16 format=rgb10a2 mask=x");
   c.group->shared_bytes = 64;
   assert_fails(sim_group_run(c.group), AGX_DATA_LOSS, "threadgroup store at 0x40");
   end(&c);
}

static void faults_outside_threadgroup_memory(void **state)
{
   struct memory_case c;
   begin(&c, "lstore r=r1 base=none index=r1l format=i32 mask=x\n"
             "lload r=r2 base=none index=r1l format=i32 mask=x");
   c.group->shared_bytes = 64;
   c.group->options.strict = false;
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->reg[2][15], 15);
   assert_int_equal(c.group->reg[2][16], 0);
   assert_int_equal(c.group->stats.soft_faults, 32);
   end(&c);
   begin(&c, "lload r=r2 base=none index=16 format=i32 mask=x");
   c.group->shared_bytes = 64;
   assert_fails(sim_group_run(c.group), AGX_DATA_LOSS, "threadgroup load at 0x40");
   end(&c);
}

static void has_a_stack(void **state)
{
   struct memory_case c;
   begin(&c, "stack_adjust index=4\n"
             "iadd d=r2 a=r1 b=100\n"
             "stack_store r=r1..r2 index=0 format=i32 mask=xy group=a\n"
             "stack_store r=r1l index=8 format=i16 mask=x group=a\n"
             "stack_store r=r1 index=15 format=i8 mask=x group=a\n"
             "stack_load r=r3..r4 index=0 format=i32 mask=xy group=a\n"
             "stack_load r=r5 index=10 format=i16 mask=x group=a\n"
             "stack_load r=r6 index=15 format=i8 mask=x group=a\n"
             "stack_adjust index=4\n"
             "stack_store r=r2 index=0 format=i32 mask=x group=a\n"
             "stack_adjust index=-4\n"
             "stack_load r=r7 index=0 format=i32 mask=x group=a\n"
             "stack_adjust index=-4");
   c.group->stack_words = 16;
   assert_ok(sim_group_run(c.group));
   for (unsigned lane = 0; lane < 32; lane++) {
      assert_int_equal(c.group->reg[3][lane], lane);
      assert_int_equal(c.group->reg[4][lane], 100 + lane);
      assert_int_equal(c.group->reg[5][lane], AGXS_POISON >> 16);
      assert_int_equal(c.group->reg[6][lane], lane);
      assert_int_equal(c.group->reg[7][lane], lane); /* the frame above went elsewhere */
   }
   end(&c);
   /* A shift counts in larger steps; an amount in registers must be the same everywhere. */
   begin(&c, "mov d=r2 a=4\nstack_adjust index=r2\n"
             "stack_store r=r1 index=3 shift=lsl2 format=i32 mask=x group=a\n"
             "stack_load r=r3 index=12 format=i32 mask=x group=a\n"
             "and d=r4 a=r1 b=1\nmov d=r5 a=4\n"
             "stack_load r=r6 index=r5 shift=lsl1 format=i32 mask=x group=a");
   c.group->stack_words = 16;
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->reg[3][7], 7);
   assert_int_equal(c.group->reg[6][7], AGXS_POISON);
   end(&c);
   begin(&c, "stack_adjust index=r1");
   c.group->stack_words = 64;
   assert_fails(sim_group_run(c.group), AGX_UNIMPLEMENTED, "lane 0 adjusts the stack by 0 words");
   end(&c);
   begin(&c, "stack_adjust index=4\nstack_load r=r3 index=16 format=i32 mask=x group=a");
   c.group->stack_words = 16;
   assert_fails(sim_group_run(c.group), AGX_DATA_LOSS, "stack offset 16 outside of the 16 bytes");
   end(&c);
   begin(&c, "stack_adjust index=20");
   c.group->stack_words = 16;
   assert_fails(sim_group_run(c.group), AGX_DATA_LOSS, "stack pointer 20 outside of the 16 words");
   end(&c);
}

static void stores_uniforms_in_a_preamble(void **state)
{
   struct memory_case c;
   begin(&c, "ldimm32 d=r2 imm=305419896\n"
             "uniform_store u=u10 r=r2\n"
             "mov d=r3 a=u10h\n"
             "uniform_store u=u11l r=r3l");
   c.group->is_preamble = true;
   c.group->exists = 1;
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->uniform[20], 0x5678);
   assert_int_equal(c.group->uniform[21], 0x1234);
   assert_int_equal(c.group->uniform[22], 0x1234);
   assert_int_equal(c.group->uniform[23], 0);
   end(&c);
   /* The general form: holes in the mask, and a number from a register. */
   begin(&c, "mov d=r2 a=7\nmov d=r3l a=9\nmov d=r5 a=40\n"
             "uniform_store_raw r=r2l..r2h index=30 format=i16 mask=xz group=a\n"
             "uniform_store_raw r=r3l index=r5 format=i16 mask=y group=a");
   c.group->is_preamble = true;
   c.group->exists = 1;
   assert_ok(sim_group_run(c.group));
   assert_int_equal(c.group->uniform[30], 7);
   assert_int_equal(c.group->uniform[31], 0);
   assert_int_equal(c.group->uniform[32], 0);
   assert_int_equal(c.group->uniform[41], 9);
   end(&c);
   begin(&c, "ldimm32 d=r5 imm=511\nuniform_store_raw r=r3l index=r5 format=i16 mask=y group=a");
   c.group->is_preamble = true;
   assert_fails(sim_group_run(c.group), AGX_INVALID_ARGUMENT, "half 512 is beyond the 512");
   end(&c);
   begin(&c, "uniform_store u=u10 r=r2");
   assert_fails(sim_group_run(c.group), AGX_INVALID_ARGUMENT, "only a preamble stores uniforms");
   end(&c);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_every_format),
      cmocka_unit_test(stores_every_format),
      cmocka_unit_test(forms_addresses),
      cmocka_unit_test(faults_softly),
      cmocka_unit_test(faults_hard_when_strict),
      cmocka_unit_test(does_atomics),
      cmocka_unit_test(uses_threadgroup_memory),
      cmocka_unit_test(converts_in_threadgroup_memory),
      cmocka_unit_test(faults_outside_threadgroup_memory),
      cmocka_unit_test(has_a_stack),
      cmocka_unit_test(stores_uniforms_in_a_preamble),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
