/* SPDX-License-Identifier: MIT
 *
 * Experiments about submissions: queues, timestamps, memory of others, faults and hangs.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agx/hw/usc.h"
#include "base/clock.h"
#include "base/util.h"
#include "selftest.h"

#define NUMBERS                                                                                    \
   "mfsr d=r4 sr=thread_in_grid_x; iadd d=r12 a=r4 b=77; "                                         \
   "store r=r12 base=du4 index=r4 format=i32 mask=x group=a"
#define COPY                                                                                       \
   "mfsr d=r4 sr=thread_in_grid_x; load r=r12 base=du4 index=r4 format=i32 mask=x group=a; "       \
   "wait group=a; store r=r12 base=du2 index=r4 shift=lsl2 format=i32 mask=x group=a"
#define SPARE_UNIFORM 16u /* where du4 lies in the data buffer */

static uint32_t word_at(const void *memory, uint32_t index)
{
   uint32_t word;
   memcpy(&word, (const uint8_t *)memory + 4 * index, 4);
   return word;
}

/* ---- queues and times ------------------------------------------------------- */

static agx_status run_priorities(const struct selftest_experiment *experiment,
                                 struct selftest_machine *machine, bool is_altered,
                                 struct selftest_seen *seen)
{
   for (uint32_t priority = 0; priority < 4; priority++) {
      struct agxw_queue *queue;
      agx_status status =
         agxw_queue_create(machine->device, is_altered ? 3 - priority : priority, &queue);
      selftest_see(seen, status == AGX_OK, "priority %u is accepted", priority);
      if (status == AGX_OK)
         agxw_queue_destroy(queue);
   }
   return AGX_OK;
}

static agx_status run_timestamps(const struct selftest_experiment *experiment,
                                 struct selftest_machine *machine, bool is_altered,
                                 struct selftest_seen *seen)
{
   const struct selftest_launch launch = {.program = NUMBERS};
   struct selftest_outcome outcome;
   uint64_t before, after;
   AGX_TRY(selftest_prepare(machine, &launch));
   struct agxw_compute command = selftest_command(machine);
   if (is_altered)
      command.stamps = NULL;
   AGX_TRY(agxw_device_time(machine->device, &before));
   AGX_TRY(selftest_submit_on(machine, machine->queue, &command, 1, &outcome));
   AGX_TRY(agxw_device_time(machine->device, &after));
   selftest_see(seen, outcome.start >= before && outcome.start <= after, "start lies between");
   selftest_see(seen, outcome.end >= outcome.start && outcome.end != 0, "end is behind start");
   selftest_see(seen, outcome.end <= after, "end is before now");
   selftest_tell(seen, outcome.end - outcome.start, "ticks of a small launch");
   selftest_tell(seen, outcome.host_ns, "ns of its submission");
   return AGX_OK;
}

#define TICK_TEST_NS 20000000

/* The host's clock is read on both sides of the device's: whatever happens between, the device's
 * time must fit between the shortest and the longest that the host's allows, give or take 0.1%. */
static agx_status run_tick_rate(const struct selftest_experiment *experiment,
                                struct selftest_machine *machine, bool is_altered,
                                struct selftest_seen *seen)
{
   const double hz = (double)agxw_device_info(machine->device)->timestamp_hz;
   uint64_t ticks[2];
   int64_t host[4];
   host[0] = agx_now_ns();
   AGX_TRY(agxw_device_time(machine->device, &ticks[0]));
   host[1] = agx_now_ns();
   if (!is_altered)
      nanosleep(&(struct timespec){.tv_nsec = TICK_TEST_NS}, NULL);
   host[2] = agx_now_ns();
   AGX_TRY(agxw_device_time(machine->device, &ticks[1]));
   host[3] = agx_now_ns();
   const double ns = (double)(ticks[1] - ticks[0]) / hz * 1e9;
   selftest_see(seen, ns >= TICK_TEST_NS * 0.999, "20 ms have passed");
   selftest_see(seen, ns >= (double)(host[2] - host[1]) * 0.999 - 1000, "no slower");
   selftest_see(seen, ns <= (double)(host[3] - host[0]) * 1.001 + 1000, "no faster");
   selftest_tell(seen, (uint64_t)hz, "ticks a second, as told");
   return AGX_OK;
}

static agx_status run_two_queues(const struct selftest_experiment *experiment,
                                 struct selftest_machine *machine, bool is_altered,
                                 struct selftest_seen *seen)
{
   const struct selftest_launch first = {.program = NUMBERS}, second = {.program = COPY};
   struct selftest_outcome outcome;
   struct agxw_queue *queue;
   AGX_TRY(agxw_queue_create(machine->device, 0, &queue));
   agx_status status = AGX_OK;
   if (!is_altered)
      status = selftest_run(machine, &first, &outcome);
   if (status == AGX_OK)
      status = selftest_prepare(machine, &second);
   const struct agxw_compute command = selftest_command(machine);
   if (status == AGX_OK)
      status = selftest_submit_on(machine, queue, &command, 1, &outcome);
   agxw_queue_destroy(queue);
   if (status == AGX_OK)
      selftest_see_output(machine, 32, 1, seen);
   return status;
}

/* ---- memory of others ------------------------------------------------------- */

static agx_status store_through(struct selftest_machine *machine, const struct agxw_bo *bo,
                                struct selftest_outcome *out_outcome)
{
   const struct selftest_launch launch = {.program = NUMBERS};
   const uint64_t va = agxw_bo_va(bo);
   AGX_TRY(selftest_prepare(machine, &launch));
   memcpy(machine->data + SPARE_UNIFORM, &va, sizeof(va));
   return selftest_submit(machine, out_outcome);
}

static agx_status import_and_store(struct selftest_machine *machine, struct agxw_bo *exported,
                                   bool is_altered, struct selftest_seen *seen)
{
   struct selftest_outcome outcome;
   struct agxw_bo *imported;
   void *memory;
   int fd;
   AGX_TRY(agxw_bo_map(exported, &memory));
   AGX_TRY(agxw_bo_export(exported, &fd));
   agx_status status = agxw_bo_import(machine->device, fd, 0, "selftest import", &imported);
   close(fd);
   AGX_TRY(status);
   status = store_through(machine, is_altered ? machine->data_bo : imported, &outcome);
   for (uint32_t i = 0; status == AGX_OK && i < 32; i++)
      selftest_see(seen, word_at(memory, i), "word %u", i);
   if (!machine->is_stale)
      agxw_bo_destroy(imported);
   return status;
}

static agx_status run_import(const struct selftest_experiment *experiment,
                             struct selftest_machine *machine, bool is_altered,
                             struct selftest_seen *seen)
{
   struct agxw_bo *exported;
   AGX_TRY(agxw_bo_create(machine->device, 0x4000, 0, AGXW_BO_SHAREABLE | AGXW_BO_CACHED,
                          "selftest export", &exported));
   agx_status status = import_and_store(machine, exported, is_altered, seen);
   if (!machine->is_stale)
      agxw_bo_destroy(exported);
   return status;
}

/* ---- faults and hangs ------------------------------------------------------- */

#define BAD_WORDS  0x200u  /* launch words in the code buffer; the sound ones are at 0 */
#define BAD_STREAM 0x1000u /* behind the sound stream */

/* A second stream: as the prepared one, but its uniforms are read from where nothing is. */
static struct agxw_compute make_bad_command(struct selftest_machine *machine, bool is_altered)
{
   struct agxw_compute command = selftest_command(machine);
   uint8_t *stream = machine->data + SELFTEST_STREAM;
   uint64_t far, uniforms;
   uint32_t words;
   memcpy(machine->code + BAD_WORDS, machine->code, 0x100);
   memcpy(stream + BAD_STREAM, stream, machine->stream_end - SELFTEST_STREAM + 8);
   memcpy(&far, machine->data + 40, sizeof(far)); /* du10 */
   memcpy(&uniforms, machine->code, sizeof(uniforms));
   uniforms = agx_hw_usc_uniform_at(uniforms, far - machine->data_va);
   if (!is_altered)
      memcpy(machine->code + BAD_WORDS, &uniforms, sizeof(uniforms));
   memcpy(&words, stream + BAD_STREAM + 4, sizeof(words));
   words += BAD_WORDS;
   memcpy(stream + BAD_STREAM + 4, &words, sizeof(words));
   command.stream_va += BAD_STREAM;
   command.stream_end_va += BAD_STREAM;
   return command;
}

static agx_status run_hard_fault(const struct selftest_experiment *experiment,
                                 struct selftest_machine *machine, bool is_altered,
                                 struct selftest_seen *seen)
{
   const struct selftest_launch launch = {.program = NUMBERS};
   struct selftest_outcome outcome, next;
   AGX_TRY(selftest_prepare(machine, &launch));
   const struct agxw_compute bad = make_bad_command(machine, is_altered);
   AGX_TRY(selftest_submit_on(machine, machine->queue, &bad, 1, &outcome));
   selftest_see_failure(machine, &outcome, seen);
   selftest_see(seen, outcome.start != 0, "start time is written");
   selftest_see(seen, outcome.end != 0, "end time is written");
   selftest_tell(seen, outcome.host_ns / 1000, "us until its end");
   if (selftest_submit(machine, &next) != AGX_OK)
      next.error = -1;
   selftest_see(seen, next.error != 0, "the next one fails");
   selftest_see(seen, word_at(machine->data + SELFTEST_SPARE, 3), "what it stores");
   AGX_TRY(selftest_reopen(machine));
   AGX_TRY(selftest_run(machine, &launch, &next));
   selftest_see(seen, next.error != 0, "a new device fails");
   return AGX_OK;
}

static agx_status run_fault_and_number(const struct selftest_experiment *experiment,
                                       struct selftest_machine *machine, bool is_altered,
                                       struct selftest_seen *seen)
{
   const struct selftest_launch launch = {.program = NUMBERS};
   struct selftest_outcome outcome;
   AGX_TRY(selftest_prepare(machine, &launch));
   struct agxw_compute commands[2] = {make_bad_command(machine, is_altered),
                                      selftest_command(machine)};
   commands[0].stamps = NULL;
   AGX_TRY(selftest_submit_on(machine, machine->queue, commands, 2, &outcome));
   selftest_see_failure(machine, &outcome, seen);
   selftest_see(seen, word_at(machine->data + SELFTEST_SPARE, 3), "number of the last command");
   selftest_see(seen, outcome.end != 0, "its end time is written");
   return AGX_OK;
}

static agx_status run_hang(const struct selftest_experiment *experiment,
                           struct selftest_machine *machine, bool is_altered,
                           struct selftest_seen *seen)
{
   const struct selftest_launch hang = {
      .program = "top:; iadd d=r4 a=r4 b=1; jmp_any offset=@top",
      .from = is_altered ? "jmp_any offset=@top" : NULL,
      .to = "",
   };
   const struct selftest_launch launch = {.program = NUMBERS};
   struct selftest_outcome outcome;
   AGX_TRY(selftest_run(machine, &hang, &outcome));
   selftest_see_failure(machine, &outcome, seen);
   selftest_see(seen, outcome.end != 0, "end time is written");
   selftest_tell(seen, outcome.host_ns / 1000, "us until its end");
   const int64_t begin = agx_now_ns();
   AGX_TRY(selftest_reopen(machine));
   AGX_TRY(selftest_run(machine, &launch, &outcome));
   selftest_see(seen, outcome.error != 0, "a new device fails");
   selftest_tell(seen, (uint64_t)(agx_now_ns() - begin) / 1000, "us of the next launch");
   return AGX_OK;
}

static const struct selftest_experiment submissions[] = {
   {"priorities", "", run_priorities, 0, "Which priorities of queues the kernel accepts",
    "the priorities in reverse"},
   {"timestamps", "", run_timestamps, 0,
    "Start and end of a command lie between two looks at the clock",
    "a command without timestamps"},
   {"tick-rate", "", run_tick_rate, 0, "The device's clock beside the host's, over 20 ms",
    "no time in between"},
   {"two-queues", "", run_two_queues, 0, "What one queue stores, another one loads",
    "the first submission is left out"},
   {"dma-buf", "", run_import, 0, "Stores through an imported dma-buf reach its exporter",
    "stores go to another buffer"},
   {"hard-fault", "U-fault-01", run_hard_fault, SELFTEST_RISKY,
    "Uniforms from unmapped memory: the fence, times, the next submission, a new device",
    "uniforms from mapped memory"},
   {"number-behind-a-fault", "U-fault-02", run_fault_and_number, SELFTEST_RISKY,
    "Two commands, of which the first faults: does the second one store its number",
    "uniforms from mapped memory"},
   {"hang", "U-fault-01", run_hang, SELFTEST_RISKY,
    "An endless kernel: the fence, the time until it ends, a new device", "a kernel that ends"},
};
const struct selftest_group selftest_submissions = {"submissions", submissions,
                                                    AGX_COUNT(submissions)};
