/* SPDX-License-Identifier: MIT
 *
 * The node that fails requests on demand: forward_kmd.c with a countdown in front of each request.
 * Tests of failure open a device over it.
 */
#include "failing_kmd.h"

#include <sched.h>

#include "winsys/asahi_uapi.h"

/* Requests that give things back: a kernel doesn't fail them, and a driver could do nothing
 * about it. */
static bool gives_back(uint32_t nr, const void *argument)
{
   const struct agx_uapi_gem_bind_object *bind = argument;
   if (nr == 0x47 /* GEM_BIND_OBJECT */)
      return bind->op == AGX_UAPI_BIND_OBJECT_OP_UNBIND;
   return nr == 0x09 /* GEM_CLOSE */ || nr == 0x43 /* VM_DESTROY */ ||
          nr == 0x49 /* QUEUE_DESTROY */ || nr == 0xc0 /* SYNCOBJ_DESTROY */;
}

/* Whether this request is one to fail. */
static int fail_some(struct forward_kmd *base, uint32_t nr, const void *argument)
{
   struct failing_kmd *kmd = (struct failing_kmd *)base;
   void (*hook)(void *, uint32_t) = atomic_load(&kmd->hook);
   if (hook)
      hook(kmd->hook_user, nr);
   uint32_t wanted = atomic_load(&kmd->nr);
   atomic_fetch_add(&kmd->asked, nr == 0xc1 /* SYNCOBJ_HANDLE_TO_FD */);
   bool counts = !gives_back(nr, argument) && (wanted == 0 || wanted == nr);
   int left = atomic_load(&kmd->countdown);
   while (counts && left > 0 && !atomic_compare_exchange_weak(&kmd->countdown, &left, left - 1))
      ;
   if (counts && left == 0) {
      atomic_fetch_add(&kmd->failed, 1);
      if (kmd->once)
         atomic_store(&kmd->countdown, -1);
   }
   return counts && left == 0 ? -atomic_load(&kmd->error) : 0;
}

void failing_kmd_open(struct failing_kmd *kmd)
{
   *kmd = (struct failing_kmd){.countdown = -1};
   forward_kmd_open(&kmd->forward);
   kmd->forward.before = fail_some;
}

void failing_kmd_arm(struct failing_kmd *kmd, int nth, uint32_t nr, int error)
{
   kmd->nr = nr;
   kmd->error = error;
   kmd->once = false;
   kmd->countdown = nth;
}

void failing_kmd_disarm(struct failing_kmd *kmd)
{
   kmd->countdown = -1;
}

void failing_kmd_await_close(const struct failing_kmd *kmd)
{
   while (!atomic_load(&kmd->forward.closed))
      sched_yield();
}
