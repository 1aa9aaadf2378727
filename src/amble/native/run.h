/* Runs: read in one pass through the window, topic by topic, when each topic's lines stand together; otherwise whole,
 * the lines then grouped by topic. */
#ifndef AMBLE_RUN_H
#define AMBLE_RUN_H

#include "ranking.h"

typedef struct {
    Name topic, doc, tag;
    double score, given; /* given: the rank column */
} RunLine;

/* The rest of a run line after its topic: 1 a record, -1 wrong. *next is the line after it, unless it is wrong. */
INLINE int run_columns(const u8 *start, const u8 *p, const u8 **next, size_t longest, int rank_matters, RunLine *l) {
    if (*p <= ' ') return -1;
    p = skip_blanks(skip_column(p));
    if (*p <= ' ') return -1;
    p = skip_blanks(hash_column(p, &l->doc));
    if (*p <= ' ') return -1;
    const u8 *rank = p;
    if (rank_matters) {
        if (parse_number(p, &p, &l->given) != NUMBER) return -1;
        p = skip_blanks(p);
    } else p = skip_blanks(skip_column(p));
    if (*p <= ' ' || parse_number(p, &p, &l->score) != NUMBER) return -1;
    p = skip_blanks(p);
    l->tag.p = p;
    l->tag.n = 0;
    if (*p > ' ') {
        const u8 *end = skip_column(p);
        l->tag.n = (u32)(end - p);
        p = skip_blanks(end);
        if (*p > ' ') { /* text after the sixth column */
            double number;
            if (parse_number(rank, &end, &number) != NUMBER) return -1;
            const u8 *last = p;
            for (; *p > ' '; p = skip_blanks(skip_column(p))) last = p;
            if (memchr(start, '\r', (size_t)(last - start))) { /* lines of an old Mac, not a long line */
                const u8 *first = skip_blanks(start);
                if (memchr(first, '\r', (size_t)(last - first))) return -1;
            }
        }
    }
    if (*p != '\n' || LINE_TOO_LONG(start, p, longest)) return -1;
    *next = p + 1;
    return 1;
}

typedef struct {
    Ranker rank;
    Record *record; size_t n, cap;
    double *given; size_t given_cap; /* the rank column, where ties are broken by it */
    u32 *topic_of; size_t topic_cap; /* whole runs: each record's topic; once grouped, where it came from */
    Names topics;                    /* seen in this run, in order */
    Arena arena;
    const u8 *tag; u32 tag_n; int tagged;
    u8 *text; size_t text_n;         /* whole runs from a source: all of it */
    PyThreadState *state;            /* the released GIL's, while whole runs are ranked */
} Run;

static void run_free(Run *r) {
    ranker_free(&r->rank);
    mem_free(r->record);
    mem_free(r->given);
    mem_free(r->topic_of);
    names_free(&r->topics);
    arena_free(&r->arena);
    mem_free(r->text);
}

INLINE int keep_record(Run *r, const RunLine *l, Err *e) {
    if (r->n == r->cap && RESERVE(r->record, r->cap, r->n + 1, e)) return e->kind;
    if (r->rank.ties == TIES_RANK) {
        if (RESERVE(r->given, r->given_cap, r->n + 1, e)) return e->kind;
        r->given[r->n] = l->given;
    }
    Record *x = &r->record[r->n++];
    x->doc = l->doc.p;
    x->hash = l->doc.hash;
    x->n = l->doc.n;
    x->score = r->rank.single ? (double)(float)l->score : l->score;
    x->row = UNJUDGED;
    if (!r->tagged && l->tag.n) {
        if (!(r->tag = arena_keep(&r->arena, l->tag.p, l->tag.n))) return fail_memory(e);
        r->tag_n = l->tag.n;
        r->tagged = 1;
    }
    return FINE;
}

static const double *ranks_given(const Run *r) { return r->rank.ties == TIES_RANK ? r->given : NULL; }

static int add_topic(Run *r, const Name *topic, Err *e) {
    Name kept = *topic;
    if (!(kept.p = arena_keep(&r->arena, topic->p, topic->n))) return fail_memory(e);
    return names_add(&r->topics, &kept, e);
}

/* The current topic is over: rank it. `from` is the byte where its first line starts, `line` that line's number. */
static int close_topic(Run *r, const Judgments *j, const u8 *from, u64 line, Err *e) {
    if (!r->n) return FINE;
    const Name *topic = &r->topics.name[r->topics.n - 1];
    e->line = line;
    int rc = rank_topic(&r->rank, j, names_find(&j->topics, topic), r->record, r->n, ranks_given(r), e);
    if (rc == 1) {
        const Record *first = &r->record[r->rank.first], *second = &r->record[r->rank.second];
        e->line = line + count_lines(from, second->doc);
        line += count_lines(from, first->doc);
        rc = refuse_twice(topic, second->doc, second->n, "appears", "on line", line, e);
    }
    r->n = 0;
    return rc;
}

/* the current topic, in a form that is quick to compare: its first eight bytes and which of them count */
typedef struct { const u8 *p; size_t n; u64 word, mask; u8 blank; } Now; /* blank: behind it, where it is one */

static Now topic_now(const Name *topic, u8 behind) {
    Now now = {topic->p, topic->n, 0, ~0ULL, behind == '\t' ? '\t' : ' '};
    if (topic->n < 8) now.mask = (1ULL << (8 * topic->n)) - 1;
    for (size_t i = 0; i < 8 && i < topic->n; i++) now.word |= (u64)topic->p[i] << (8 * i);
    return now;
}

/* Takes lines as nearly all are, while they are: of the current topic, single blanks of one kind, a number, a tag
 * (one is known), the first five columns in 64 bytes; not the last of the window, behind whose end are zeros. Returns
 * where they end; any other line may be right all the same. */
static const u8 *usual_lines(Run *r, const u8 *p, const u8 *lim, const Now *now, const Topic *judged, size_t longest,
                             u64 *line) {
    const u32 *slot = judged ? judged->slot : NULL;
    const u64 word = now->word, word_mask = now->mask, mask = judged ? judged->mask : 0;
    const size_t topic_n = now->n;
    const int single = r->rank.single;
    const u8 blank = now->blank;
    Record *x = r->record + r->n, *full = r->record + r->cap;
    if (!topic_n || topic_n > 60 || longest < 64) return p;
    for (; p < lim && x < full && (load8(p) & word_mask) == word; x++) {
        u64 low = low_mask(p), m2 = low & (low - 1), m3 = m2 & (m2 - 1), m4 = m3 & (m3 - 1), m5 = m4 & (m4 - 1);
        u64 m6 = m5 & (m5 - 1);
        if (!m5 || (low & low >> 1)) break;
        u32 b = lowest_bit(m2), c = lowest_bit(m3), d = lowest_bit(m4), e = lowest_bit(m5);
        if ((p[topic_n] ^ blank) | (p[b] ^ blank) | (p[c] ^ blank) | (p[d] ^ blank) | (p[e] ^ blank)) break;
        if (topic_n > 8 && memcmp(p, now->p, topic_n)) break;
        const u8 *end = p + (m6 ? lowest_bit(m6) : 63), *doc = p + b + 1, *after;
        if (!m6) { /* the tag goes on behind the 64 bytes */
            end = skip_column(end);
            if (LINE_TOO_LONG(p, end, longest)) break;
        }
        if (*end != '\n') break;
        if (!plain_decimal(p + d + 1, p + e, &x->score) && parse_number(p + d + 1, &after, &x->score) != NUMBER) break;
        Name name;
        hash_in_text(doc, c - b - 1, &name);
        if (slot) PREFETCH(&slot[name.hash & mask]);
        if (single) x->score = (double)(float)x->score;
        x->doc = doc;
        x->hash = name.hash;
        x->n = name.n;
        x->row = UNJUDGED;
        p = end + 1;
    }
    *line += (u64)(x - r->record) - r->n;
    r->n = (size_t)(x - r->record);
    return p;
}

INLINE int is_topic(const Now *now, const u8 *p, size_t left) {
    if (!now->n || left <= now->n || (load8(p) & now->mask) != now->word || !is_blank(p[now->n])) return 0;
    return now->n <= 8 || !memcmp(p, now->p, now->n);
}

/* One pass; SPLIT_TOPIC when a topic comes back after another: then the run must be read whole. */
static int run_stream(Run *r, const Judgments *j, Source *s, int middle, Err *e) {
    Window w = {0};
    const u8 *p = NULL, *next, *from = NULL; /* from: the first line of the current topic */
    u64 line = 0, from_line = 0;
    int rc = FINE, rank_matters = r->rank.ties == TIES_RANK;
    RunLine l = {0};
    Now now = {0};
    const Topic *judged = NULL; /* the current topic's judgments */
    w.started = middle; /* a part from the middle of a file has no byte order mark to skip */
    for (;;) {
        while (p >= w.lim && !rc) { /* the window is used up: keep the current topic and read on */
            if (s->ended) {
                rc = close_topic(r, j, from, from_line, e);
                mem_free(w.buf);
                return rc;
            }
            const u8 *old = r->n ? from : p;
            size_t keep = old ? (size_t)(old - w.buf) : 0, ahead = old ? (size_t)(p - old) : 0;
            uintptr_t before = (uintptr_t)old;
            rc = window_fill(&w, s, keep, e);
            if (rc) break;
            for (size_t i = 0; i < r->n; i++) r->record[i].doc = w.buf + ((uintptr_t)r->record[i].doc - before);
            from = w.buf;
            p = w.buf + ahead;
        }
        if (rc) break;
        if (!rank_matters && r->tagged && (p = usual_lines(r, p, w.lim, &now, judged, s->longest, &line)) >= w.lim)
            continue;
        const u8 *start = p;
        line++;
        p = skip_blanks(p);
        if (*p == '#') p = memchr(p, '\n', (size_t)(w.lim - p) + 1);
        if (*p == '\n' && !LINE_TOO_LONG(start, p, s->longest)) { p++; continue; }
        int same = is_topic(&now, p, (size_t)(w.lim - p));
        if (same) {
            p = skip_blanks(p + now.n);
            if (run_columns(start, p, &next, s->longest, rank_matters, &l) < 0) rc = WRONG;
        } else if (*p <= ' ' || run_columns(start, skip_blanks(hash_column(p, &l.topic)), &next, s->longest,
                                            rank_matters, &l) < 0)
            rc = WRONG;
        if (rc) { /* an earlier line's duplicate comes first */
            rc = close_topic(r, j, from, from_line, e);
            if (!rc) rc = explain_line(start, line, &RUN_LINE, rank_matters, s->longest, e);
            break;
        }
        if (!same) {
            if ((rc = close_topic(r, j, from, from_line, e))) break;
            from = start;
            from_line = line;
            if (names_find(&r->topics, &l.topic) >= 0) { rc = SPLIT_TOPIC; break; }
            if ((rc = add_topic(r, &l.topic, e))) break;
            now = topic_now(&r->topics.name[r->topics.n - 1], l.topic.p[l.topic.n]);
            i64 at = names_find(&j->topics, &l.topic);
            judged = at < 0 ? NULL : &j->topic[at];
        }
        if ((rc = keep_record(r, &l, e))) break;
        p = next;
    }
    mem_free(w.buf);
    return rc;
}

/* Groups the records by topic (stable): topic t's are group[t] .. group[t + 1]. topic_of then holds for each record
 * its place before. */
static size_t *group_records(Run *r, Err *e) {
    size_t nt = r->topics.n, *group = mem_grow(NULL, nt + 2, sizeof *group), ordered = 1;
    while (ordered < r->n && r->topic_of[ordered] >= r->topic_of[ordered - 1]) ordered++;
    if (group && ordered >= r->n) { /* as in a dictionary: they stand where they belong */
        memset(group, 0, (nt + 2) * sizeof *group);
        for (size_t i = 0; i < r->n; i++) {
            group[r->topic_of[i] + 1]++;
            r->topic_of[i] = (u32)i;
        }
        for (size_t t = 1; t < nt + 2; t++) group[t] += group[t - 1];
        return group;
    }
    Record *record = mem_grow(NULL, r->n, sizeof *record);
    u32 *origin = mem_grow(NULL, r->n, sizeof *origin);
    double *given = ranks_given(r) ? mem_grow(NULL, r->n, sizeof *given) : NULL;
    if (!group || !record || !origin || (ranks_given(r) && !given)) {
        mem_free(group);
        mem_free(record);
        mem_free(origin);
        mem_free(given);
        fail_memory(e);
        return NULL;
    }
    memset(group, 0, (nt + 2) * sizeof *group);
    for (size_t i = 0; i < r->n; i++) group[r->topic_of[i] + 2]++;
    for (size_t t = 2; t < nt + 2; t++) group[t] += group[t - 1];
    for (size_t i = 0; i < r->n; i++) { /* group[t + 1] moves from topic t's start to its end */
        size_t to = group[r->topic_of[i] + 1]++;
        record[to] = r->record[i];
        origin[to] = (u32)i;
        if (given) given[to] = r->given[i];
    }
    mem_free(r->record);
    mem_free(r->topic_of);
    r->record = record;
    r->cap = r->n;
    r->topic_of = origin;
    r->topic_cap = r->n;
    if (given) {
        mem_free(r->given);
        r->given = given;
        r->given_cap = r->n;
    }
    return group;
}

/* Ranks every topic of a whole run. Of several documents that come twice it reports the earliest in the source. */
static int rank_groups(Run *r, const Judgments *j, const size_t *group, const char *where, Err *e) {
    size_t second = SIZE_MAX, first = 0, topic = 0;
    const double *given = ranks_given(r);
    for (size_t t = 0; t < r->topics.n; t++) {
        size_t at = group[t];
        if (!((t + 1) % LOOK_EVERY_TOPICS) && interrupted(&r->state, e)) return e->kind;
        int rc = rank_topic(&r->rank, j, names_find(&j->topics, &r->topics.name[t]), r->record + at,
                            group[t + 1] - at, given ? given + at : NULL, e);
        if (rc < 0) return rc;
        if (rc == 1 && r->topic_of[at + r->rank.second] < second) {
            second = r->topic_of[at + r->rank.second];
            first = at + r->rank.first;
            topic = t;
        }
    }
    if (second == SIZE_MAX) return FINE;
    const Record *one = &r->record[first];
    u64 place = r->topic_of[first];
    if (r->text) { /* places are lines */
        const u8 *end = r->text + r->text_n;
        for (size_t i = group[topic]; i < group[topic + 1]; i++)
            if (r->topic_of[i] == second) end = r->record[i].doc;
        e->line = 1 + count_lines(r->text, end);
        place = 1 + count_lines(r->text, one->doc);
    } else e->row = (i64)second;
    return refuse_twice(&r->topics.name[topic], one->doc, one->n, "appears", where, place, e);
}

/* adds a record of a whole run; the bytes of topic and document stay alive elsewhere */
static int add_record(Run *r, const RunLine *l, Err *e) {
    size_t nt = r->topics.n;
    i64 t = nt && same_name(&r->topics.name[nt - 1], &l->topic) ? (i64)nt - 1 : names_find(&r->topics, &l->topic);
    if (t < 0) {
        t = (i64)nt;
        if (add_topic(r, &l->topic, e)) return e->kind;
    }
    if (r->n >= UINT32_MAX - 1) return refuse(e, "more than %lu documents in one run", (unsigned long)UINT32_MAX - 1);
    if (RESERVE(r->topic_of, r->topic_cap, r->n + 1, e)) return e->kind;
    r->topic_of[r->n] = (u32)t;
    return keep_record(r, l, e);
}

/* Reads all of a source into records (not yet grouped). A wrong line is remembered in *wrong: a duplicate before it
 * comes first, and only ranking finds those. */
static int run_whole(Run *r, Source *s, Err *e, Err *wrong) {
    Window w = {0};
    const u8 *p, *next = NULL;
    RunLine l = {0};
    int rc = FINE, rank_matters = r->rank.ties == TIES_RANK;
    while (!s->ended && rc == FINE) rc = window_fill(&w, s, 0, e);
    r->text = w.buf;
    r->text_n = w.len;
    if (rc) return rc;
    p = w.buf;
    for (u64 line = 1; p < w.lim; line++, p = next) {
        const u8 *q = skip_blanks(p);
        if (!(line % LOOK_EVERY) && (rc = interrupted(&s->state, e))) return rc;
        if (*q == '#') q = memchr(q, '\n', (size_t)(w.lim - q) + 1);
        if (*q == '\n' && !LINE_TOO_LONG(p, q, s->longest)) { next = q + 1; continue; }
        if (*q <= ' ' || run_columns(p, skip_blanks(hash_column(q, &l.topic)), &next, s->longest, rank_matters, &l) < 0) {
            explain_line(p, line, &RUN_LINE, rank_matters, s->longest, wrong);
            return FINE;
        }
        e->line = line;
        if ((rc = add_record(r, &l, e))) return rc;
    }
    return FINE;
}

#endif
