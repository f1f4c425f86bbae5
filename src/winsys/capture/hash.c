/* SPDX-License-Identifier: MIT
 *
 * The hash that tells whether a page has changed.
 */
#include "base/util.h"
#include "winsys/capture/capture.h"

#define LANES 8

/* Lanes of their own don't wait for each other's products. */
uint64_t agxw_capture_hash(const void *page)
{
   const uint8_t *bytes = page;
   uint64_t lanes[LANES], any = 0;
   for (unsigned lane = 0; lane < LANES; lane++)
      lanes[lane] = 0x9e3779b97f4a7c15u + lane;
   for (size_t i = 0; i < AGXW_CAPTURE_PAGE_BYTES; i += 8 * LANES) {
      for (unsigned lane = 0; lane < LANES; lane++) {
         uint64_t word = agx_load_u64(bytes + i + 8 * lane);
         any |= word;
         lanes[lane] = (lanes[lane] ^ word) * 0xff51afd7ed558ccdu;
         lanes[lane] ^= lanes[lane] >> 32;
      }
   }
   uint64_t hash = 0;
   for (unsigned lane = 0; lane < LANES; lane++) {
      hash = (hash ^ lanes[lane]) * 0xc4ceb9fe1a85ec53u;
      hash ^= hash >> 29;
   }
   return any ? (hash ? hash : 1) : 0;
}
