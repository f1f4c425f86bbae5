/* SPDX-License-Identifier: MIT
 *
 * What the survey of a capture and its writer share: handles as indices of objects.
 */
#pragma once

#include "cut.h"
#include "winsys/capture/write.h"

/* Which object a handle means at some point of the file. */
struct cut_names {
   struct agx_table handles; /* (process and file, handle): 1 + index of the object */
   uint32_t count;           /* objects so far */
};

/* Says that memory is short. */
agx_status cut_no_memory(void);
/* Takes a record that may make an object: *out_new is 1 + its index, or 0. *out_bytes is its size
 * where the record tells. */
AGX_MUST_CHECK agx_status cut_follow_objects(struct cut_names *names,
                                             const struct agxw_capture_record *record,
                                             uint32_t *out_new, uint64_t *out_bytes);
/* Follows a GEM_CLOSE: its handle means nothing any more. */
void cut_forget_object(struct cut_names *names, const struct agxw_capture_record *record);
/* 1 + index of the object, or 0. */
uint32_t cut_find_object(const struct cut_names *names, const struct agxw_capture_record *record,
                         uint32_t handle);

/* cut_request.c: writes a REQUEST, without what is not kept; submission is the index of a SUBMIT.
 */
AGX_MUST_CHECK agx_status cut_write_request(const struct cut *cut, const struct cut_names *names,
                                            struct agxw_capture_writer *writer,
                                            const struct agxw_capture_record *record,
                                            size_t submission);
/* Writes a VM_BIND of an alias; like gives process, file and time. */
void cut_write_alias(const struct cut *cut, struct agxw_capture_writer *writer,
                     const struct agxw_capture_record *like, uint32_t vm_id,
                     const struct cut_alias *alias);
