/* SPDX-License-Identifier: MIT
 *
 * The allocator that fails on request, over malloc and free.
 */
#include "failing_alloc.h"

#include <sched.h>
#include <stdlib.h>

static void *alloc(void *user, size_t size)
{
   struct failing_alloc *failing = user;
   size_t remaining = atomic_load(&failing->remaining);
   while (remaining &&
          !atomic_compare_exchange_weak(&failing->remaining, &remaining, remaining - 1))
      ;
   void *memory = remaining ? malloc(size) : NULL;
   if (memory)
      atomic_fetch_add(&failing->live, 1);
   return memory;
}

static void free_counted(void *user, void *memory, size_t size)
{
   struct failing_alloc *failing = user;
   (void)size;
   free(memory);
   if (memory)
      atomic_fetch_sub(&failing->live, 1); /* the last access: see failing_alloc_await_end */
}

void failing_alloc_init(struct failing_alloc *failing, size_t remaining)
{
   *failing = (struct failing_alloc){
      .alloc = {.user = failing, .alloc = alloc, .free = free_counted},
      .remaining = remaining,
   };
}

void failing_alloc_await_end(const struct failing_alloc *failing)
{
   while (atomic_load(&failing->live))
      sched_yield();
}
