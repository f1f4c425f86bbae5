/* SPDX-License-Identifier: MIT
 *
 * Captures made of parts of another: chosen submissions, commands, dispatches, buffers and pages,
 * with all requests that these need.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agx/chip.h"
#include "base/status.h"
#include "base/table.h"
#include "winsys/capture/capture.h"

struct replay_device;

/* A GEM object, in the order of creation. */
struct cut_object {
   uint32_t process, file, handle;
   uint64_t bytes;
   char label[32];
   size_t made;      /* submissions before it was */
   uint32_t earlier; /* 1 + index of the one that had the handle before; 0: none */
   bool is_kept;
};

/* A launch of a compute stream. */
struct cut_dispatch {
   uint32_t command, index;
   uint64_t va; /* of its words, which are so long: */
   uint32_t bytes;
   bool is_kept;
};

struct cut_command {
   bool is_kept;
};

/* A SUBMIT that succeeded. */
struct cut_submission {
   uint32_t process, file, vm_id;
   uint32_t command_count, dispatch_count;
   size_t first_command, first_dispatch; /* of the cut's */
   bool is_kept;
};

/* A page whose contents kept submissions find. */
struct cut_page {
   uint32_t object; /* index */
   uint64_t page;
   bool is_kept; /* else it is zero */
};

/* A page of memory as it was. */
struct cut_image_page {
   uint32_t object;
   uint64_t page;
   uint8_t *data; /* AGXW_CAPTURE_PAGE_BYTES; NULL: zero */
};

/* A part of an object that the kept submission finds at another address, too. */
struct cut_alias {
   uint32_t object;
   bool single_page;
   uint64_t instead_of; /* where it isn't found any more; 0: it is found there, too */
   uint64_t va, bytes, offset;
};

/* All pages that aren't zero, by object and page. */
struct cut_image {
   struct cut_image_page *pages;
   size_t count, capacity;
};

struct cut {
   struct agxw_capture_reader *reader;
   uint64_t begin; /* the first record's place */
   const struct agx_chip *chip;
   struct cut_object *objects;
   size_t object_count, object_capacity;
   struct agx_table last_objects; /* (process and file, handle): 1 + index of the last with it */
   struct cut_submission *submissions;
   size_t submission_count, submission_capacity;
   struct cut_command *commands;
   size_t command_count, command_capacity;
   struct cut_dispatch *dispatches;
   size_t dispatch_count, dispatch_capacity;
   struct cut_page *pages; /* that were written when collects_pages was set */
   size_t page_count, page_capacity;
   bool collects_pages; /* cut_write makes the list of pages anew, all kept */
   bool drops_syncs;    /* no fences and times: replays make submissions in order */
   bool drops_results;  /* nothing behind submissions */
   /* In place of what is recorded around the one kept submission; NULL: as recorded. */
   const struct cut_image *before, *after;
   const struct cut_alias *aliases;
   size_t alias_count;
};

/* Reads the capture and keeps all of it. Free it, also when it failed. */
AGX_MUST_CHECK agx_status cut_survey(struct cut *cut, struct agxw_capture_reader *reader);
/* Fails when path leads to the file of fd, which is still to be read when path is written. */
AGX_MUST_CHECK agx_status cut_refuse_input(int fd, const char *path);
/* Makes an empty file for trials in TMPDIR or /tmp, readable by its owner only; path is its name,
 * or empty on failure. */
#define CUT_TRIAL_BYTES 512
AGX_MUST_CHECK agx_status cut_make_trial(char path[CUT_TRIAL_BYTES]);
/* Writes what is kept to a new file. */
AGX_MUST_CHECK agx_status cut_write(struct cut *cut, const char *path);
/* Frees all but the reader and images. */
void cut_free(struct cut *cut);

/* Adds a page; data is copied. */
AGX_MUST_CHECK agx_status cut_image_add(struct cut_image *image, uint32_t object, uint64_t page,
                                        const uint8_t *data);
/* Sorts the pages by object and page. */
void cut_image_sort(struct cut_image *image);
/* A page of a sorted image; NULL: zero. */
const uint8_t *cut_image_page(const struct cut_image *image, uint32_t object, uint64_t page);
/* The object that a handle of the device meant when submission, from 1, was made; UINT32_MAX: none.
 */
uint32_t cut_object_of(const struct cut *cut, uint64_t submission,
                       const struct replay_device *device, uint32_t handle);
/* Makes an image of the mapped memory of bound buffers, in place of what is there. */
AGX_MUST_CHECK agx_status cut_take_image(const struct cut *cut, uint64_t submission,
                                         struct replay_device *device, struct cut_image *image);
/* Frees all. */
void cut_image_free(struct cut_image *image);

/* Room for one more element of a vector that grows; NULL: no memory. */
void *cut_grow(void *data, size_t count, size_t *capacity, size_t element);
