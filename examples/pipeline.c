/* SPDX-License-Identifier: MIT
 *
 * Two queues in a pipeline. Stage 1, on queue 0, makes a frame of noise; stage 2, on queue 1, sums
 * it up, while queue 0 is at the next frame already. All frames are submitted before the first one
 * has begun, and then the host waits once.
 *
 * Three timelines say what comes when; frame n has point n + 1 on each:
 *
 *    memory   the frame has memory: queue-ordered allocation out of a pool
 *    made     stage 1 is through with it
 *    summed   stage 2 is through with it, and its memory goes to the next frame
 *
 * The pool has room for three frames, and that alone bounds how far stage 1 runs ahead: the fourth
 * allocation waits until the first frame has given its memory back.
 */
#include <agx/hal.h>
#include <stdio.h>

#include "gpu.h"
#include "reference.h"

#include "noise.spv.h"
#include "reduction.spv.h"

enum {
   FRAMES = 24,
   FRAMES_AT_ONCE = 3,
   FRAME_WORDS = 16384, /* 64 KiB */
   FRAME_B = FRAME_WORDS * 4,
   GROUPS = 16, /* sums of a frame */
   SUMS_B = GROUPS * 4,
};

struct pipeline {
   struct gpu gpu;
   struct agx_executable *noise, *reduction;
   struct agx_pool *pool;
   struct agx_semaphore *memory, *made, *summed;
   struct gpu_buffer sums; /* of all frames */
};

static void setup(struct pipeline *p)
{
   struct agx_pool_desc desc = {.size = sizeof(desc),
                                .strategy = AGX_POOL_FIXED,
                                .block_B = FRAME_B,
                                .slab_B = FRAME_B,
                                .limit_B = FRAMES_AT_ONCE * FRAME_B,
                                .label = "frames"};
   struct agx_device *device = p->gpu.device;
   p->noise = gpu_kernel(&p->gpu, noise_spv, sizeof(noise_spv));
   p->reduction = gpu_kernel(&p->gpu, reduction_spv, sizeof(reduction_spv));
   gpu_check(agx_pool_create(device, &desc, &p->pool));
   gpu_check(agx_semaphore_create(device, 0, &p->memory));
   gpu_check(agx_semaphore_create(device, 0, &p->made));
   gpu_check(agx_semaphore_create(device, 0, &p->summed));
   if (!gpu_buffer(&p->gpu, FRAMES * SUMS_B, &p->sums))
      gpu_check(AGX_RESOURCE_EXHAUSTED);
}

/* The buffer is there at once, its memory when the operation's turn has come. It waits for the
 * frame before, since a point of a timeline is reached with any later one: a frame that got a block
 * first would say that this one has its memory, too. */
static struct agx_buffer *submit_memory(struct pipeline *p, uint32_t frame)
{
   struct agx_buffer *buffer;
   const struct agx_point before = {p->memory, frame};
   struct agx_point has_memory = {p->memory, frame + 1};
   struct agx_op op = gpu_op(AGX_OP_ALLOCA, &before, 1, &has_memory);
   op.u.alloca = (struct agx_op_alloca){.pool = p->pool, .size_B = FRAME_B, .out_buffer = &buffer};
   gpu_check(agx_submit(p->gpu.device, &op, 1, NULL));
   return buffer;
}

static void submit_frame(struct pipeline *p, uint32_t frame)
{
   struct agx_buffer *buffer = submit_memory(p, frame);
   const struct agx_point has_memory = {p->memory, frame + 1};
   const struct agx_point made = {p->made, frame + 1};
   const struct agx_point summed = {p->summed, frame + 1};
   const uint32_t arguments[] = {FRAME_WORDS, frame};
   const struct agx_binding bindings[] = {
      {.binding = 0, .ref = {.buffer = buffer, .length_B = AGX_WHOLE_LENGTH}},
      {.binding = 1,
       .ref = {.buffer = p->sums.buffer, .offset_B = frame * SUMS_B, .length_B = SUMS_B}}};
   const struct agx_dispatch stage_1 = {.size = sizeof(stage_1),
                                        .executable = p->noise,
                                        .workgroups = {FRAME_WORDS / 64, 1, 1},
                                        .bindings = bindings,
                                        .binding_count = 1,
                                        .push = arguments,
                                        .push_B = 8};
   const struct agx_dispatch stage_2 = {.size = sizeof(stage_2),
                                        .executable = p->reduction,
                                        .workgroups = {GROUPS, 1, 1},
                                        .bindings = bindings,
                                        .binding_count = 2,
                                        .push = arguments,
                                        .push_B = 4};
   struct agx_op ops[] = {
      gpu_op(AGX_OP_DISPATCH, &has_memory, 1, &made),
      gpu_op(AGX_OP_DISPATCH, &made, 1, &summed),
      gpu_op(AGX_OP_DEALLOCA, &summed, 1, NULL),
   };
   ops[0].queues = 1 << 0;
   ops[0].u.dispatch.dispatch = &stage_1;
   ops[1].queues = 1 << 1;
   ops[1].u.dispatch.dispatch = &stage_2;
   ops[2].u.dealloca.buffer = buffer;
   gpu_check(agx_submit(p->gpu.device, ops, 3, NULL));
   agx_release(buffer); /* the operations keep it as long as they need it */
}

/* As noise.comp. */
static const char *check_frame(const struct pipeline *p, uint32_t frame)
{
   static uint32_t noise[FRAME_WORDS];
   for (uint32_t i = 0; i < FRAME_WORDS; i++) {
      uint32_t x = (i + 1) * 0x9e3779b9u ^ (frame + 1) * 0x85ebca6bu;
      x = (x ^ x >> 16) * 0x7feb352du;
      noise[i] = x ^ x >> 15;
   }
   const uint32_t *sums = p->sums.memory;
   return check_reduction(noise, FRAME_WORDS, sums + (size_t)frame * GROUPS, GROUPS, 256);
}

int main(int argc, char **argv)
{
   struct pipeline p = {0};
   const char *wrong = NULL;
   if (!gpu_open(argc > 1 ? argv[1] : NULL, &p.gpu))
      gpu_check(AGX_UNAVAILABLE);
   setup(&p);
   for (uint32_t frame = 0; frame < FRAMES; frame++)
      submit_frame(&p, frame);
   const struct agx_point last = {p.summed, FRAMES};
   gpu_check(agx_semaphore_wait(&last, 1, false, AGX_DEADLINE_NEVER));
   for (uint32_t frame = 0; frame < FRAMES && !wrong; frame++)
      wrong = check_frame(&p, frame);
   struct agx_pool_stats stats = {.size = sizeof(stats)};
   agx_pool_get_stats(p.pool, &stats);
   if (stats.peak_reserved_B > FRAMES_AT_ONCE * FRAME_B)
      wrong = "the pool took more memory than it may";
   printf("pipeline: %d frames over two queues, in memory for %d: %s\n", FRAMES,
          (int)(stats.peak_reserved_B / FRAME_B), wrong ? wrong : "correct");
   void *objects[] = {p.sums.buffer, p.summed, p.made, p.memory, p.pool, p.reduction, p.noise};
   for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
      agx_release(objects[i]);
   gpu_close(&p.gpu);
   return wrong != NULL;
}
