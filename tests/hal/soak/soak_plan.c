/* SPDX-License-Identifier: MIT
 *
 * What goes wrong in a round.
 */
#include <stdarg.h>
#include <stdio.h>

#include "soak.h"

/* Requests of that kind that opening a round takes, and some: what begins there fails later ones.
 */
#define OPENING 60

static void script(struct soak_plan *plan, const char *format, ...)
   __attribute__((format(printf, 2, 3)));

static void script(struct soak_plan *plan, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   int length = vsnprintf(plan->inject, sizeof(plan->inject), format, arguments);
   va_end(arguments);
   soak_check(length < (int)sizeof(plan->inject), "a script of %d bytes", length);
}

/* Nothing fails but what threads do to each other. */
static void plan_nothing(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some) {}

static void plan_strays(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   plan->strays = true;
   script(plan, "ioctl any /%u EINTR; slow 1 100", some);
}

/* The first of buffers that fails may be one of the opening's. */
static void plan_shortage(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   const unsigned first = 1 + (unsigned)agx_test_random_below(rng, 2 * OPENING);
   plan->null_per_mille = 10;
   script(plan,
          "ioctl gem_create %u-/3 ENOMEM; ioctl syncobj_create /%u ENOMEM; "
          "ioctl submit /%u ENOMEM; ioctl vm_bind %u-/%u ENOMEM; "
          "ioctl syncobj_handle_to_fd /5 EMFILE; ioctl any /7 EINTR",
          first, some, some + 7, first, some + 11);
}

static void plan_chaos(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   plan->chaos = 1 + (uint32_t)plan->seed;
   plan->is_harmless = true;
   script(plan, "ioctl any /%u EINTR", some);
}

static void plan_loss(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   script(plan, "lose %u; ioctl any /11 EINTR", 200 + 10 * some);
}

static void plan_faults(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   plan->chaos = 1 + (uint32_t)plan->seed;
   plan->strays = true;
   plan->null_per_mille = 3;
   script(plan, "fault /%u; hang /%u 500; unwoken /%u", 10 * some, 17 * some, 3 * some);
}

/* What tells others, and what a queue is made of. */
static void plan_telling(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   plan->strays = true;
   script(plan,
          "ioctl syncobj_timeline_signal /%u ENOMEM; ioctl syncobj_transfer /3 ENOMEM; "
          "ioctl queue_create 2- ENOMEM; ioctl submit /%u EINVAL; "
          "ioctl syncobj_handle_to_fd /4 ENOMEM; ioctl syncobj_fd_to_handle /3 ENOMEM",
          some / 4, some);
}

/* Asking itself fails. */
static void plan_asking(struct soak_plan *plan, struct agx_test_rng *rng, unsigned some)
{
   script(plan,
          some % 2 ? "ioctl syncobj_timeline_wait %u- ENOMEM" : "ioctl syncobj_query %u- EINVAL",
          20 * some);
}

void soak_plan_make(struct soak_plan *plan, const struct soak_place *place)
{
   static void (*const plans[SOAK_PLANS])(struct soak_plan *, struct agx_test_rng *, unsigned) = {
      plan_nothing, plan_strays, plan_shortage, plan_chaos,
      plan_loss,    plan_faults, plan_telling,  plan_asking,
   };
   const uint64_t number = place->seed * 1000 + place->round;
   struct agx_test_rng rng = {
      .state = (number + (uint64_t)place->attempt * 0x9e3779b9) * 2654435761u + 1};
   *plan = (struct soak_plan){.seed = number,
                              .number = place->plan,
                              .operations = place->operations,
                              .queues = 2 + (uint32_t)agx_test_random_below(&rng, 3),
                              .max_parked = agx_test_random_below(&rng, 3) ? 600 : 40,
                              .cancels = place->round % 2,
                              .profiles = place->round % 4 == 1,
                              .devices = 1 + (agx_test_random_below(&rng, 3) == 0),
                              .has_dynamic_size = agx_test_random_below(&rng, 3) == 0,
                              .spares_last = agx_test_random_below(&rng, 3) > 0};
   plans[place->plan](plan, &rng, 20 + (unsigned)agx_test_random_below(&rng, 60));
}
