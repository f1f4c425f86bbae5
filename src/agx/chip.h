/* SPDX-License-Identifier: MIT
 *
 * One row per chip (chip.def): what differs between the members of the G13 and
 * G14 families. Nothing else in the tree asks for a generation by number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agx_chip {
   const char *name;        /* "g13g": what AGX_DEVICE=virtual:NAME takes */
   const char *soc;         /* "t8103" */
   const char *market;      /* "Apple M1" */
   const char *device_tree; /* "apple,agx-g13g" */
   uint32_t chip_id;        /* 0x8103 */
   uint32_t generation;
   char variant; /* 'G', 'S', 'C' or 'D' */
   uint32_t dies, clusters, cores_per_cluster;
   uint32_t max_khz;
   bool cdm_has_unk_words;  /* G14 with several clusters: two more words in a CDM launch */
   bool atomic_coherency_3; /* G13 with several clusters: `atomic` needs coherency 3 */
};

/* Rows in the table's order; NULL past the end. */
const struct agx_chip *agx_chip_at(size_t index);
/* By name or SoC, any case; NULL when there is none. */
const struct agx_chip *agx_chip_find(const char *name);
/* By what GET_PARAMS reports; NULL when there is none. */
const struct agx_chip *agx_chip_by_id(uint32_t chip_id);

#define AGX_PAGE_BYTES            16384u /* GPU page, whatever the host's is */
#define AGX_SIMD_LANES            32u
#define AGX_MAX_WORKGROUP_THREADS 1024u
#define AGX_MAX_SHARED_BYTES      32768u
#define AGX_UNIFORM_HALVES        512u
#define AGX_GPR_HALVES            256u

#define AGX_MAX_CORES 128u /* numbers that special register 20 may have */

/* What special register 20 says in a core: clusters count on from powers of two.
 * Source: docs/hw/cmdstream.md 5. */
uint32_t agx_core_number(uint32_t cores_per_cluster, uint32_t cluster, uint32_t core);

/* Most threads of a workgroup, and resident threads per core, for a program that
 * uses this many 16-bit register halves (<= 256). Source: docs/hw/machine.md,
 * occupancy. */
uint32_t agx_occupancy_threads(uint32_t halves);
