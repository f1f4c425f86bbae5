/* SPDX-License-Identifier: MIT
 *
 * Reading descriptors of any version: what a caller's smaller struct leaves out is zero,
 * what a larger one has beyond ours must be zero.
 */
#pragma once

#include "agx/hal.h"
#include "base/status.h"

/* Copies a descriptor that starts with {uint32_t size; const void *next;} into out, of
 * capacity bytes. desc NULL gives zeros. name is the struct's, for messages. */
AGX_MUST_CHECK agx_status agx_desc_read(const char *name, const void *desc, void *out,
                                        size_t capacity);

/* As agx_desc_read for a struct without `next`, such as struct agx_op. */
AGX_MUST_CHECK agx_status agx_desc_read_tail(const char *name, const void *desc, void *out,
                                             size_t capacity);

/* That a set of bits has none but the known ones. "file", "flags": for the message. */
AGX_MUST_CHECK agx_status agx_bits_check(const char *object, const char *what, uint64_t given,
                                         uint64_t known);

/* Fills a struct of the caller's, who has set its size: as much as there is room for, and zeros
 * beyond what we know. AGX_INVALID_ARGUMENT, with nothing written, where the size can't be one. */
AGX_MUST_CHECK agx_status agx_info_write(const char *name, void *out, const void *info,
                                         size_t info_B);

/* That the size can be one, for those who have something to lose by finding out late. */
AGX_MUST_CHECK agx_status agx_info_check(const char *name, const void *out);

/* agx_info_write for functions that return no status: an impossible size goes to the log
 * of the device's instance. */
void agx_info_write_or_log(const struct agx_device *device, const char *name, void *out,
                           const void *info, size_t info_B);

/* Whether a descriptor that is read often is just ours, and needs no agx_desc_read. */
static inline bool agx_desc_is_current(uint32_t size, const void *next, size_t current)
{
   return size == current && !next;
}
