/* Lines: the two layouts, read fast when they are right and explained slowly when they are not. */
#ifndef AMBLE_LINE_H
#define AMBLE_LINE_H

#include "number.h"

#define SHOWN 60 /* bytes of a name or a number that a message quotes */

/* text that quotes a name: 'abc', cut when long, what is below a blank (in a table's names) escaped */
#define QUOTED (4 * SHOWN + 8)
static void quote(const u8 *p, size_t n, char out[QUOTED]) {
    size_t k = n > SHOWN ? SHOWN : n;
    *out++ = '\'';
    for (size_t i = 0; i < k; i++)
        if (p[i] < ' ') out += snprintf(out, 5, "\\x%02x", p[i]);
        else *out++ = (char)p[i];
    memcpy(out, n > SHOWN ? "...'" : "'", n > SHOWN ? 5 : 2);
}

/* more: whether text may follow the last column (trec_eval keeps it for the future); then the rank must be a number, so
 * that a blank inside a document id is not taken for such text */
typedef struct { const char *columns; int least, most; int number; const char *number_is; int more; } Layout;
static const Layout QRELS_LINE = {"topic iter doc grade", 4, 4, 3, "grade", 0};
static const Layout SUBTOPICS_LINE = {"topic subtopic doc grade", 4, 4, 3, "grade", 0};
static const Layout RUN_LINE = {"topic Q0 doc rank score tag", 5, 6, 4, "score", 1};

#define LINE_TOO_LONG(from, to, longest) ((size_t)((to) - (from)) > (longest))

/* a document that comes twice: what it `is` then ("is judged"), and where it came first */
static int refuse_twice(const Name *topic, const u8 *doc, size_t n, const char *is, const char *where, u64 first, Err *e) {
    char t[QUOTED], d[QUOTED];
    quote(topic->p, topic->n, t);
    quote(doc, n, d);
    return refuse(e, "document %s %s twice for topic %s (first %s %llu)", d, is, t, where, (unsigned long long)first);
}

/* a document judged twice: for one subtopic or, in judgments that are read without them, under which others */
static int refuse_judged_twice(const Name *topic, const Name *doc, const Name *before, const Name *now, const char *where,
                               u64 first, Err *e) {
    char t[QUOTED], d[QUOTED], n[QUOTED];
    if (before && same_name(before, now)) return refuse_twice(topic, doc->p, doc->n, "is judged", where, first, e);
    quote(topic->p, topic->n, t);
    quote(doc->p, doc->n, d);
    quote(now->p, now->n, n);
    return refuse(e, before ? "document %s is judged twice for topic %s (first %s %llu), here under %s: judgments of "
                              "subtopics? read them with subtopics=True (--subtopics)"
                            : "document %s is judged twice for topic %s (first %s %llu), subtopic %s",
                  d, t, where, (unsigned long long)first, n);
}

static int wrong_number(const u8 *p, const char *what, Err *e) {
    char shown[QUOTED];
    const u8 *end;
    double x;
    int is = parse_number(p, &end, &x);
    if (is == NUMBER) return FINE;
    quote(p, (size_t)(skip_column(p) - p), shown);
    return refuse(e, "%s %s is %s", what, shown, is == TOO_LARGE ? "too large for a double" : "not a decimal number");
}

/* Says what is wrong with the line at p. The order is fixed (length, control bytes, columns, rank, number), so
 * that the plain twin can say the same. */
static int explain_line(const u8 *p, u64 line, const Layout *l, int rank_matters, size_t longest, Err *e) {
    const u8 *column[8], *q = p, *last = p;
    int n = 0;
    double rank;
    e->line = line;
    while (*q != '\n') q++;
    if (LINE_TOO_LONG(p, q, longest))
        return refuse(e, "the line is longer than %llu bytes, the most that max_line allows", (unsigned long long)longest);
    for (q = p; *q != '\n'; q++)
        if (*q < ' ' && !is_blank(*q)) {
            if (*q) return refuse(e, "control byte 0x%02x in the line, expected text", *q);
            return refuse(e, "NUL byte in the line, expected text (is it UTF-16, or compressed?)");
        }
    for (q = skip_blanks(p); *q != '\n'; q = skip_blanks(skip_column(q))) {
        if (n < 8) column[n] = q;
        last = q;
        n++;
    }
    if (n < l->least || (n > l->most && (!l->more || parse_number(column[3], &q, &rank) != NUMBER)))
        return refuse(e, "found %d column%s, expected %d: %s", n, n == 1 ? "" : "s", l->most, l->columns);
    if (n > l->most && memchr(column[0], '\r', (size_t)(last - column[0])))
        return refuse(e, "carriage return inside the line, expected lines that end in LF or CRLF");
    if (rank_matters && wrong_number(column[3], "rank", e)) return e->kind;
    if (wrong_number(column[l->number], l->number_is, e)) return e->kind;
    return refuse(e, "cannot be read, expected %s", l->columns); /* no line comes here */
}

#endif
