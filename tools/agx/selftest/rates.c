/* SPDX-License-Identifier: MIT
 *
 * Experiments about costs: how many cycles an instruction takes. A loop runs with two lengths of
 * its body and two counts; what all four have in common (the launch, the loop, first fetches)
 * cancels. A device that counts cycles by the model tells those; hardware is timed by its
 * timestamps, at the clock that the kernel tells.
 */
#include <stdio.h>
#include <string.h>

#include "agx/hw/packet.h"
#include "base/util.h"
#include "selftest.h"

#define MAX_PROGRAM     131072
#define SLACK           200u /* per mille: clocks vary, and costs are whole cycles */
#define GROUPS          24u  /* SIMD-groups a core for throughput: enough for full use of the ALU */
#define MODELLED_GROUPS 8u   /* as many as the model wants */
#define TRIES           3    /* on hardware, of which the fastest counts */

#define BEGIN                                                                                      \
   "ldimm16 d=r0l imm=0; mfsr d=r16 sr=thread_index_in_simdgroup; shl d=r17 b=r16 c=5; "           \
   "mov d=r8 a=0; mov d=r9 a=0; mov d=r10 a=0; mov d=r11 a=0; mov d=r12 a=0; mov d=r13 a=0; "      \
   "mov d=r14 a=0; mov d=r15 a=0; mov d=r20l a=0; lstore r=r12 base=r20l index=r17l format=i32 "   \
   "mask=x; lstore r=r12 base=r20l index=r16l format=i32 mask=x; "
#define TOP "mov d=r5 a=0; if_icmp a=0 b=0 nest=1 cond=ieq; top:; "
#define BOTTOM                                                                                     \
   "; iadd d=r5 a=r5 b=1; while_icmp a=r5 b=u14 nest=1 cond=ult; jmp_any offset=@top; "            \
   "pop_exec nest=1"
#define END "; store r=r12 base=du2 index=r16 format=i32 mask=x group=a"

enum kind {
   ONE_GROUP,   /* whose bodies follow each other */
   IN_PREAMBLE, /* likewise, of instructions that are for preambles only */
   MANY_GROUPS, /* as many as keep the cores busy */
   LONG_BODY,   /* the same, with more code than the cache holds */
};

static void write_program(char *program, const char *body, uint32_t bodies, enum kind kind)
{
   const bool is_preamble = kind == IN_PREAMBLE;
   char *at = program;
   at += sprintf(at, "%s", is_preamble ? "ldimm16 d=r0l imm=0; mov d=r8 a=0; " TOP : BEGIN TOP);
   for (uint32_t i = 0; i < bodies; i++)
      at += sprintf(at, "%s;", body);
   strcpy(at, is_preamble ? BOTTOM : BOTTOM END);
}

/* Time of one launch: cycles of the model, or of the clock. */
static agx_status measure(struct selftest_machine *machine, struct selftest_launch *launch,
                          double *out_cycles)
{
   const struct agxw_device_info *info = agxw_device_info(machine->device);
   struct selftest_outcome outcome;
   *out_cycles = 0;
   for (int i = 0; i < (machine->has_counters ? 1 : TRIES); i++) {
      AGX_TRY(selftest_run(machine, launch, &outcome));
      if (outcome.error || outcome.end < outcome.start)
         return AGX_FAIL(AGX_UNAVAILABLE, "a launch that was to be timed failed");
      double cycles = (double)machine->counters.cycles;
      if (!machine->has_counters)
         cycles = (double)(outcome.end - outcome.start) / (double)info->timestamp_hz *
                  info->max_khz * 1e3;
      *out_cycles = i ? AGX_MIN(*out_cycles, cycles) : cycles;
   }
   return AGX_OK;
}

/* Cycles that the longer loop takes beyond the shorter. */
static agx_status measure_loops(struct selftest_machine *machine, struct selftest_launch *launch,
                                const uint32_t loops[2], double *out_cycles)
{
   double few, many;
   launch->loops = loops[0];
   AGX_TRY(measure(machine, launch, &few));
   launch->loops = loops[1];
   AGX_TRY(measure(machine, launch, &many));
   *out_cycles = many - few;
   return AGX_OK;
}

static agx_status run_rate(const struct selftest_experiment *experiment,
                           struct selftest_machine *machine, bool is_altered, enum kind kind,
                           struct selftest_seen *seen)
{
   static char program[MAX_PROGRAM];
   static const uint32_t usual[2] = {16, 48}, long_bodies[2] = {1300, 1400};
   static const uint32_t modelled[2] = {2, 4}, modelled_long[2] = {7, 9}, timed[2] = {200, 1400},
                         timed_long[2] = {20, 120};
   const uint32_t *bodies = kind == LONG_BODY ? long_bodies : usual;
   const bool is_long = kind == LONG_BODY, is_modelled = machine->has_counters;
   const uint32_t *few = is_long ? modelled_long : modelled;
   const uint32_t *loops = is_modelled ? few : is_long ? timed_long : timed;
   const uint32_t cores = agxw_device_info(machine->device)->core_count;
   const bool is_alone = kind == ONE_GROUP || kind == IN_PREAMBLE;
   const uint32_t groups = is_alone ? 1 : (is_modelled ? MODELLED_GROUPS : GROUPS) * cores;
   struct selftest_launch launch = {
      .program = kind == IN_PREAMBLE ? "mov d=r12 a=0" : program,
      .preamble = kind == IN_PREAMBLE ? program : experiment->launch.preamble,
      .from = is_altered ? experiment->launch.from : NULL,
      .to = experiment->launch.to,
      .threads = {32 * groups, 1, 1},
      .shared_B = 4096,
   };
   double cycles[2];
   if (!is_modelled && agxw_device_info(machine->device)->is_virtual)
      return AGX_FAIL(AGX_UNAVAILABLE, "this virtual AGX counts no cycles; run it without chaos");
   if (experiment->image) {
      AGX_TRY(selftest_write_image(machine, experiment->image));
      memset(machine->data + SELFTEST_PIXELS, 0, 0x4000);
   }
   for (unsigned i = 0; i < 2; i++) {
      write_program(program, experiment->launch.program, bodies[i], kind);
      AGX_TRY(measure_loops(machine, &launch, loops, &cycles[i]));
   }
   double each = (cycles[1] - cycles[0]) / (bodies[1] - bodies[0]) / (loops[1] - loops[0]);
   if (!is_alone) /* of one of a core's four schedulers */
      each = each * 4 * cores / groups;
   selftest_see(seen, each > 0 ? (uint64_t)(each * 1000 + 0.5) : 0, "cycles / 1000");
   seen->value[seen->count - 1].slack = machine->has_counters ? 0 : SLACK;
   selftest_tell(seen, seen->value[seen->count - 1].value, "cycles / 1000, measured");
   return AGX_OK;
}

static agx_status run_latency(const struct selftest_experiment *experiment,
                              struct selftest_machine *machine, bool is_altered,
                              struct selftest_seen *seen)
{
   return run_rate(experiment, machine, is_altered, ONE_GROUP, seen);
}

static agx_status run_in_preamble(const struct selftest_experiment *experiment,
                                  struct selftest_machine *machine, bool is_altered,
                                  struct selftest_seen *seen)
{
   return run_rate(experiment, machine, is_altered, IN_PREAMBLE, seen);
}

static agx_status run_throughput(const struct selftest_experiment *experiment,
                                 struct selftest_machine *machine, bool is_altered,
                                 struct selftest_seen *seen)
{
   return run_rate(experiment, machine, is_altered, MANY_GROUPS, seen);
}

static agx_status run_long(const struct selftest_experiment *experiment,
                           struct selftest_machine *machine, bool is_altered,
                           struct selftest_seen *seen)
{
   return run_rate(experiment, machine, is_altered, LONG_BODY, seen);
}

#define TEXTURE(row, questions, text, before, after)                                               \
   {.name = row,                                                                                   \
    .ids = questions,                                                                              \
    .run = run_latency,                                                                            \
    .flags = SELFTEST_HARDWARE,                                                                    \
    .image = &zeros,                                                                               \
    .launch = {                                                                                    \
       .program = text, .preamble = SELFTEST_IMAGE_PREAMBLE, .from = before, .to = after}},
/* Its pixels are zeros, so that a result is the next place. */
static const struct selftest_image zeros = {.channels = AGX_HW_CHANNELS_R8G8B8A8,
                                            .type = AGX_HW_TEXTURE_TYPE_UINT};

#define RATE(function, row, questions, text, before, after)                                        \
   {.name = row,                                                                                   \
    .ids = questions,                                                                              \
    .run = function,                                                                               \
    .flags = SELFTEST_HARDWARE,                                                                    \
    .launch = {.program = text, .from = before, .to = after}},
#define LATENCY(...)    RATE(run_latency, __VA_ARGS__)
#define THROUGHPUT(...) RATE(run_throughput, __VA_ARGS__)
#define PREAMBLE(...)   RATE(run_in_preamble, __VA_ARGS__)
#define LONG(...)       RATE(run_long, __VA_ARGS__)

static const struct selftest_experiment rates[] = {
#include "rates.def"
};
const struct selftest_group selftest_rates = {"rates", rates, AGX_COUNT(rates)};
