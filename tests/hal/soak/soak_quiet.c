/* SPDX-License-Identifier: MIT
 *
 * When nothing else happens on a round's devices any more: a wake-up that is lost is not made up
 * for by the next one. Two threads hand a value to and fro, over the devices there are; after a
 * lost wake-up one of them would wait for good.
 */
#include "soak.h"

#define TURNS    24
#define BORROW_B 40000u /* more than half of the pool that chains borrow from */

struct echo {
   struct soak_round *round;
   struct agx_semaphore *there[SOAK_DEVICES], *back[SOAK_DEVICES];
   pthread_t thread;
};

static void await(struct soak_round *round, const struct agx_point *points, uint32_t count,
                  bool any)
{
   agx_status status;
   const int64_t deadline_ns = soak_deadline();
   do /* what a plan's failures take from a wait, another one gets */
      status = agx_semaphore_wait(points, count, any, deadline_ns);
   while (status == AGX_RESOURCE_EXHAUSTED && soak_now() < deadline_ns);
   soak_check(status == AGX_OK, "in the quiet: no thread is woken for %llu: %s",
              (unsigned long long)points[0].value, agx_status_name(status));
}

static uint32_t device_of(const struct soak_round *round, uint64_t turn)
{
   return (uint32_t)(turn % round->plan.devices);
}

static void *echo(void *argument)
{
   struct echo *it = argument;
   for (uint64_t turn = 1; turn <= TURNS; turn++) {
      const uint32_t device = device_of(it->round, turn);
      const struct agx_point points[2] = {{it->there[device], turn}, {it->there[0], SOAK_FAR}};
      /* Also one of several points, of which the others never come. */
      await(it->round, points, turn % 3 ? 1 : 2, true);
      soak_check(agx_semaphore_signal(it->back[device], turn) == AGX_OK, "no signal back");
   }
   return NULL;
}

static void hand_to_and_fro(struct soak_round *round)
{
   struct echo it = {.round = round};
   for (uint32_t i = 0; i < round->plan.devices; i++)
      soak_check(agx_semaphore_create(round->devices[i].device, 0, &it.there[i]) == AGX_OK &&
                    agx_semaphore_create(round->devices[i].device, 0, &it.back[i]) == AGX_OK,
                 "no semaphores");
   soak_check(pthread_create(&it.thread, NULL, echo, &it) == 0, "no thread");
   for (uint64_t turn = 1; turn <= TURNS; turn++) {
      const uint32_t device = device_of(round, turn);
      const struct agx_point back = {it.back[device], turn};
      soak_check(agx_semaphore_signal(it.there[device], turn) == AGX_OK, "no signal there");
      await(round, &back, 1, false);
   }
   pthread_join(it.thread, NULL);
   for (uint32_t i = 0; i < round->plan.devices; i++) {
      agx_release(it.there[i]);
      agx_release(it.back[i]);
   }
}

/* ---- memory that others give back --------------------------------------------------- */

/* Allocates, fills and gives back; the last point tells that it is over. False: refused. */
static bool borrow(struct soak_device *it, struct agx_semaphore *semaphore)
{
   struct agx_buffer *buffer = NULL;
   struct agx_op ops[3] = {
      {.kind = AGX_OP_ALLOCA}, {.kind = AGX_OP_FILL}, {.kind = AGX_OP_DEALLOCA}};
   struct agx_point points[4];
   for (uint32_t i = 0; i < 4; i++)
      points[i] = (struct agx_point){semaphore, i};
   for (uint32_t i = 0; i < 3; i++) {
      ops[i].size = sizeof(ops[i]);
      ops[i].waits = &points[i];
      ops[i].signals = &points[i + 1];
      ops[i].wait_count = ops[i].signal_count = 1;
   }
   ops[0].u.alloca =
      (struct agx_op_alloca){.pool = it->chain_pool, .size_B = BORROW_B, .out_buffer = &buffer};
   if (agx_submit(it->device, ops, 1, NULL) != AGX_OK)
      return false;
   ops[1].u.fill = (struct agx_op_fill){.target = {buffer, 0, BORROW_B}, .pattern_B = 1};
   ops[2].u.dealloca.buffer = buffer;
   const bool is_queued = agx_submit(it->device, ops + 1, 2, NULL) == AGX_OK;
   agx_release(buffer);
   return is_queued;
}

/* Each waits for the memory of the one before, which is in use on the GPU; nothing else tells that
 * it no longer is. */
static void borrow_in_turn(struct soak_device *it)
{
   struct agx_semaphore *semaphores[4];
   uint32_t made = 0, whole = 0; /* of the last one something may have been refused */
   agx_status status;
   while (made < 4 && made == whole &&
          agx_semaphore_create(it->device, 0, &semaphores[made]) == AGX_OK)
      whole += borrow(it, semaphores[made++]);
   for (uint32_t i = 0; i < made; i++) {
      soak_check(i >= whole || soak_await(semaphores[i], 3, soak_deadline(), &status),
                 "in the quiet: memory that was given back is not handed on");
      agx_release(semaphores[i]);
   }
}

void soak_round_be_quiet(struct soak_round *round)
{
   hand_to_and_fro(round);
   for (uint32_t i = 0; i < round->plan.devices; i++)
      borrow_in_turn(&round->devices[i]);
}
