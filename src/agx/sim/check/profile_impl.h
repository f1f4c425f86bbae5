/* SPDX-License-Identifier: MIT
 *
 * Between profile.c (a launch's counts, from beginning to report) and
 * profile_count.c (one instruction after the other).
 */
#pragma once

#include "agx/sim/check/profile.h"

/* Lines of data that the running workgroup touched: open addressing. An entry counts
 * when its stamp is of this workgroup, so nothing needs to be emptied between two. */
struct agxs_line {
   uint64_t key, stamp;
};

struct agxs_line_set {
   struct agxs_line *entries;
   uint32_t capacity, count; /* capacity: a power of two */
   uint64_t floor;           /* stamps up to here are of earlier workgroups */
};

/* A SIMD-group's clock and what it waits for, in cycles since its start. */
struct agxs_clock {
   uint64_t now;
   uint64_t issue; /* instructions so far; now - issue were stalls */
   uint64_t ready[AGX_GPR_HALVES];
   uint64_t done[2]; /* when the last operation of async group a, b ends */
   uint32_t line;    /* of code, where it executes; UINT32_MAX at first */
   uint32_t recent_count;
   uint32_t recent[AGXS_CODE_LINES]; /* lines of code in the cache, latest first */
   uint64_t *fetched;                /* bit set of lines that were ever fetched */
};

/* Lines of code that an instruction lies in, as indices from 0; neighbours may share. */
struct agxs_code_span {
   uint32_t first, last;
};

struct agxs_profile {
   const struct agxs_dispatch *dispatch; /* NULL: nothing to be merged */
   struct agxs_dispatch_stats sum;       /* spots unused */
   /* By uop. */
   struct agxs_code_span *spans;
   struct agxs_spot *spots;
   uint32_t line_count; /* of code that can be reached */
   uint64_t *executed;  /* bit set: lines that were executed */
   struct agxs_clock *clocks;
   uint64_t *fetched; /* the clocks' bit sets */
   uint32_t clock_count;
   struct agxs_line_set lines;
   uint64_t stamp;   /* of the instruction that executes */
   uint32_t touched; /* lines of data that it touched */
   uint32_t lsu;     /* what it costs the load-store unit beside those */
   bool exhausted;   /* no memory for more lines */
};

/* 64-bit words of a set of so many bits. */
static inline uint32_t agxs_bit_words(uint32_t bits)
{
   return bits / 64 + 1;
}
