/* SPDX-License-Identifier: MIT
 *
 * What is bound in a reserved range of addresses: a sorted list of parts that don't overlap. Only
 * the list; who changes it asks the kernel first.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

struct agx_pages;

struct agx_vmem_part {
   uint64_t offset_B, size_B;
   struct agx_pages *pages; /* retained */
   uint64_t pages_offset_B;
   uint32_t protection; /* enum agx_access, READ and WRITE; 0: not bound in the kernel */
};

/* Embedded. */
struct agx_vmem_map {
   const struct agx_host_alloc *alloc;
   struct agx_vmem_part *parts;
   size_t count, capacity;
};

/* Releases the pages of all parts and frees the list. */
void agx_vmem_map_fini(struct agx_vmem_map *map);
/* Room for that many more parts: what agx_vmem_map_cut and _put then need. */
AGX_MUST_CHECK agx_status agx_vmem_map_reserve(struct agx_vmem_map *map, size_t more);
/* The first part that ends after offset_B; count where there is none. */
size_t agx_vmem_map_find(const struct agx_vmem_map *map, uint64_t offset_B);
/* Divides the part that offset_B lies inside of, so that a part begins there; takes room for one.
 */
void agx_vmem_map_cut(struct agx_vmem_map *map, uint64_t offset_B);
/* Takes all away between two offsets at which parts were cut. */
void agx_vmem_map_remove(struct agx_vmem_map *map, uint64_t offset_B, uint64_t end_B);
/* Puts a part where nothing is, and takes pages over; takes room for one. */
void agx_vmem_map_put(struct agx_vmem_map *map, const struct agx_vmem_part *part);
/* Makes one of neighbours that are one, in the range and at its ends. */
void agx_vmem_map_join(struct agx_vmem_map *map, uint64_t offset_B, uint64_t end_B);
