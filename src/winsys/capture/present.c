/* SPDX-License-Identifier: MIT
 *
 * Which pages of a memory file's mapping have memory. Reading a hole of such a file gives it
 * memory, so that looking at large sparse buffers would fill them; recorders and replays ask first.
 */
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/capture/capture.h"

#define PAGE_BYTES   AGXW_CAPTURE_PAGE_BYTES
#define LEAST_HOST_B 4096u
#define ALL_RESULTS  (AGXW_CAPTURE_RUN_PAGES * PAGE_BYTES / LEAST_HOST_B + 1)

/* What has been swapped out isn't told from a hole. */
static bool is_swapping(void)
{
   struct sysinfo info;
   return sysinfo(&info) != 0 || info.totalswap != info.freeswap;
}

uint64_t agxw_capture_present(const void *memory, uint64_t count)
{
   uint64_t host = (uint64_t)sysconf(_SC_PAGESIZE), present = 0;
   uint64_t begin = (uintptr_t)memory & ~(host - 1);
   uint64_t end = (uintptr_t)memory + count * PAGE_BYTES;
   unsigned char there[ALL_RESULTS];
   const uint64_t all = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
   if (host < LEAST_HOST_B || is_swapping() ||
       mincore((void *)(uintptr_t)begin, end - begin, there))
      return all;
   for (uint64_t i = 0; i < count; i++) {
      uint64_t from = (uintptr_t)memory + i * PAGE_BYTES;
      for (uint64_t at = from; at < from + PAGE_BYTES; at += host)
         present |= (uint64_t)(there[(at - begin) / host] & 1) << i;
   }
   return present;
}
