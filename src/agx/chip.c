/* SPDX-License-Identifier: MIT
 *
 * The table of chips (chip.def), and what follows from a chip's row or from a kernel's
 * registers. Every room looks chips up here.
 */
#include "agx/chip.h"

#include <strings.h>

#include "base/util.h"

static const struct agx_chip chips[] = {
#define CHIP(name_, soc_, market_, tree_, id_, generation_, variant_, dies_, clusters_, cores_,    \
             khz_)                                                                                 \
   {                                                                                               \
      .name = name_,                                                                               \
      .soc = soc_,                                                                                 \
      .market = market_,                                                                           \
      .device_tree = tree_,                                                                        \
      .chip_id = id_,                                                                              \
      .generation = generation_,                                                                   \
      .variant = variant_,                                                                         \
      .dies = dies_,                                                                               \
      .clusters = clusters_,                                                                       \
      .cores_per_cluster = cores_,                                                                 \
      .max_khz = khz_,                                                                             \
      .cdm_has_unk_words = generation_ == 14 && clusters_ > 1,                                     \
      .atomic_coherency_3 = generation_ == 13 && clusters_ > 1,                                    \
   },
#include "agx/chip.def"
#undef CHIP
};

const struct agx_chip *agx_chip_at(size_t index)
{
   return index < AGX_COUNT(chips) ? &chips[index] : NULL;
}

const struct agx_chip *agx_chip_find(const char *name)
{
   for (size_t i = 0; i < AGX_COUNT(chips); i++)
      if (strcasecmp(name, chips[i].name) == 0 || strcasecmp(name, chips[i].soc) == 0)
         return &chips[i];
   return NULL;
}

const struct agx_chip *agx_chip_by_id(uint32_t chip_id)
{
   for (size_t i = 0; i < AGX_COUNT(chips); i++)
      if (chips[i].chip_id == chip_id)
         return &chips[i];
   return NULL;
}

uint32_t agx_core_number(uint32_t cores_per_cluster, uint32_t cluster, uint32_t core)
{
   uint32_t step = 1;
   while (step < cores_per_cluster)
      step *= 2;
   return cluster * step + core;
}

/* Measured on G13; assumed for G14. Source: docs/hw/machine.md, occupancy. */
static const struct {
   uint32_t halves, threads;
} occupancy[] = {
   {104, 1024}, {112, 896}, {128, 832}, {136, 768}, {144, 704},
   {160, 640},  {184, 576}, {208, 512}, {232, 448}, {256, 384},
};

uint32_t agx_occupancy_threads(uint32_t halves)
{
   for (size_t i = 0; i < AGX_COUNT(occupancy); i++)
      if (halves <= occupancy[i].halves)
         return occupancy[i].threads;
   return 0;
}
