/* SPDX-License-Identifier: MIT
 *
 * The GPU address space that a client of the simulator gives it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum agxs_access {
   AGXS_READ = 1,
   AGXS_WRITE = 2,
};

/* GPU address space as the simulator sees it. Called from several threads. */
struct agxs_memory {
   void *user;
   /* The host address of GPU address va when its 16 KiB page is mapped with that
    * access, else NULL. The result is good to the end of that page until
    * *generation changes. */
   void *(*translate)(void *user, uint64_t va, enum agxs_access access);
   /* Changes whenever a mapping goes or changes; read between workgroups. */
   const _Atomic uint64_t *generation;
};
