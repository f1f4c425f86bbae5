/* SPDX-License-Identifier: MIT
 *
 * A node that counts what it was asked for and what came back, and host memory that does the same.
 */
#include <sched.h>
#include <stdlib.h>

#include "forward_kmd.h"
#include "soak.h"

struct soak_kmd {
   struct forward_kmd forward;
   _Atomic int64_t objects;
};

/* What a request does to the number of objects. */
static int change_of(uint32_t nr)
{
   switch (nr) {
   case 0x42: /* VM_CREATE */
   case 0x45: /* GEM_CREATE */
   case 0x48: /* QUEUE_CREATE */
   case 0xbf: /* SYNCOBJ_CREATE */
   case 0xc2: /* SYNCOBJ_FD_TO_HANDLE, when it makes one */
      return 1;
   case 0x09: /* GEM_CLOSE */
   case 0x43: /* VM_DESTROY */
   case 0x49: /* QUEUE_DESTROY */
   case 0xc0: /* SYNCOBJ_DESTROY */
      return -1;
   default:
      return 0;
   }
}

/* struct drm_syncobj_handle: a sync_file goes into an object that there is. */
static bool is_sync_file(const uint32_t *handle)
{
   return handle[1] & 1;
}

static void count(struct forward_kmd *base, uint32_t nr, const void *argument, int error)
{
   struct soak_kmd *kmd = (struct soak_kmd *)base;
   if (!error && !(nr == 0xc2 && is_sync_file(argument)))
      atomic_fetch_add(&kmd->objects, change_of(nr));
}

struct soak_kmd *soak_kmd_open(struct agx_kmd **out_base)
{
   struct soak_kmd *kmd = calloc(1, sizeof(*kmd));
   soak_check(kmd, "no memory");
   forward_kmd_open(&kmd->forward);
   kmd->forward.after = count;
   *out_base = &kmd->forward.base;
   return kmd;
}

void soak_kmd_close(struct soak_kmd *kmd)
{
   const int64_t deadline_ns = soak_deadline();
   if (!kmd)
      return;
   while (!atomic_load(&kmd->forward.closed)) {
      soak_check(soak_now() < deadline_ns, "the device is never closed");
      sched_yield();
   }
   soak_check(kmd->objects == 0, "%lld objects of the kernel are left", (long long)kmd->objects);
   free(kmd);
}

/* ---- host memory ----------------------------------------------------------- */

static _Atomic int64_t blocks;
static _Atomic uint32_t null_per_mille;
static _Atomic uint64_t null_state;

static void *count_alloc(void *user, size_t size)
{
   uint32_t per_mille = atomic_load_explicit(&null_per_mille, memory_order_relaxed);
   if (per_mille) {
      uint64_t state = atomic_fetch_add(&null_state, UINT64_C(0x9e3779b97f4a7c15));
      state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
      if ((state >> 33) % 1000 < per_mille)
         return NULL;
   }
   void *memory = malloc(size);
   if (memory)
      atomic_fetch_add(&blocks, 1);
   return memory;
}

static void count_free(void *user, void *memory, size_t size)
{
   if (memory)
      atomic_fetch_sub(&blocks, 1);
   free(memory);
}

const struct agx_alloc_callbacks soak_alloc = {NULL, count_alloc, count_free};

void soak_alloc_fail(uint32_t per_mille, uint64_t seed)
{
   atomic_store(&null_state, seed);
   atomic_store(&null_per_mille, per_mille);
}

int64_t soak_alloc_blocks(void)
{
   return atomic_load(&blocks);
}
