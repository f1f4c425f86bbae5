/* SPDX-License-Identifier: MIT
 *
 * What IREE's --device=agx... names, in the words of <agx/device.h>. IREE splits
 * agx://PATH?KEY=VALUE&... itself; here come the path and the pairs.
 *
 *    (empty)                what AGX_DEVICE says, else the first node, else the virtual AGX
 *    0, 1, ...              the so-manyth usable node
 *    renderD128             /dev/dri/renderD128
 *    /dev/dri/renderD128    that node
 *    virtual, virtual:g14s  the virtual AGX
 *
 *    chip=g14s              of the virtual AGX
 *    queues=4               1 to 8
 *    capture=FILE           records what passes between driver and kernel (docs/capture.md)
 *    capture_ranges=FILE    the same, with memory only while an external capture of IREE's is on
 *    robust=off|clamp|zero  what becomes of accesses outside of a buffer (docs/robustness.md); off
 */
#pragma once

#include "container.h"

#define AGX_IREE_NO_ORDINAL UINT32_MAX

struct agx_iree_text {
   const char *data; /* not necessarily terminated */
   size_t bytes;
};

struct agx_iree_pair {
   struct agx_iree_text key, value;
};

struct agx_iree_path {
   char name[64];        /* of agx_device_desc; "" with an ordinal */
   uint32_t ordinal;     /* of usable nodes, or AGX_IREE_NO_ORDINAL */
   char capture[1024];   /* "": none */
   bool captures_ranges; /* has memory where IREE's external capture is on only */
   uint32_t queue_count; /* 0: not said */
   uint32_t robustness;  /* enum agx_robustness */
};

/* AGX_INVALID_ARGUMENT names the path, key or value that can't be, and those that can. */
agx_status agx_iree_path_parse(struct agx_iree_text path, const struct agx_iree_pair *pairs,
                               size_t pair_count, struct agx_iree_path *out_path,
                               struct agx_iree_error *out_error);
