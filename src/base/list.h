/* SPDX-License-Identifier: MIT
 *
 * A circular intrusive list. The head is a link of its own; an element is in
 * at most one list through each of its links.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct agx_link {
   struct agx_link *prev, *next;
};

#define agx_container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* Makes an empty list, or a link that is in none. */
static inline void agx_list_init(struct agx_link *head)
{
   head->prev = head->next = head;
}

/* Returns whether the list has no element. */
static inline bool agx_list_empty(const struct agx_link *head)
{
   return head->next == head;
}

/* Inserts link before the element (or head) at. */
static inline void agx_list_insert_before(struct agx_link *at, struct agx_link *link)
{
   link->prev = at->prev;
   link->next = at;
   at->prev->next = link;
   at->prev = link;
}

/* Inserts link behind the element (or head) at. */
static inline void agx_list_insert_after(struct agx_link *at, struct agx_link *link)
{
   agx_list_insert_before(at->next, link);
}

/* Inserts link at the end of the list. */
static inline void agx_list_append(struct agx_link *head, struct agx_link *link)
{
   agx_list_insert_before(head, link);
}

/* Takes link out of the list it is in; one that is in none stays so. */
static inline void agx_list_remove(struct agx_link *link)
{
   link->prev->next = link->next;
   link->next->prev = link->prev;
   link->prev = link->next = link;
}

/* Moves all elements of from to the end of to; from is empty afterwards. */
static inline void agx_list_splice(struct agx_link *to, struct agx_link *from)
{
   if (agx_list_empty(from))
      return;
   from->next->prev = to->prev;
   to->prev->next = from->next;
   from->prev->next = to;
   to->prev = from->prev;
   agx_list_init(from);
}

#define agx_list_for_each(type, it, head, member)                                                  \
   for (type *it = agx_container_of((head)->next, type, member); &it->member != (head);            \
        it = agx_container_of(it->member.next, type, member))

/* As agx_list_for_each; the body may remove or move the current element. */
#define agx_list_for_each_safe(type, it, head, member)                                             \
   for (type *it = agx_container_of((head)->next, type, member),                                   \
             *it##_next = agx_container_of(it->member.next, type, member);                         \
        &it->member != (head);                                                                     \
        it = it##_next, it##_next = agx_container_of(it->member.next, type, member))
