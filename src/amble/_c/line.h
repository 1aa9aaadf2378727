/* Lines: the two layouts, read fast when they are right and explained slowly when they are not. */
#ifndef AMBLE_LINE_H
#define AMBLE_LINE_H

#include "number.h"

#define SHOWN 60 /* bytes of a name or a number that a message quotes */

/* text that quotes a column: 'abc', cut when long */
static void quote(const u8 *p, size_t n, char out[SHOWN + 8]) {
    size_t k = n > SHOWN ? SHOWN : n;
    out[0] = '\'';
    memcpy(out + 1, p, k);
    memcpy(out + 1 + k, n > SHOWN ? "...'" : "'", n > SHOWN ? 5 : 2);
}

typedef struct { const char *columns; int least, most; int number; const char *number_is; } Layout;
static const Layout QRELS_LINE = {"topic iter doc grade", 4, 4, 3, "grade"};
static const Layout RUN_LINE = {"topic Q0 doc rank score tag", 5, 6, 4, "score"};

static int wrong_number(const u8 *p, const char *what, Err *e) {
    char shown[SHOWN + 8];
    const u8 *end;
    double x;
    int is = parse_number(p, &end, &x);
    if (is == NUMBER) return FINE;
    quote(p, (size_t)(skip_column(p) - p), shown);
    snprintf(e->text, sizeof e->text, "%s %s is %s", what, shown,
             is == TOO_LARGE ? "too large for a double" : "not a decimal number");
    return e->kind = WRONG;
}

/* Says what is wrong with the line at p. The order is fixed (control bytes, columns, rank, number), so that the
 * plain twin can say the same. */
static int explain_line(const u8 *p, u64 line, const Layout *l, int rank_matters, Err *e) {
    const u8 *column[8], *q = p;
    int n = 0;
    e->line = line;
    for (; *q != '\n'; q++)
        if (*q < ' ' && !is_blank(*q)) {
            if (*q) snprintf(e->text, sizeof e->text, "control byte 0x%02x in the line, expected text", *q);
            else snprintf(e->text, sizeof e->text, "NUL byte in the line, expected text (is it UTF-16, or compressed?)");
            return e->kind = WRONG;
        }
    for (q = skip_blanks(p); *q != '\n'; q = skip_blanks(skip_column(q))) {
        if (n < 8) column[n] = q;
        n++;
    }
    if (n < l->least || n > l->most) {
        snprintf(e->text, sizeof e->text, "found %d column%s, expected %d: %s", n, n == 1 ? "" : "s", l->most, l->columns);
        return e->kind = WRONG;
    }
    if (rank_matters && wrong_number(column[3], "rank", e)) return e->kind;
    if (wrong_number(column[l->number], l->number_is, e)) return e->kind;
    snprintf(e->text, sizeof e->text, "the line is longer than 2 GiB");
    return e->kind = WRONG;
}

/* the place of a wrong line and what it says, once the columns are known to be right */
#define LINE_TOO_LONG(from, to) ((size_t)((to) - (from)) > INT32_MAX)

#endif
