/* Judgments: for each topic a table from document to row. Rows are numbered by topic in order of first appearance,
 * and within a topic in order of appearance, so a topic's rows are one range. Of judgments of subtopics, a row has the
 * largest grade of its document, and the grades by subtopic are kept beside it, as they come. */
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
typedef struct { u64 hash; u32 doc, subtopic; double grade; } Aspect; /* the grade of a document for a subtopic */
typedef struct { Names names; u32 *slot; size_t mask; Aspect *aspect; size_t n, cap; u64 base; } Subtopics;
typedef struct {
    u32 *slot; size_t mask; Doc *doc; double *grade; size_t n, doc_cap, grade_cap; u64 base; Subtopics sub;
} Topic;
typedef struct { Names topics; Topic *topic; size_t topic_cap; u64 rows, aspects, subtopics; Arena arena; } Judgments;

INLINE const u8 *doc_bytes(const Doc *d) { return d->n <= NEAR ? d->at.near : d->at.far; }

static void judgments_clear(Judgments *j) {
    for (size_t i = 0; i < j->topics.n; i++) {
        mem_free(j->topic[i].slot);
        mem_free(j->topic[i].doc);
        mem_free(j->topic[i].grade);
        names_free(&j->topic[i].sub.names);
        mem_free(j->topic[i].sub.slot);
        mem_free(j->topic[i].sub.aspect);
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

INLINE int is_doc(const Doc *d, const u8 *p, u32 n, u64 hash) {
    return d->hash == hash && d->n == n && same_bytes(doc_bytes(d), p, n);
}

INLINE i64 topic_find(const Topic *t, const u8 *p, u32 n, u64 hash) {
    for (size_t s = hash & t->mask; t->slot[s]; s = (s + 1) & t->mask)
        if (SAME_TAG(t->slot[s], hash, t->mask) && is_doc(&t->doc[SLOT_INDEX(t->slot[s], t->mask)], p, n, hash))
            return SLOT_INDEX(t->slot[s], t->mask);
    return -1;
}

/* Finds a name, or adds it with bytes of its own: *at is its index. */
static int name_index(Names *t, const Name *k, Arena *arena, i64 *at, Err *e) {
    if ((*at = names_find(t, k)) >= 0) return FINE;
    Name kept = *k;
    if (!(kept.p = arena_keep(arena, k->p, k->n))) return fail_memory(e);
    *at = (i64)t->n;
    return names_add(t, &kept, e);
}

/* Keeps the grade of a document, of a topic's index, for a subtopic; 1 when there is one already. */
static int judge_subtopic(Judgments *j, Topic *t, u32 doc, const Name *subtopic, double grade, Err *e) {
    Subtopics *s = &t->sub;
    i64 at;
    if (make_slot(&s->slot, &s->mask, 64, s->n, s->aspect, sizeof *s->aspect, e)) return e->kind;
    if (RESERVE(s->aspect, s->cap, s->n + 1, e) || name_index(&s->names, subtopic, &j->arena, &at, e)) return e->kind;
    Aspect a = {fold(hash_key.seed ^ ((u64)doc << 32 | (u32)at), hash_key.step), doc, (u32)at, grade};
    for (size_t i = a.hash & s->mask; s->slot[i]; i = (i + 1) & s->mask) {
        const Aspect *b = &s->aspect[SLOT_INDEX(s->slot[i], s->mask)];
        if (b->doc == a.doc && b->subtopic == a.subtopic) return 1;
    }
    if (j->aspects == INT32_MAX) return refuse(e, "more than %ld judgments", (long)INT32_MAX);
    take_slot(s->slot, s->mask, a.hash, s->n);
    s->aspect[s->n++] = a;
    j->aspects++;
    return FINE;
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

/* Judges a document, for a subtopic unless that is NULL; 1 when it was judged before (nothing changes then). */
static int judge(Judgments *j, const Name *topic, const Name *subtopic, const Name *doc, double grade, Err *e) {
    size_t nt = j->topics.n; /* most lines have the topic of the line above */
    i64 at = nt && same_name(&j->topics.name[nt - 1], topic) ? (i64)nt - 1 : names_find(&j->topics, topic);
    Topic *t = at < 0 ? add_judged_topic(j, topic, e) : &j->topic[at];
    if (!t) return e->kind;
    if (make_slot(&t->slot, &t->mask, 64, t->n, t->doc, sizeof *t->doc, e)) return e->kind;
    i64 known = topic_find(t, doc->p, doc->n, doc->hash);
    if (known >= 0 && !subtopic) return 1;
    if (known >= 0) {
        if (grade > t->grade[known]) t->grade[known] = grade;
        return judge_subtopic(j, t, (u32)known, subtopic, grade, e);
    }
    if (RESERVE(t->doc, t->doc_cap, t->n + 1, e) || RESERVE(t->grade, t->grade_cap, t->n + 1, e)) return e->kind;
    if (j->rows == INT32_MAX) return refuse(e, "more than %ld judgments", (long)INT32_MAX);
    if (put_document(j, t, doc, grade, e)) return e->kind;
    return subtopic ? judge_subtopic(j, t, (u32)t->n - 1, subtopic, grade, e) : FINE;
}

static void number_rows(Judgments *j) {
    u64 base = 0;
    j->subtopics = 0;
    for (size_t i = 0; i < j->topics.n; i++) {
        j->topic[i].base = base;
        base += j->topic[i].n;
        j->topic[i].sub.base = j->subtopics;
        j->subtopics += j->topic[i].sub.names.n;
    }
}

/* one qrels line: 1 a judgment, 0 nothing on it, -1 wrong; *next is the line after it, unless it is wrong */
INLINE int qrels_line(const u8 *p, const u8 **next, size_t longest, Name *topic, Name *second, Name *doc, double *grade) {
    const u8 *start = p;
    p = skip_blanks(p);
    if (*p == '#') while (*p != '\n') p++;
    if (*p == '\n' && !LINE_TOO_LONG(start, p, longest)) { *next = p + 1; return 0; }
    if (*p <= ' ') return -1;
    p = skip_blanks(hash_column(p, topic));
    if (*p <= ' ') return -1;
    p = skip_blanks(hash_column(p, second));
    if (*p <= ' ') return -1;
    p = skip_blanks(hash_column(p, doc));
    if (*p <= ' ' || parse_number(p, &p, grade) != NUMBER) return -1;
    p = skip_blanks(p);
    if (*p != '\n' || LINE_TOO_LONG(start, p, longest)) return -1;
    *next = p + 1;
    return 1;
}

/* reads the whole source (it is kept in the window to the end, so that a duplicate's first line can be found) */
static int judgments_read(Judgments *j, Source *s, int subtopics, Err *e) {
    Window w = {0};
    int rc = FINE;
    while (!s->ended && rc == FINE) rc = window_fill(&w, s, 0, e);
    const u8 *p = w.buf, *next = p;
    Name topic, second, doc;
    double grade;
    for (u64 line = 1; rc == FINE && p < w.lim; line++, p = next) {
        if (!(line % LOOK_EVERY) && (rc = interrupted(&s->state, e))) break;
        int is = qrels_line(p, &next, s->longest, &topic, &second, &doc, &grade);
        if (is < 0) rc = explain_line(p, line, subtopics ? &SUBTOPICS_LINE : &QRELS_LINE, 0, s->longest, e);
        if (is <= 0) continue;
        e->line = line;
        rc = judge(j, &topic, subtopics ? &second : NULL, &doc, grade, e);
        if (rc != 1) continue;
        u64 first = 1; /* the line that judged it first */
        Name t, o, d;
        for (const u8 *q = w.buf;; first++, q = next)
            if (qrels_line(q, &next, s->longest, &t, &o, &d, &grade) > 0 && same_name(&t, &topic) &&
                same_name(&d, &doc) && (!subtopics || same_name(&o, &second))) break;
        rc = refuse_judged_twice(&topic, &doc, subtopics ? NULL : &o, &second, "on line", first, e);
    }
    mem_free(w.buf);
    if (rc == FINE) number_rows(j);
    return rc;
}

#endif
