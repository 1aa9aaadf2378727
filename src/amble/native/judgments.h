/* Judgments: for each topic a table from document to row. Rows are numbered by topic in order of first appearance,
 * and within a topic in order of appearance, so a topic's rows are one range. */
#ifndef AMBLE_JUDGMENTS_H
#define AMBLE_JUDGMENTS_H

#include "line.h"
#include "source.h"

#define NEAR 16
typedef struct { /* half a cache line: a judged document is verified with one miss */
    u64 hash;
    u32 n;
    union { u8 near[NEAR]; const u8 *far; } at;
} Doc;
typedef struct { u64 *slot; size_t mask; Doc *doc; double *grade; size_t n, doc_cap, grade_cap; u64 base; } Topic;
typedef struct { Names topics; Topic *topic; size_t topic_cap; u64 rows; Arena arena; } Judgments;

INLINE const u8 *doc_bytes(const Doc *d) { return d->n <= NEAR ? d->at.near : d->at.far; }

static void judgments_clear(Judgments *j) {
    for (size_t i = 0; i < j->topics.n; i++) {
        mem_free(j->topic[i].slot);
        mem_free(j->topic[i].doc);
        mem_free(j->topic[i].grade);
    }
    names_free(&j->topics);
    mem_free(j->topic);
    arena_free(&j->arena);
    memset(j, 0, sizeof *j);
}

static void judgments_free(Judgments *j) {
    judgments_clear(j);
    mem_free(j);
}

INLINE i64 topic_find(const Topic *t, const u8 *p, u32 n, u64 hash) {
    for (size_t s = hash & t->mask; t->slot[s]; s = (s + 1) & t->mask)
        if (SLOT_TAG(t->slot[s]) == SLOT_TAG(hash)) {
            const Doc *d = &t->doc[SLOT_INDEX(t->slot[s])];
            if (d->hash == hash && d->n == n && !memcmp(doc_bytes(d), p, n)) return SLOT_INDEX(t->slot[s]);
        }
    return -1;
}

/* a topic that has no judgments yet; NULL without memory */
static Topic *add_judged_topic(Judgments *j, const Name *topic, Err *e) {
    Name kept = *topic;
    if (RESERVE(j->topic, j->topic_cap, j->topics.n + 1, e)) return NULL;
    if (!(kept.p = arena_keep(&j->arena, topic->p, topic->n))) { fail_memory(e); return NULL; }
    Topic *t = &j->topic[j->topics.n];
    memset(t, 0, sizeof *t);
    return names_add(&j->topics, &kept, e) ? NULL : t;
}

/* a document that is not among the topic's yet, where there is space for it */
static int put_document(Judgments *j, Topic *t, const Name *doc, double grade, Err *e) {
    Doc *d = &t->doc[t->n];
    memset(d, 0, sizeof *d);
    d->hash = doc->hash;
    d->n = doc->n;
    if (doc->n <= NEAR) memcpy(d->at.near, doc->p, doc->n);
    else if (!(d->at.far = arena_keep(&j->arena, doc->p, doc->n))) return fail_memory(e);
    t->grade[t->n] = grade;
    take_slot(t->slot, t->mask, doc->hash, t->n++);
    j->rows++;
    return FINE;
}

/* 1 when the document was judged before for this topic (nothing changes then) */
static int judge(Judgments *j, const Name *topic, const Name *doc, double grade, Err *e) {
    i64 at = names_find(&j->topics, topic);
    Topic *t = at < 0 ? add_judged_topic(j, topic, e) : &j->topic[at];
    if (!t) return e->kind;
    if (make_slot(&t->slot, &t->mask, 64, t->n, t->doc, sizeof *t->doc, e)) return e->kind;
    if (topic_find(t, doc->p, doc->n, doc->hash) >= 0) return 1;
    if (RESERVE(t->doc, t->doc_cap, t->n + 1, e) || RESERVE(t->grade, t->grade_cap, t->n + 1, e)) return e->kind;
    if (j->rows == INT32_MAX) return refuse(e, "more than %ld judgments", (long)INT32_MAX);
    return put_document(j, t, doc, grade, e);
}

static void number_rows(Judgments *j) {
    u64 base = 0;
    for (size_t i = 0; i < j->topics.n; i++) {
        j->topic[i].base = base;
        base += j->topic[i].n;
    }
}

/* one qrels line: 1 a judgment, 0 nothing on it, -1 wrong; *next is the line after it, unless it is wrong */
INLINE int qrels_line(const u8 *p, const u8 **next, size_t longest, Name *topic, Name *doc, double *grade) {
    const u8 *start = p;
    p = skip_blanks(p);
    if (*p == '#') while (*p != '\n') p++;
    if (*p == '\n' && !LINE_TOO_LONG(start, p, longest)) { *next = p + 1; return 0; }
    if (*p <= ' ') return -1;
    p = skip_blanks(hash_column(p, topic));
    if (*p <= ' ') return -1;
    p = skip_blanks(skip_column(p));
    if (*p <= ' ') return -1;
    p = skip_blanks(hash_column(p, doc));
    if (*p <= ' ' || parse_number(p, &p, grade) != NUMBER) return -1;
    p = skip_blanks(p);
    if (*p != '\n' || LINE_TOO_LONG(start, p, longest)) return -1;
    *next = p + 1;
    return 1;
}

/* reads the whole source (it is kept in the window to the end, so that a duplicate's first line can be found) */
static int judgments_read(Judgments *j, Source *s, Err *e) {
    Window w = {0};
    int rc = FINE;
    while (!s->ended && rc == FINE) rc = window_fill(&w, s, 0, e);
    const u8 *p = w.buf, *next = p;
    Name topic, doc;
    double grade;
    for (u64 line = 1; rc == FINE && p < w.lim; line++, p = next) {
        if (!(line % LOOK_EVERY) && (rc = interrupted(&s->state, e))) break;
        int is = qrels_line(p, &next, s->longest, &topic, &doc, &grade);
        if (is < 0) rc = explain_line(p, line, &QRELS_LINE, 0, s->longest, e);
        if (is <= 0) continue;
        e->line = line;
        rc = judge(j, &topic, &doc, grade, e);
        if (rc != 1) continue;
        u64 first = 1; /* the line that judged it first */
        Name t, d;
        for (const u8 *q = w.buf;; first++, q = next)
            if (qrels_line(q, &next, s->longest, &t, &d, &grade) > 0 && same_name(&t, &topic) && same_name(&d, &doc)) break;
        rc = refuse_twice(&topic, doc.p, doc.n, "is judged", "on line", first, e);
    }
    mem_free(w.buf);
    if (rc == FINE) number_rows(j);
    return rc;
}

#endif
