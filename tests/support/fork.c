/* SPDX-License-Identifier: MIT
 *
 * Lets tests fork under AddressSanitizer. Its allocator's locks are not taken around a fork, so
 * that a child hangs in malloc when another thread was inside at that moment; whoever forks waits
 * here until all others sleep. Other builds fork at any moment.
 */
#include "base/sanitizers.h"
#include "support.h"

#if AGX_ADDRESS_SANITIZED
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 1000 /* a millisecond each; a thread that never sleeps is let run */

static bool sleeps(const char *thread)
{
   char path[64], text[256] = "";
   snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", thread);
   FILE *file = fopen(path, "r");
   if (!file)
      return true; /* it has ended */
   size_t size = fread(text, 1, sizeof(text) - 1, file);
   fclose(file);
   text[size] = 0;
   const char *state = strrchr(text, ')');
   return !state || state[1] != ' ' || state[2] != 'R';
}

static bool others_sleep(void)
{
   bool all = true;
   DIR *threads = opendir("/proc/self/task");
   for (struct dirent *entry; threads && (entry = readdir(threads));)
      if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid())
         all &= sleeps(entry->d_name);
   if (threads)
      closedir(threads);
   return all;
}

static void settle(void)
{
   for (int i = 0; i < TRIES && !others_sleep(); i++)
      usleep(1000);
}

#endif

void agx_test_settle_before_forks(void)
{
#if AGX_ADDRESS_SANITIZED
   pthread_atfork(settle, NULL, NULL);
#endif
}
