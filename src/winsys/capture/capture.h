/* SPDX-License-Identifier: MIT
 *
 * Reading captures (docs/capture.md): one record after the other, from memory, a file or a pipe,
 * and what the recorded devices hold at any point. Nothing that stands in a file is trusted.
 * Contents of memory stay in the file until somebody looks at them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "winsys/capture/format.h"

/* ---- records ----------------------------------------------------------- */

struct agxw_capture_reader;

/* data must stay. AGX_INCOMPATIBLE for a foreign file or another version, AGX_DATA_LOSS when it is
 * cut off. alloc may be NULL. */
AGX_MUST_CHECK agx_status agxw_capture_open_memory(const struct agx_host_alloc *alloc,
                                                   const void *data, size_t size,
                                                   struct agxw_capture_reader **out_reader);
/* The same for an open file or a pipe, which is read as it comes; takes fd over, also on failure.
 */
AGX_MUST_CHECK agx_status agxw_capture_open_fd(const struct agx_host_alloc *alloc, int fd,
                                               struct agxw_capture_reader **out_reader);
/* NULL is fine. */
void agxw_capture_close(struct agxw_capture_reader *reader);

/* The device that the file began with, such as "virtual:g13g"; as long as the reader. */
const char *agxw_capture_node(const struct agxw_capture_reader *reader);
/* Of the file's format. */
uint32_t agxw_capture_version(const struct agxw_capture_reader *reader);

/* One record; its pointers are valid until the reader's next record. */
struct agxw_capture_record {
   enum agxw_capture_type type;
   uint64_t file_offset;
   int64_t time_ns;        /* 0 in version 1 */
   uint32_t process, file; /* 0 in version 1 */
   /* REQUEST */
   uint32_t request;
   int32_t result;
   uint32_t argument_bytes, blob_count;
   uint64_t duration_ns;
   uint32_t caller;
   bool is_awaited;   /* a SUBMIT with contents behind it */
   bool lacks_memory; /* a SUBMIT without contents, before it neither */
   const uint8_t *before, *after, *blobs;
   size_t blobs_bytes;
   /* PAGES, LABEL, IMPORT */
   uint32_t handle;
   /* PAGES: from offset on; agxw_capture_page reads them */
   uint64_t offset, page_count;
   enum agxw_capture_moment moment;
   uint64_t object_bytes; /* IMPORT */
   /* PROCESS */
   uint32_t parent;
   /* LABEL, NOTE, PROCESS, OPEN: text */
   const char *text;
   size_t text_bytes;
};

/* The next record, *out_more false at the end. AGX_DATA_LOSS with the offset when what stands there
 * is no record. */
AGX_MUST_CHECK agx_status agxw_capture_next(struct agxw_capture_reader *reader,
                                            struct agxw_capture_record *out_record, bool *out_more);
/* Goes on with the record at file_offset, which the reader has given before. */
void agxw_capture_seek(struct agxw_capture_reader *reader, uint64_t file_offset);
/* Whether it is that request, such as AGX_IOCTL_ASAHI_SUBMIT. As in kernels, its number decides:
 * the size in the request is that of the caller's headers. */
bool agxw_capture_is_request(const struct agxw_capture_record *record, unsigned long request);
/* What the pointer at pointer_at of a request led to, or NULL. */
const void *agxw_capture_find_blob(const struct agxw_capture_record *record, uint32_t pointer_at,
                                   uint32_t *out_bytes);
/* Copies the argument before or after the request, the tail zero. */
void agxw_capture_argument(const struct agxw_capture_record *record, bool after, void *out_argument,
                           size_t bytes);

/* A page of a PAGES record. */
struct agxw_capture_place {
   uint64_t record; /* its file_offset */
   uint64_t page;   /* from 0 */
};
/* Copies bytes of a recorded page, from offset in it on. AGX_DATA_LOSS when it can't be unpacked.
 */
AGX_MUST_CHECK agx_status agxw_capture_page(struct agxw_capture_reader *reader,
                                            const struct agxw_capture_place *place, uint32_t offset,
                                            void *out_data, uint32_t bytes);

/* Of a page's contents, AGXW_CAPTURE_PAGE_BYTES long: 0 for zeros only. Pages whose hashes are
 * equal are taken for equal. */
uint64_t agxw_capture_hash(const void *page);

/* Which of count pages (AGXW_CAPTURE_RUN_PAGES at most) of a memory file's mapping have memory, a
 * bit each; the others are zero, and reading them would give them memory. All bits where that can't
 * be told. */
uint64_t agxw_capture_present(const void *memory, uint64_t count);

/* ---- state ------------------------------------------------------------- */

struct agxw_capture_state;  /* all recorded devices at some point of the file */
struct agxw_capture_device; /* one open file of theirs */

/* The reader must live as long. */
AGX_MUST_CHECK agx_status agxw_capture_state_create(const struct agx_host_alloc *alloc,
                                                    struct agxw_capture_reader *reader,
                                                    struct agxw_capture_state **out_state);
/* NULL is fine. */
void agxw_capture_state_destroy(struct agxw_capture_state *state);
/* Takes one record into account, in the file's order. */
AGX_MUST_CHECK agx_status agxw_capture_state_apply(struct agxw_capture_state *state,
                                                   const struct agxw_capture_record *record);
/* The open file that a record belongs to, or NULL; valid until the state goes. */
struct agxw_capture_device *agxw_capture_state_device(const struct agxw_capture_state *state,
                                                      const struct agxw_capture_record *record);

/* Copies GPU memory; false when part of it is not bound, or can't be unpacked
 * (agxw_capture_state_damage). Bound pages without recorded contents read as zero. */
bool agxw_capture_device_read(struct agxw_capture_device *device, uint32_t vm_id, uint64_t va,
                              void *out_data, size_t bytes);
/* AGX_OK, or the first contents that couldn't be unpacked, with their text. */
agx_status agxw_capture_state_damage(const struct agxw_capture_state *state);

struct agxw_capture_queue {
   uint32_t id, vm_id;
   uint64_t usc_base;
};
/* NULL when there is none of that id. */
const struct agxw_capture_queue *agxw_capture_device_queue(const struct agxw_capture_device *device,
                                                           uint32_t queue_id);

/* A GEM object. */
struct agxw_capture_object {
   uint32_t handle; /* 0: closed */
   uint64_t bytes;  /* 0: not known, as of an imported one */
   char label[32];
};
/* The device's objects from 0 on, closed ones too, in the order of their creation; NULL behind the
 * last. */
const struct agxw_capture_object *
agxw_capture_device_object(const struct agxw_capture_device *device, uint32_t index);
/* The open object with that handle, or NULL. */
const struct agxw_capture_object *agxw_capture_device_find(const struct agxw_capture_device *device,
                                                           uint32_t handle);

/* A part of an object in an address space. */
struct agxw_capture_mapping {
   uint32_t vm_id;
   uint64_t va, bytes;
   const struct agxw_capture_object *object;
   uint64_t offset;  /* of the object's bytes at va */
   bool single_page; /* the one page at offset again and again */
};
/* The ids of address spaces in which something was mapped, from 0 on, in the order of the first
 * time; 0 behind the last. */
uint32_t agxw_capture_device_space(const struct agxw_capture_device *device, uint32_t index);
/* What is mapped at va, or the next mapping behind; false when there is none. */
bool agxw_capture_device_mapping(const struct agxw_capture_device *device, uint32_t vm_id,
                                 uint64_t va, struct agxw_capture_mapping *out_mapping);
