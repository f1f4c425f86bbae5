/* SPDX-License-Identifier: MIT
 *
 * Where a stream needs a barrier word. Both ways to record a launch ask here about each access that
 * the launch makes; recorded barriers and events only move the limits that these answers follow.
 *
 * Time is an index of launches. A recorded barrier says that uses before a launch come before those
 * behind it; a barrier word in the stream orders everything before it. So a word is needed where an
 * access meets a conflicting one that stands behind the last word and before a recorded barrier.
 * Reads don't conflict with reads, and launches may overlap where no barrier stands between them.
 */
#pragma once

#include "hal/record/resources.h"

/* Launch indices; 0 is before all launches. */
struct agx_hazards {
   uint32_t launch_index; /* of the last launch */
   uint32_t last_barrier; /* of the first launch behind the last barrier word */
   uint32_t barrier;      /* uses before are behind a recorded barrier of all memory */
   uint32_t any_barrier;  /* the same, of any memory */
   uint32_t anything;     /* of the last launch that may use any memory */
};

/* For a stream without launches. */
static inline void agx_hazard_reset(struct agx_hazards *hazards)
{
   *hazards = (struct agx_hazards){.last_barrier = 1};
}

/* Returns whether the launch of launch_index needs a barrier word before it because of this access,
 * and notes the access. */
static inline bool agx_hazard_access(const struct agx_hazards *hazards, struct agx_use *use,
                                     bool writes)
{
   const uint32_t limit = hazards->barrier > use->barrier ? hazards->barrier : use->barrier;
   const uint32_t from = hazards->last_barrier;
   bool after_write = (use->written >= from && use->written < limit) ||
                      (hazards->anything >= from && hazards->anything < limit);
   if (!writes) {
      use->read = hazards->launch_index;
      return after_write;
   }
   bool after_read = use->read >= from && use->read < limit;
   use->written = hazards->launch_index;
   return after_write || after_read;
}

/* Returns whether any access can need a word: none does where nothing stands between the last word
 * and a recorded barrier. */
static inline bool agx_hazard_is_possible(const struct agx_hazards *hazards)
{
   return hazards->any_barrier > hazards->last_barrier;
}

/* Notes an access as agx_hazard_access does, where agx_hazard_is_possible said that none needs a
 * word. */
static inline void agx_hazard_note(const struct agx_hazards *hazards, struct agx_use *use,
                                   bool writes)
{
   if (writes)
      use->written = hazards->launch_index;
   else
      use->read = hazards->launch_index;
}

/* agx_hazard_access of a launch that may read and write any memory. */
static inline bool agx_hazard_access_anything(struct agx_hazards *hazards)
{
   hazards->anything = hazards->launch_index;
   return agx_hazard_is_possible(hazards);
}

/* Returns whether a launch stands behind the last word. */
static inline bool agx_hazard_has_launches(const struct agx_hazards *hazards)
{
   return hazards->launch_index >= hazards->last_barrier;
}

/* The last launch has a barrier word before it. */
static inline void agx_hazard_word_written(struct agx_hazards *hazards)
{
   hazards->last_barrier = hazards->launch_index;
}

/* The launches up to here are over before the next one begins. */
static inline void agx_hazard_all_over(struct agx_hazards *hazards)
{
   hazards->last_barrier = hazards->launch_index + 1;
}

/* Records that launches before launch_index come before those to come. */
static inline void agx_hazard_barrier(struct agx_hazards *hazards, uint32_t launch_index)
{
   hazards->barrier = hazards->barrier > launch_index ? hazards->barrier : launch_index;
   hazards->any_barrier = hazards->any_barrier > launch_index ? hazards->any_barrier : launch_index;
}

/* The same, for uses of one object only. */
static inline void agx_hazard_barrier_of(struct agx_hazards *hazards, struct agx_use *use,
                                         uint32_t launch_index)
{
   use->barrier = use->barrier > launch_index ? use->barrier : launch_index;
   hazards->any_barrier = hazards->any_barrier > launch_index ? hazards->any_barrier : launch_index;
}
