/* SPDX-License-Identifier: MIT
 *
 * Programs that know nothing of us, for preload_test.c: virtual_preloaded_test starts itself as one
 * of them under the preload library or `agx virtual`. Each says "fine" on standard output and
 * returns 0 when all went well; where something did not, it says which line found it and exits
 * with 1.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE "/dev/dri/renderD128"

#define CHECK(condition)                                                                           \
   do {                                                                                            \
      if (!(condition)) {                                                                          \
         printf("line %d: %s: %s\n", __LINE__, #condition, strerror(errno));                       \
         exit(1);                                                                                  \
      }                                                                                            \
   } while (0)

/* Uses the node through libdrm. */
int client_libdrm(void);

/* Draws, with a padding that isn't 0, and does not look at what becomes of it. */
int client_draws(void);

/* Reaches the node in every way that programs have. The arguments say which of its own children
 * this process is; none: the first process. */
int client_ways(char **arguments);

/* Reaches the node by system calls; static_client is this one linked statically. */
int client_calls(void);
