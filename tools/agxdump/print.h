/* SPDX-License-Identifier: MIT
 *
 * What agxdump prints for people: lines with colours on a terminal, through a pager where they are
 * many, and names out of a capture without bytes that a terminal obeys.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum print_style {
   PRINT_PLAIN,
   PRINT_HEAD,    /* a submission or a command */
   PRINT_PACKET,  /* a word of a stream */
   PRINT_CODE,    /* an instruction */
   PRINT_ASIDE,   /* what is said beside it */
   PRINT_TROUBLE, /* what could not be told */
   PRINT_STYLE_COUNT,
};

enum print_when {
   PRINT_AUTO,
   PRINT_ALWAYS,
   PRINT_NEVER
};

/* Whether standard output gets colours: AUTO: a terminal, unless NO_COLOR is set or TERM is
 * "dumb". */
bool print_has_colours(enum print_when when);
/* What begins a style and ends it; empty texts without colours. */
const char *print_begin(bool has_colours, enum print_style style);
const char *print_end(bool has_colours);

/* On a terminal, gives standard output to the pager of the environment (AGX_PAGER, PAGER, else
 * `less`); without one, or elsewhere, nothing changes. print_finish waits until the reader has
 * closed it; one who leaves early ends the program, with exit code 0. */
void print_start_pager(void);
/* Ends the pager; returns whether all was written, and errno tells why not. Another call returns
 * the same. */
bool print_finish(void);

/* Writes text with '?' in place of control characters and of bytes that are no UTF-8; out is always
 * terminated, behind a whole character. */
void print_clean(const char *text, char *out, size_t capacity);
/* The same for text of so many bytes without a NUL, of which 1000 are taken at most. */
void print_clean_bytes(const char *text, size_t bytes, char *out, size_t capacity);
