/* SPDX-License-Identifier: MIT
 *
 * Between the files that emit control flow: call.c, flow.c (regions, ifs,
 * loops), switch.c, jump.c and edge.c.
 */
#pragma once

#include "agx/compiler/spirv/value_impl.h"

enum agxc_spv_construct_kind {
   AGXC_SPV_SELECTION,
   AGXC_SPV_LOOP,
   AGXC_SPV_SWITCH,
   AGXC_SPV_CALL,
};

/* Constructs that flagged exits are on their way to, innermost first; lists share their tails. */
struct agxc_spv_exits {
   struct agxc_spv_construct *to;
   const struct agxc_spv_exits *outer;
};

/* What control flow is inside of, innermost first. */
struct agxc_spv_construct {
   struct agxc_spv_construct *outer, *loop, *call; /* the innermost loop and call, this included */
   uint32_t depth;                                 /* constructs around it, and itself */
   bool active;
   enum agxc_spv_construct_kind kind;
   struct agxc_spv_block *merge, *header, *continues;
   bool in_continuing;
   bool broke, continued;              /* loops: something goes to merge, to continues */
   const struct agxc_spv_exits *exits; /* loops: those that a BREAK is on its way to */
   /* Switches and calls are left by setting a flag and skipping what is in between. */
   uint32_t flag_slot;
   uint32_t return_slot;            /* calls */
   struct agxc_spv_target *targets; /* switches */
};

struct agxc_spv_target {
   struct agxc_spv_block *block;
   uint32_t from_slot; /* 1 when control falls in from the target before */
   uint32_t to, from;  /* fall-through: index + 1, or 0 */
   uint32_t literals;  /* the last one that leads here: index + 1, or 0 */
   bool emitted;
};

struct agxc_spv_flow {
   struct agxc_spv_construct *top;
   struct agx_link *list; /* being filled */
   struct agxc_node *parent;
   uint32_t nesting; /* of regions */
};

/* How a list of nodes ends. */
struct agxc_spv_end {
   bool falls; /* control reaches the block that was asked for */
   const struct agxc_spv_exits *exits;
};

/* What a branch to a block means here. */
enum agxc_spv_jump_kind {
   AGXC_SPV_JUMP_ON, /* to a block of this region */
   AGXC_SPV_JUMP_END,
   AGXC_SPV_JUMP_BREAK,
   AGXC_SPV_JUMP_CONTINUE,
   AGXC_SPV_JUMP_LEAVE, /* the innermost switch */
   AGXC_SPV_JUMP_FALL,  /* to another target of the innermost switch */
};

/* Where emission stood before it entered a list. */
struct agxc_spv_place_saved {
   struct agx_link *list;
   struct agxc_node *parent;
   struct agxc_spv_region *region;
};

/* An if that is being emitted: its then list, later its else list, is the one being filled. */
struct agxc_spv_arms {
   struct agxc_if *branch;
   struct agxc_spv_place_saved saved;
};

/* A loop that is being emitted, of which no instruction of the module tells. */
struct agxc_spv_loop_place {
   struct agxc_loop *loop;
   struct agxc_spv_place_saved saved;
};

/* ---- line.c: source lines ------------------------------------------------ */

/* In a function body: makes the line that the instruction names that of those behind it. */
void agxc_spv_follow_line(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* ---- edge.c: lists, constructs, edges and phis --------------------------- */

/* Counts one region more that is being emitted; fails beyond shader->most_nesting. */
void agxc_spv_count_nesting(struct agxc_spv *s);
/* Begins to fill a list of nodes of parent; what follows is emitted there, in a new block. */
struct agxc_spv_place_saved agxc_spv_enter(struct agxc_spv *s, struct agx_link *list,
                                           struct agxc_node *parent);
/* Goes back to the list that agxc_spv_enter() left; values of the inner one go out of scope. */
void agxc_spv_leave_list(struct agxc_spv *s, struct agxc_spv_place_saved saved);
/* Ends the current block with a branch on cond and begins to fill the list of where it is 1. */
struct agxc_spv_arms agxc_spv_begin_then(struct agxc_spv *s, struct agxc_ref cond);
/* Goes on with the list of where the condition is 0. */
void agxc_spv_begin_else(struct agxc_spv *s, struct agxc_spv_arms *arms);
/* Leaves that list and begins the block behind the if. */
void agxc_spv_end_if(struct agxc_spv *s, struct agxc_spv_arms *arms);
/* Begins a block at the end of the list being filled: what stands behind a node. */
void agxc_spv_new_block(struct agxc_spv *s);
/* A new slot of one bit, which is 0 where code is being emitted. */
uint32_t agxc_spv_flag_new(struct agxc_spv *s);
/* Enters a construct, which the arena owns; merge, header and continue target are the caller's to
 * fill. flagged: it is left by setting a flag, which gets a slot. */
struct agxc_spv_construct *agxc_spv_push(struct agxc_spv *s, enum agxc_spv_construct_kind kind,
                                         bool flagged);
/* Leaves the innermost construct. */
void agxc_spv_pop(struct agxc_spv *s);
/* The block that a label names; fails for other ids. */
struct agxc_spv_block *agxc_spv_block_of(struct agxc_spv *s, uint32_t label);
/* Takes the edge between two blocks of one function: writes the slots of to's phis. */
void agxc_spv_write_phis(struct agxc_spv *s, struct agxc_spv_block *from,
                         struct agxc_spv_block *to);
/* Whether a block begins with phis. */
bool agxc_spv_has_phis(struct agxc_spv *s, const struct agxc_spv_block *block);
/* Defines a block's phis from what its edges wrote. */
void agxc_spv_emit_phis(struct agxc_spv *s, struct agxc_spv_block *block);

/* ---- flow.c, switch.c ----------------------------------------------------- */

/* Emits from block on until end; the edge to block is taken. */
struct agxc_spv_end agxc_spv_emit_region(struct agxc_spv *s, struct agxc_spv_block *block,
                                         struct agxc_spv_block *end);
/* Emits an OpSwitch that ends block, with all its targets, until merge. */
struct agxc_spv_end agxc_spv_emit_switch(struct agxc_spv *s, struct agxc_spv_block *block,
                                         const struct agxc_spv_instr *in,
                                         struct agxc_spv_block *merge);

/* ---- jump.c: branches that leave a region -------------------------------- */

/* What a branch to a block means where code is being emitted, in a region that ends at end; and
 * the construct that it leaves or goes on in. */
enum agxc_spv_jump_kind agxc_spv_classify(struct agxc_spv *s, struct agxc_spv_block *to,
                                          struct agxc_spv_block *end,
                                          struct agxc_spv_construct **out_construct);
/* Takes the edge and leaves the region; kind and c are agxc_spv_classify()'s, and kind is not
 * AGXC_SPV_JUMP_ON. */
struct agxc_spv_end agxc_spv_jump(struct agxc_spv *s, struct agxc_spv_block *from,
                                  struct agxc_spv_block *to, enum agxc_spv_jump_kind kind,
                                  struct agxc_spv_construct *c);
/* A target in an arm of its own: taken edges aside, it may be the end already. */
struct agxc_spv_end agxc_spv_emit_arm(struct agxc_spv *s, struct agxc_spv_block *from,
                                      struct agxc_spv_block *to, struct agxc_spv_block *end,
                                      bool edge_taken);
/* Appends a terminator without operands, after which nothing falls through. */
struct agxc_spv_end agxc_spv_terminate(struct agxc_spv *s, enum agxc_op op);
/* Begins a loop, whose body is the list being filled then; and ends it, with a last break where
 * `done` is 1. */
struct agxc_spv_loop_place agxc_spv_begin_loop(struct agxc_spv *s);
void agxc_spv_end_loop(struct agxc_spv *s, struct agxc_spv_loop_place *place, struct agxc_ref done);
/* Leaves for a switch or call: BREAK when a loop is between, else a flag. */
struct agxc_spv_end agxc_spv_exit_to(struct agxc_spv *s, struct agxc_spv_construct *target);
/* The innermost loop or call around c, c included, or NULL: no branch goes further out. */
struct agxc_spv_construct *agxc_spv_border(struct agxc_spv_construct *c);
/* The exits of both lists, innermost first and each once; may share the tails of either. */
const struct agxc_spv_exits *agxc_spv_join_exits(struct agxc_spv *s, const struct agxc_spv_exits *a,
                                                 const struct agxc_spv_exits *b);
/* Sends on, by a BREAK, what must leave the loop around; always: every way here does. Returns the
 * exits that remain. */
const struct agxc_spv_exits *
agxc_spv_break_onwards(struct agxc_spv *s, const struct agxc_spv_exits *exits, bool always);
/* Goes on at block, until end, unless a flag of exits is set. */
struct agxc_spv_end agxc_spv_emit_guarded(struct agxc_spv *s, struct agxc_spv_block *block,
                                          struct agxc_spv_block *end,
                                          const struct agxc_spv_exits *exits);
