/* SPDX-License-Identifier: MIT
 *
 * Experiments about launches: grids, indirect sizes, the barriers of the stream and of memory.
 */
#include <stdio.h>
#include <string.h>

#include "agx/hw/cdm.h"
#include "base/util.h"
#include "selftest.h"

static uint32_t output_word(const struct selftest_machine *machine, uint32_t thread, uint32_t word)
{
   uint32_t out;
   memcpy(&out, machine->data + SELFTEST_OUTPUT + 16 * thread + 4 * word, 4);
   return out;
}

/* ---- grids ---------------------------------------------------------------- */

#define MARK                                                                                       \
   "mfsr d=r4 sr=thread_in_grid_x; mov d=r12 a=1; "                                                \
   "store r=r12 base=du2 index=r4 shift=lsl2 format=i32 mask=x group=a"

static agx_status run_zero_grid(const struct selftest_experiment *experiment,
                                struct selftest_machine *machine, bool is_altered,
                                struct selftest_seen *seen)
{
   for (unsigned axis = 0; axis < 3; axis++) {
      struct selftest_launch launch = {
         .program = MARK, .threads = {32, 1, 1}, .has_threads = true, .local = {32, 1, 1}};
      struct selftest_outcome outcome;
      uint32_t ran = 0;
      launch.threads[axis] = is_altered ? 1 : 0;
      selftest_clear(machine);
      AGX_TRY(selftest_run(machine, &launch, &outcome));
      for (uint32_t i = 0; i < 32; i++)
         ran += output_word(machine, i, 0) == 1;
      selftest_see(seen, outcome.error != 0, "axis %u: it fails", axis);
      selftest_see(seen, ran, "axis %u: threads that ran", axis);
   }
   return AGX_OK;
}

static agx_status run_indirect(const struct selftest_experiment *experiment,
                               struct selftest_machine *machine, bool is_altered,
                               struct selftest_seen *seen)
{
   for (uint32_t mode = AGX_HW_CDM_MODE_INDIRECT_GLOBAL; mode <= AGX_HW_CDM_MODE_INDIRECT_LOCAL;
        mode++) {
      const struct selftest_launch launch = {
         .program = MARK,
         .threads = {mode == AGX_HW_CDM_MODE_INDIRECT_GLOBAL ? 256 : 200, 1, 1},
         .local = {is_altered ? 128 : 64, 1, 1},
         .mode = mode,
      };
      struct selftest_outcome outcome;
      uint32_t ran = 0;
      selftest_clear(machine);
      AGX_TRY(selftest_prepare(machine, &launch));
      if (is_altered) /* one workgroup, or thread, less */
         *(uint32_t *)(machine->data + SELFTEST_SIZES) -= 1;
      AGX_TRY(selftest_submit(machine, &outcome));
      for (uint32_t i = 0; i < 512; i++)
         ran += output_word(machine, i, 0) == 1;
      selftest_see(seen, outcome.error != 0, "mode %u: it fails", mode);
      selftest_see(seen, ran, "mode %u: threads that ran", mode);
   }
   return AGX_OK;
}

/* ---- the barrier of the stream -------------------------------------------- */

/* Each launch adds 1 to each thread's count, and to what the launch before left in the place of a
 * thread elsewhere; two places in turn keep launches that are in order from racing. */
#define RELAY                                                                                      \
   "mfsr d=r4 sr=thread_in_grid_x; load r=r12 base=du4 index=r4 format=i32 mask=x group=a; "       \
   "wait group=a; and d=r16 a=r12 b=1; shl d=r16 b=r16 c=10; ldimm32 d=r17 imm=1024; "             \
   "iadd d=r18 a=r4 b=67; ldimm32 d=r19 imm=1023; and d=r18 a=r18 b=r19; "                         \
   "iadd d=r18 a=r18 b=r16; iadd d=r18 a=r18 b=r17; "                                              \
   "load r=r13 base=du4 index=r18 format=i32 mask=x group=a; wait group=a; "                       \
   "iadd d=r12 a=r12 b=1; iadd d=r13 a=r13 b=1; xor d=r16 a=r16 b=r17; "                           \
   "iadd d=r18 a=r4 b=r16; iadd d=r18 a=r18 b=r17; "                                               \
   "store r=r12 base=du4 index=r4 format=i32 mask=x group=a; "                                     \
   "store r=r13 base=du4 index=r18 format=i32 mask=x group=a; "                                    \
   "store r=r12..r13 base=du2 index=r4 shift=lsl2 format=i32 mask=xy group=a"
#define RELAY_LAUNCHES 6u
#define RELAY_THREADS  1024u

/* How many threads did not see all launches before theirs. */
static agx_status relay(struct selftest_machine *machine, uint32_t barrier, bool is_altered,
                        uint32_t *out_late)
{
   const struct selftest_launch launch = {
      .program = RELAY,
      .threads = {RELAY_THREADS, 1, 1},
      .local = {32, 1, 1},
      .barrier = barrier,
      .repeats = RELAY_LAUNCHES - 1 - is_altered,
   };
   struct selftest_outcome outcome;
   *out_late = 0;
   selftest_clear(machine);
   AGX_TRY(selftest_run(machine, &launch, &outcome));
   for (uint32_t i = 0; i < RELAY_THREADS; i++)
      *out_late += output_word(machine, i, 0) != RELAY_LAUNCHES ||
                   output_word(machine, i, 1) != RELAY_LAUNCHES;
   if (outcome.error)
      *out_late = UINT32_MAX;
   return AGX_OK;
}

static agx_status run_usual_barrier(const struct selftest_experiment *experiment,
                                    struct selftest_machine *machine, bool is_altered,
                                    struct selftest_seen *seen)
{
   uint32_t late;
   AGX_TRY(relay(machine, AGX_HW_CDM_BARRIER_WORD, is_altered, &late));
   selftest_see(seen, late, "late threads");
   return AGX_OK;
}

static agx_status run_barrier_bits(const struct selftest_experiment *experiment,
                                   struct selftest_machine *machine, bool is_altered,
                                   struct selftest_seen *seen)
{
   for (uint32_t bit = 0; bit < 20; bit++) {
      uint32_t only, without;
      AGX_TRY(relay(machine, 0x60000000 | 1u << bit, is_altered, &only));
      AGX_TRY(relay(machine, AGX_HW_CDM_BARRIER_WORD & ~(1u << bit), is_altered, &without));
      selftest_see(seen, only, "only %u: late", bit);
      selftest_see(seen, without, "without %u: late", bit);
   }
   return AGX_OK;
}

/* ---- the barriers of memory ------------------------------------------------ */

/* Even workgroups store a word and then set a flag; odd ones wait for the flag, 2000 rounds at
 * most, and load the word. */
#define MESSAGE                                                                                    \
   "ldimm16 d=r0l imm=0; mfsr d=r4 sr=thread_in_grid_x; mfsr d=r5 sr=threadgroup_in_grid_x; "      \
   "and d=r16 a=r5 b=1; mov d=r12 a=0; mov d=r13 a=0; ldimm32 d=r20 imm=1024; "                    \
   "ldimm32 d=r25 imm=2000; if_icmp a=r16 b=0 nest=1 cond=ieq; jmp_none offset=@odd; "             \
   "imul d=r17 a=r4 b=3; store r=r17 base=du4 index=r4 format=i32 mask=x group=a; wait group=a; "  \
   "BARRIERS; mov d=r18 a=1; iadd d=r19 a=r4 b=r20; "                                              \
   "atomic r=r18 s=r18 base=du4 index=r19 op=xchg group=a; wait group=a; odd:; "                   \
   "else_icmp a=0 b=0 nest=1 cond=ieq; jmp_none offset=@end; isub d=r19 a=r4 b=32; "               \
   "iadd d=r21 a=r19 b=r20; mov d=r22 a=0; if_icmp a=0 b=0 nest=1 cond=ieq; top:; "                \
   "iadd d=r22 a=r22 b=1; mov d=r18 a=0; "                                                         \
   "atomic r=r18 s=r18 base=du4 index=r21 op=or group=a; wait group=a; "                           \
   "icsel d=r23 a=r18 b=0 x=r22 y=r25 cond=ieq; while_icmp a=r23 b=r25 nest=1 cond=ult; "          \
   "jmp_any offset=@top; pop_exec nest=1; BARRIERS; "                                              \
   "load r=r12 base=du4 index=r19 format=i32 mask=x group=a; wait group=a; "                       \
   "imul d=r13 a=r19 b=3; isub d=r12 a=r12 b=r13; mov d=r13 a=r18; end:; pop_exec nest=1; "        \
   "store r=r12..r13 base=du2 index=r4 shift=lsl2 format=i32 mask=xy group=a"
#define MESSAGE_THREADS 512u
#define DEVICE_SCOPE                                                                               \
   "memory_barrier; unknown_barrier_1; memory_barrier_2; device_barrier_2; unknown_barrier_2; "    \
   "memory_barrier_3; device_barrier_1"

/* Of the sender; both texts have the same length. */
struct alteration {
   const char *from, *to;
};

static agx_status pass_messages(struct selftest_machine *machine, const char *barriers,
                                const char *name, const struct alteration *alteration,
                                struct selftest_seen *seen)
{
   static char program[4096];
   const struct selftest_launch launch = {
      .program = program,
      .threads = {MESSAGE_THREADS, 1, 1},
      .local = {32, 1, 1},
      .from = "BARRIERS",
      .to = barriers,
   };
   struct selftest_outcome outcome;
   uint32_t stale = 0, arrived = 0;
   strcpy(program, MESSAGE);
   if (alteration)
      memcpy(strstr(program, alteration->from), alteration->to, strlen(alteration->to));
   selftest_clear(machine);
   AGX_TRY(selftest_run(machine, &launch, &outcome));
   for (uint32_t i = 32; i < MESSAGE_THREADS; i++) {
      const bool has_flag = i / 32 % 2 && output_word(machine, i, 1) == 1;
      arrived += has_flag;
      stale += has_flag && output_word(machine, i, 0) != 0;
   }
   selftest_see(seen, outcome.error ? UINT32_MAX : stale, "%s", name);
   /* Without any, no word could be stale, whatever the barriers do. */
   selftest_see(seen, arrived != 0, "a message arrives");
   selftest_tell(seen, arrived, "messages that arrived");
   return AGX_OK;
}

static agx_status run_device_scope(const struct selftest_experiment *experiment,
                                   struct selftest_machine *machine, bool is_altered,
                                   struct selftest_seen *seen)
{
   static const struct alteration number = {"imul d=r17 a=r4 b=3", "imul d=r17 a=r4 b=2"};
   return pass_messages(machine, DEVICE_SCOPE, "stale words", is_altered ? &number : NULL, seen);
}

static agx_status run_single_barriers(const struct selftest_experiment *experiment,
                                      struct selftest_machine *machine, bool is_altered,
                                      struct selftest_seen *seen)
{
   static const char *const names[] = {
      "memory_barrier",   "memory_barrier_2",  "memory_barrier_3",  "device_barrier_1",
      "device_barrier_2", "unknown_barrier_1", "unknown_barrier_2", "image_barrier_1",
      "image_barrier_2",  "image_barrier_3",   "image_barrier_4",   "flush_memory_to_texture",
   };
   static const struct alteration flag = {"mov d=r18 a=1", "mov d=r18 a=0"};
   for (size_t i = 0; i < AGX_COUNT(names); i++)
      AGX_TRY(pass_messages(machine, names[i], names[i], is_altered ? &flag : NULL, seen));
   return AGX_OK;
}

/* ---- waits ------------------------------------------------------------------ */

#define CHASE                                                                                      \
   "ldimm16 d=r0l imm=0; mfsr d=r4 sr=thread_in_grid_x; mov d=r12 a=0; mov d=r13 a=0; "            \
   "mov d=r20 a=r4; if_icmp a=0 b=0 nest=1 cond=ieq; top:; ldimm32 d=r16 imm=4294967295; "         \
   "load r=r16 base=du0 index=r20 format=i32 mask=x group=a; WAIT; "                               \
   "icsel d=r17 a=r16 b=5 x=0 y=1 cond=ieq; iadd d=r12 a=r12 b=r17; wait group=a; "                \
   "iadd d=r20 a=r20 b=37; ldimm32 d=r21 imm=2047; and d=r20 a=r20 b=r21; "                        \
   "iadd d=r13 a=r13 b=1; while_icmp a=r13 b=200 nest=1 cond=ult; jmp_any offset=@top; "           \
   "pop_exec nest=1; store r=r12..r13 base=du2 index=r4 shift=lsl2 format=i32 mask=xy group=a"

static agx_status chase(struct selftest_machine *machine, const char *wait, uint32_t number,
                        uint32_t *out_wrong)
{
   const struct selftest_launch launch = {
      .program = CHASE, .from = "WAIT; ", .to = wait, .threads = {512, 1, 1}, .local = {64, 1, 1}};
   struct selftest_outcome outcome;
   *out_wrong = 0;
   selftest_clear(machine);
   for (uint32_t i = 0; i < 2048; i++)
      memcpy(machine->data + SELFTEST_INPUT + 4 * i, &number, 4);
   AGX_TRY(selftest_run(machine, &launch, &outcome));
   for (uint32_t i = 0; i < 512; i++)
      *out_wrong += output_word(machine, i, 0);
   if (outcome.error)
      *out_wrong = UINT32_MAX;
   return AGX_OK;
}

static agx_status run_waits(const struct selftest_experiment *experiment,
                            struct selftest_machine *machine, bool is_altered,
                            struct selftest_seen *seen)
{
   uint32_t wrong;
   AGX_TRY(chase(machine, "wait group=a; ", is_altered ? 6 : 5, &wrong));
   selftest_see(seen, wrong, "stale with a wait");
   AGX_TRY(chase(machine, "wait group=b; ", 5, &wrong));
   selftest_tell(seen, wrong, "stale with the other");
   AGX_TRY(chase(machine, "", 5, &wrong));
   selftest_tell(seen, wrong, "stale without a wait");
   return AGX_OK;
}

/* ---- the chip --------------------------------------------------------------- */

static agx_status run_clock(const struct selftest_experiment *experiment,
                            struct selftest_machine *machine, bool is_altered,
                            struct selftest_seen *seen)
{
   const struct agxw_device_info *info = agxw_device_info(machine->device);
   struct selftest_machine other = {0};
   if (!is_altered) {
      selftest_see(seen, info->max_khz, "kHz");
      selftest_see(seen, info->core_count, "cores");
      return AGX_OK;
   }
   agx_status status =
      selftest_open(&other, info->chip->generation == 13 ? "virtual:g14d" : "virtual:g13g");
   if (status == AGX_OK) {
      selftest_see(seen, agxw_device_info(other.device)->max_khz, "kHz");
      selftest_see(seen, agxw_device_info(other.device)->core_count, "cores");
   }
   selftest_close(&other);
   return status;
}

static const struct selftest_experiment launches[] = {
   {"zero-grid", "U-stream-01", run_zero_grid, SELFTEST_RISKY,
    "Grids with a zero in each axis: how many threads run", "a 1 in place of the zero"},
   {"indirect-sizes", "", run_indirect, 0,
    "Sizes of a grid that are read from memory, with and without the local size",
    "a size less by one"},
   {"barrier-of-the-stream", "", run_usual_barrier, 0,
    "Six launches that pass a number on, with Mesa's barrier between them", "a launch less"},
   {"barrier-of-the-stream-by-bits", "U-stream-02", run_barrier_bits, SELFTEST_RISKY,
    "The same with each single bit of the barrier, and with all but one", "a launch less"},
   {"barriers-of-device-scope", "U-mem-03", run_device_scope, 0,
    "Messages between workgroups, with the known sequence of memory barriers",
    "the sender stores another number"},
   {"memory-barriers-one-by-one", "U-mem-03", run_single_barriers, SELFTEST_RISKY,
    "The same with each memory barrier alone: how many words are stale", "the sender sets no flag"},
   {"waits", "", run_waits, 0,
    "Loads whose wait is there, is of the other group, or is left out: how many words are stale",
    "memory holds another number"},
   {"clock", "U-run-09", run_clock, 0,
    "The clock and cores that the kernel tells, beside the table's", "another chip's device"},
};
const struct selftest_group selftest_launches = {"launches", launches, AGX_COUNT(launches)};
