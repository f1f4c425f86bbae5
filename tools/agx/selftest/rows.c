/* SPDX-License-Identifier: MIT
 *
 * Experiments that are one program: each thread gets four inputs, and gives four outputs.
 */
#include <string.h>

#include "base/util.h"
#include "selftest.h"

/* r4: the thread in the grid; r0l, which counts levels of the mask, is 0. */
#define PROLOGUE                                                                                   \
   "ldimm16 d=r0l imm=0; mfsr d=r4 sr=thread_in_grid_x\n"                                          \
   "load r=r8..r11 base=du0 index=r4 shift=lsl2 format=i32 mask=xyzw group=a\n"                    \
   "ldimm32 d=r12 imm=4008636142; ldimm32 d=r13 imm=4008636142\n"                                  \
   "ldimm32 d=r14 imm=4008636142; ldimm32 d=r15 imm=4008636142\n"                                  \
   "wait group=a\n"
#define EPILOGUE                                                                                   \
   "\nwait group=a; wait group=b\n"                                                                \
   "store r=r12..r15 base=du2 index=r4 shift=lsl2 format=i32 mask=xyzw group=a\n"

#define MAX_ROW_TEXT 16384

static const uint32_t ints[] = {
   0,          1,          2,      31,     32,     0x7f, 0x80,       0xff,
   0x7fffffff, 0x80000000, 0xffff, 0x8000, 0x7fff, 100,  0xffffffff, 0xdeadbeef,
};
static const uint32_t floats[] = {
   0,          0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
   0x7f800000, 0xff800000, 0x7fc00000, 0xffa00001, 0x4f000000, 0x477ff000, 0x40490fdb, 0x33000001,
};
static const uint32_t halves[] = {
   0x00000000, 0x80003c00, 0x3c00bc00, 0x00018001, 0x03ff83ff, 0x04008400, 0x7bfffbff, 0x7c00fc00,
   0x7e00fe01, 0x35553800, 0x40004200, 0x7bff7bff, 0x14001001, 0xc900c880, 0x3bff3c01, 0x57ff5800,
};
_Static_assert(AGX_COUNT(ints) == 16 && AGX_COUNT(floats) == 16 && AGX_COUNT(halves) == 16,
               "two inputs cross all corners in 256 threads");

/* xorshift: the same numbers on every machine. */
static uint32_t next(uint32_t *state)
{
   *state ^= *state << 13;
   *state ^= *state >> 17;
   *state ^= *state << 5;
   return *state;
}

/* A float of moderate size in three cases out of four. */
static uint32_t random_input(enum selftest_inputs inputs, uint32_t *state)
{
   uint32_t bits = next(state);
   if (inputs == SELFTEST_FLOATS && bits % 4)
      return (bits & 0x807fffff) | (120 + next(state) % 16) << 23;
   return bits;
}

static void fill_inputs(struct selftest_machine *machine, enum selftest_inputs inputs,
                        uint32_t threads)
{
   const uint32_t *corners = inputs == SELFTEST_INTS     ? ints
                             : inputs == SELFTEST_FLOATS ? floats
                                                         : halves;
   uint32_t state = 0x2545f491;
   for (uint32_t thread = 0; thread < threads; thread++) {
      uint32_t in[4] = {corners[thread % 16], corners[thread / 16 % 16],
                        random_input(inputs, &state), random_input(inputs, &state)};
      if (inputs == SELFTEST_LANES) {
         in[0] = thread;
         in[1] = thread * thread;
         in[2] = 1000 + thread;
      }
      memcpy(machine->data + SELFTEST_INPUT + 16 * thread, in, sizeof(in));
   }
}

static uint32_t thread_count(const struct selftest_launch *launch)
{
   uint32_t count = 1;
   for (unsigned i = 0; i < 3; i++)
      count *= AGX_MAX(launch->threads[i], 1u);
   return launch->threads[0] ? AGX_MIN(count, SELFTEST_MAX_THREADS) : 32;
}

agx_status selftest_run_row(const struct selftest_experiment *experiment,
                            struct selftest_machine *machine, bool is_altered,
                            struct selftest_seen *seen)
{
   static char text[MAX_ROW_TEXT];
   struct selftest_launch launch = experiment->launch;
   struct selftest_outcome outcome;
   const bool is_framed = !(experiment->flags & SELFTEST_NO_FRAME);
   const uint32_t threads = thread_count(&launch);
   if (strlen(PROLOGUE) + strlen(launch.program) + strlen(EPILOGUE) >= sizeof(text))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "a program of more than %d bytes", MAX_ROW_TEXT);
   strcpy(text, is_framed ? PROLOGUE : "");
   strcat(text, launch.program);
   strcat(text, is_framed ? EPILOGUE : "");
   launch.program = text;
   if (!is_altered)
      launch.from = launch.to = NULL;
   fill_inputs(machine, experiment->inputs, threads);
   AGX_TRY(selftest_run(machine, &launch, &outcome));
   if (outcome.error) {
      selftest_see_failure(machine, &outcome, seen);
      return AGX_OK;
   }
   selftest_see_output(machine, threads, 4, seen);
   return AGX_OK;
}

/* With r4 the place of a thread in a grid of 40 by 3 by 2. */
#define GRID_ID                                                                                    \
   "mfsr d=r16 sr=thread_in_grid_y; mfsr d=r17 sr=thread_in_grid_z; imadd d=r4 a=r16 b=40 c=r4; "  \
   "imadd d=r4 a=r17 b=120 c=r4; "

#define ROW(row, questions, options, kind, text, before, after, ...)                               \
   {.name = row,                                                                                   \
    .ids = questions,                                                                              \
    .run = selftest_run_row,                                                                       \
    .flags = options,                                                                              \
    .inputs = SELFTEST_##kind,                                                                     \
    .launch = {.program = text, .from = before, .to = after, ##__VA_ARGS__}},

#define ALU(row, questions, kind, text, before, after)                                             \
   {.name = row,                                                                                   \
    .ids = questions,                                                                              \
    .run = selftest_run_row,                                                                       \
    .inputs = SELFTEST_##kind,                                                                     \
    .launch = {.program = text, .from = before, .to = after, .threads = {256, 1, 1}}},

static const struct selftest_experiment alu[] = {
#include "alu.def"
};
const struct selftest_group selftest_alu = {"arithmetic", alu, AGX_COUNT(alu)};

static const struct selftest_experiment lanes[] = {
#include "lanes.def"
};
const struct selftest_group selftest_lanes = {"lanes", lanes, AGX_COUNT(lanes)};

static const struct selftest_experiment control[] = {
#include "control.def"
};
const struct selftest_group selftest_control = {"control", control, AGX_COUNT(control)};

static const struct selftest_experiment memory[] = {
#include "memory.def"
};
const struct selftest_group selftest_memory = {"memory", memory, AGX_COUNT(memory)};

static const struct selftest_experiment unknown[] = {
#include "unknown.def"
};
const struct selftest_group selftest_unknown = {"unknown", unknown, AGX_COUNT(unknown)};
