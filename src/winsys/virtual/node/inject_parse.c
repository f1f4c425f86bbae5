/* SPDX-License-Identifier: MIT
 *
 * Reading fault scripts. A statement is a verb and its words, on a line or before a
 * semicolon; '#' begins a remark. The text may come from anywhere: words are cut out
 * of it by position, numbers are bounded, and what is shown of it is made printable.
 */
#include "winsys/virtual/node/node_impl.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define MAX_WORDS   5u
#define SHOWN_BYTES 40u
#define MAX_ERRNO   4095u

struct word {
   const char *at;
   size_t length;
};

struct statement {
   struct word words[MAX_WORDS];
   uint32_t count, line;
};

struct shown {
   char text[SHOWN_BYTES + 4];
};

/* A word as it can be put into a message. */
static struct shown show(struct word word)
{
   struct shown shown = {{0}};
   size_t length = AGX_MIN(word.length, SHOWN_BYTES);
   for (size_t i = 0; i < length; i++)
      shown.text[i] = isprint((unsigned char)word.at[i]) ? word.at[i] : '?';
   if (length < word.length)
      memcpy(shown.text + length, "...", 3);
   return shown;
}

#define REFUSE(statement, word, what)                                                              \
   AGX_FAIL(AGX_INVALID_ARGUMENT, "fault script, line %u: \"%s\" %s", (statement)->line,           \
            show(word).text, what)

static bool is(struct word word, const char *text)
{
   return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

static bool parse_number(struct word word, uint64_t *out)
{
   uint64_t value = 0;
   for (size_t i = 0; i < word.length; i++) {
      if (!isdigit((unsigned char)word.at[i]) || __builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, (uint64_t)(word.at[i] - '0'), &value))
         return false;
   }
   *out = value;
   return word.length > 0;
}

static agx_status take_error(const struct statement *it, struct word word, struct agxv_rule *rule)
{
#define ROW(name)                                                                                  \
   {                                                                                               \
#name, name                                                                                  \
   }
   static const struct {
      const char *name;
      int value;
   } rows[] = {
      ROW(EPERM),  ROW(ENOENT),  ROW(EINTR),     ROW(EIO),       ROW(EBADF),      ROW(EAGAIN),
      ROW(ENOMEM), ROW(EACCES),  ROW(EFAULT),    ROW(EBUSY),     ROW(EEXIST),     ROW(ENODEV),
      ROW(EINVAL), ROW(ENFILE),  ROW(EMFILE),    ROW(ENOTTY),    ROW(ENOSPC),     ROW(ERANGE),
      ROW(ENOSYS), ROW(ENODATA), ROW(ETIME),     ROW(EOVERFLOW), ROW(EOPNOTSUPP), ROW(ETIMEDOUT),
      ROW(ESTALE), ROW(EPROTO),  ROW(ECANCELED),
   };
#undef ROW
   uint64_t number;
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      if (!is(word, rows[i].name))
         continue;
      rule->error = -rows[i].value;
      return AGX_OK;
   }
   if (!parse_number(word, &number) || number == 0 || number > MAX_ERRNO)
      return REFUSE(it, word, "is no errno, by name or from 1 to 4095");
   rule->error = -(int32_t)number;
   return AGX_OK;
}

/* "3", "3-5", "3-", "*". */
static bool parse_range(struct word word, uint64_t *out_first, uint64_t *out_last)
{
   const char *dash = memchr(word.at, '-', word.length);
   size_t before = dash ? (size_t)(dash - word.at) : word.length;
   *out_first = 1;
   *out_last = UINT64_MAX;
   if (is(word, "*"))
      return true;
   bool is_good = parse_number((struct word){word.at, before}, out_first);
   if (!dash)
      *out_last = *out_first;
   else if (before + 1 < word.length)
      is_good &= parse_number((struct word){dash + 1, word.length - before - 1}, out_last);
   return is_good && *out_first && *out_last >= *out_first;
}

/* A range, "/4" (each fourth), "9-/4" (the ninth and each fourth from there). */
static agx_status take_which(const struct statement *it, struct word word, struct agxv_rule *rule)
{
   const char *slash = memchr(word.at, '/', word.length);
   size_t before = slash ? (size_t)(slash - word.at) : word.length;
   bool is_good = true;
   rule->every = 1;
   if (slash)
      is_good = parse_number((struct word){slash + 1, word.length - before - 1}, &rule->every);
   rule->first = rule->every;
   rule->last = UINT64_MAX;
   if (before)
      is_good &= parse_range((struct word){word.at, before}, &rule->first, &rule->last);
   if (!is_good || rule->every == 0 || word.length == 0)
      return REFUSE(it, word, "is none of N, N-M, N-, /N, N-/K and *, counted from 1");
   return AGX_OK;
}

static agx_status take_request(const struct statement *it, struct word word, struct agxv_rule *rule)
{
   if (is(word, "any"))
      return AGX_OK;
   uint32_t index = is(word, "mmap") ? AGXV_REQUEST_MMAP : agxv_request_find(word.at, word.length);
   if (index == UINT32_MAX)
      return REFUSE(it, word,
                    "is no request; they are called as in the interface, in small "
                    "letters without DRM_IOCTL_ and ASAHI_");
   rule->request = index + 1;
   return AGX_OK;
}

static agx_status take_value(const struct statement *it, struct word word, uint64_t limit,
                             struct agxv_rule *rule)
{
   if (!parse_number(word, &rule->value))
      return REFUSE(it, word, "is no number");
   return rule->value <= limit ? AGX_OK : REFUSE(it, word, "is too large");
}

/* What a verb's words are, in order. */
enum part {
   NOTHING,
   REQUEST,
   WHICH,
   ERROR,
   STEPS,
   MICROSECONDS,
   BYTES,
};

static agx_status take_part(const struct statement *it, enum part part, struct word word,
                            struct agxv_rule *rule)
{
   switch (part) {
   case REQUEST:
      return take_request(it, word, rule);
   case WHICH:
      return take_which(it, word, rule);
   case ERROR:
      return take_error(it, word, rule);
   case STEPS:
      return take_value(it, word, UINT32_MAX, rule);
   case MICROSECONDS:
      return take_value(it, word, 60000000, rule); /* a minute */
   case BYTES:
      return take_value(it, word, UINT64_MAX, rule);
   case NOTHING:
      break;
   }
   return REFUSE(it, word, "is a word too many");
}

static const struct {
   const char *name;
   enum agxv_verb verb;
   int32_t error;
   uint8_t needed; /* parts that may not lack */
   enum part parts[MAX_WORDS];
   const char *usage;
} verbs[] = {
   {"ioctl", AGXV_INJECT_REQUEST, 0, 3, {REQUEST, WHICH, ERROR}, "ioctl NAME WHICH ERRNO"},
   {"bind", AGXV_INJECT_BIND, 0, 3, {WHICH, STEPS, ERROR}, "bind WHICH STEPS ERRNO"},
   {"hang", AGXV_INJECT_END, -ETIMEDOUT, 1, {WHICH, MICROSECONDS}, "hang WHICH [MICROSECONDS]"},
   {"fault", AGXV_INJECT_END, -EIO, 1, {WHICH, MICROSECONDS}, "fault WHICH [MICROSECONDS]"},
   {"lose", AGXV_INJECT_LOSE, -ENODEV, 1, {WHICH}, "lose WHICH"},
   {"unwoken", AGXV_INJECT_UNWOKEN, 0, 1, {WHICH}, "unwoken WHICH"},
   {"slow", AGXV_INJECT_SLOW, 0, 2, {WHICH, MICROSECONDS}, "slow WHICH MICROSECONDS"},
   {"memory", AGXV_INJECT_MEMORY, 0, 1, {BYTES}, "memory BYTES"},
};

static agx_status take_statement(const struct statement *it, struct agxv_inject *inject)
{
   struct agxv_rule rule = {.first = 1, .last = UINT64_MAX, .every = 1};
   unsigned row = 0;
   while (row < AGX_COUNT(verbs) && !is(it->words[0], verbs[row].name))
      row++;
   if (row == AGX_COUNT(verbs))
      return REFUSE(it, it->words[0],
                    "is none of ioctl, bind, hang, fault, lose, unwoken, slow, memory");
   if (it->count - 1 < verbs[row].needed)
      return REFUSE(it, it->words[0], verbs[row].usage);
   if (inject->count == AGXV_MAX_RULES)
      return REFUSE(it, it->words[0], "is a statement too many; 256 are allowed");
   rule.verb = verbs[row].verb;
   rule.error = verbs[row].error;
   for (uint32_t i = 1; i < it->count; i++)
      AGX_TRY(take_part(it, verbs[row].parts[i - 1], it->words[i], &rule));
   inject->rules[inject->count++] = rule;
   return AGX_OK;
}

static bool is_blank(char c)
{
   return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts the next statement out, words over the limit counted as one; moves on behind it. */
static struct statement next_statement(const char **at, const char *end, uint32_t line)
{
   struct statement it = {.line = line};
   const char *p = *at;
   while (p < end && *p != '\n' && *p != ';' && *p != '#') {
      const char *start = p;
      while (p < end && !is_blank(*p) && *p != '\n' && *p != ';' && *p != '#')
         p++;
      if (p > start && it.count < MAX_WORDS)
         it.words[it.count++] = (struct word){start, (size_t)(p - start)};
      while (p < end && is_blank(*p))
         p++;
   }
   while (p < end && *p == '#')
      while (p < end && *p != '\n')
         p++;
   *at = p;
   return it;
}

agx_status agxv_inject_parse(const char *text, size_t length, struct agxv_inject *out_inject)
{
   const char *end = text + length;
   uint32_t line = 1;
   memset(out_inject, 0, sizeof(*out_inject));
   if (length > AGXV_SCRIPT_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "fault script: more than %u bytes", AGXV_SCRIPT_BYTES);
   while (text < end) {
      struct statement it = next_statement(&text, end, line);
      if (it.count)
         AGX_TRY(take_statement(&it, out_inject));
      line += text < end && *text == '\n';
      text += text < end;
   }
   return AGX_OK;
}

static agx_status read_file(const char *path, char *text, size_t *out_length)
{
   int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
   if (fd < 0)
      return agx_status_fail_errno(errno, "fault script %s", path);
   size_t length = 0;
   ssize_t got = 1;
   while (got > 0 && length <= AGXV_SCRIPT_BYTES) {
      got = read(fd, text + length, AGXV_SCRIPT_BYTES + 1 - length);
      length += got > 0 ? (size_t)got : 0;
   }
   int error = got < 0 ? errno : 0;
   close(fd);
   *out_length = length;
   return error ? agx_status_fail_errno(error, "fault script %s", path) : AGX_OK;
}

agx_status agxv_inject_read(const char *value, struct agxv_inject *out_inject)
{
   bool is_named = value[0] == '@';
   if (!is_named && strpbrk(value, " \t\n"))
      return agxv_inject_parse(value, strlen(value), out_inject);
   char *text = malloc(AGXV_SCRIPT_BYTES + 1);
   size_t length = 0;
   if (!text)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "fault script: no memory");
   agx_status status = read_file(value + is_named, text, &length);
   if (status == AGX_OK)
      status = agxv_inject_parse(text, length, out_inject);
   free(text);
   return status;
}
