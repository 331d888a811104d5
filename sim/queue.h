/* queue.h -- the events of the simulator in order of time: a radix heap.
 *
 * INVARIANT Q1  no event is put in with a time before that of the event taken last: time does not go back.
 * INVARIANT Q2  events with the same time are taken in the order in which they were put in.
 *
 * An event lies in the bucket of the highest bit in which its time differs from that of the last event taken, so it moves down at most 64 times.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_QUEUE_H
#define GW_SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct event {
    int64_t time;
    uint32_t what, kind;
};
struct event_bucket {
    struct event *at;
    int64_t n, room;
};
struct event_queue {
    int64_t last, n, taken; /* last: time of the last event taken; taken: events of bucket 0 that were taken */
    struct event_bucket buckets[65];
};

void queue_put(struct event_queue *q, struct event e);
bool queue_take(struct event_queue *q, struct event *out); /* false: the queue is empty */
void queue_free(struct event_queue *q);

#endif
