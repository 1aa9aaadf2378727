/* Numbers: one grammar, [+-] digits [. digits] [e [+-] digits] in ASCII, rounded correctly to double.
 * Short ones are exact by one multiplication or division of exact doubles (Clinger); those of up to 19 digits and
 * 27 decimals by one 128-bit division (5^27 < 2^63); the rest by the C library in the "C" locale. */
#ifndef AMBLE_NUMBER_H
#define AMBLE_NUMBER_H

#include <locale.h>
#include <math.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#include "bytes.h"

#if defined(_WIN32)
static _locale_t c_locale;
static int number_setup(void) { if (!c_locale) c_locale = _create_locale(LC_ALL, "C"); return c_locale ? 0 : -1; }
#define locale_strtod(p) _strtod_l((const char *)(p), NULL, c_locale)
#else
static locale_t c_locale;
static int number_setup(void) {
    if (!c_locale) c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale ? 0 : -1;
}
#define locale_strtod(p) strtod_l((const char *)(p), NULL, c_locale)
#endif

enum { NUMBER = 0, NOT_A_NUMBER, TOO_LARGE };

static const double POWER10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if defined(__SIZEOF_INT128__) && !defined(AMBLE_PLAIN_C)
/* m / 10^k, 1 <= k <= 27, m >= 1, correctly rounded: 64 bits of quotient, and whether anything is left over */
static double divide_exactly(u64 m, int k) {
    u64 d = 1;
    for (int i = 0; i < k; i++) d *= 5;
    int zm = leading_zeros(m), zd = leading_zeros(d), shift = zd - zm - k;
    u64 M = m << zm, D = d << zd;
    int up = M >= D ? 63 : 64;
    unsigned __int128 n = (unsigned __int128)M << up;
    u64 q = (u64)(n / D), rest = (u64)(n % D);
    u64 kept = q >> 11, cut = q & 0x7ff;
    if (cut > 0x400 || (cut == 0x400 && (rest || (kept & 1)))) kept++;
    return ldexp((double)kept, shift - up + 11);
}
#define HAVE_EXACT_DIVISION 1
#else
#define HAVE_EXACT_DIVISION 0
static double divide_exactly(u64 m, int k) { (void)m; (void)k; return 0; }
#endif

static const u64 TEN[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
INLINE int is_digit(u8 c) { return (u8)(c - '0') < 10; }

/* eight digits, each a byte of 0 to 9, the first the lowest byte */
INLINE u64 eight_digits(u64 w) {
    w = (w * 10 + (w >> 8)) & 0x00ff00ff00ff00ffULL;
    w = (w * 100 + (w >> 16)) & 0x0000ffff0000ffffULL;
    return (w * 10000 + (w >> 32)) & 0xffffffffULL;
}

/* the digits at p, appended to *m, eight at a time (may wrap: then there are more than 19) */
INLINE const u8 *take_digits(const u8 *p, u64 *m) {
    for (;;) {
        u64 w = load8(p) ^ 0x3030303030303030ULL; /* digits are now 0 to 9 */
        u64 other = ((w + 0x7676767676767676ULL) | w) & 0x8080808080808080ULL;
        int k = other ? first_marked(other) : 8;
        if (!k) return p;
        w <<= 8 * (8 - k); /* the first k, with zeros before them */
        *m = *m * (k == 8 ? 100000000 : TEN[k]) + eight_digits(w);
        p += k;
        if (k < 8) return p;
    }
}

/* The number in the column p .. end, if it is a plain decimal: [-] 1 to 7 digits, a point, digits, 16 in all; 0 where it
 * is not, or its digits stand otherwise in words (it may be a number all the same). 16 bytes before end may be read. */
INLINE int plain_decimal(const u8 *p, const u8 *end, double *out) {
    const u64 zeros = 0x3030303030303030ULL, seven = 0x7676767676767676ULL, high = 0x8080808080808080ULL;
    int negative = *p == '-';
    p += negative;
    u64 w = load8(p), point = w ^ 0x2e2e2e2e2e2e2e2eULL, m, other;
    point = (point - 0x0101010101010101ULL) & ~point & high; /* the lowest mark is right */
    if (!point) return 0;
    int whole = first_marked(point);
    i64 digits = end - p - 1 - whole; /* after the point */
    if (!whole || digits < 1) return 0;
    w = (w ^ zeros) << (8 * (8 - whole)); /* the whole part, with zeros before it */
    u64 last = load8(end - 8) ^ zeros;
    if (whole + digits <= 8) { /* one word holds them all */
        w = w >> (8 * digits) | (last >> (8 * (8 - digits)) << (8 * (8 - digits)));
        other = (w + seven) | w;
        m = eight_digits(w);
    } else if (digits >= 8 && whole + digits <= 16) { /* two do */
        if (digits > 8)
            w = w >> (8 * (digits - 8)) | (load8(end - 16) ^ zeros) >> (8 * (16 - digits)) << (8 * (16 - digits));
        other = (w + seven) | w | (last + seven) | last;
        m = eight_digits(w) * 100000000 + eight_digits(last);
    } else return 0;
    if (other & high) return 0;
    if (m > 1ULL << 53) return 0;
    double v = (double)m / POWER10[digits];
    *out = negative ? -v : v;
    return 1;
}

/* the number in the column at p; *end is past the column when it is one */
INLINE int parse_number(const u8 *p, const u8 **end, double *out) {
    const u8 *start = p, *from;
    int negative = *p == '-';
    u64 m = 0;
    if (negative || *p == '+') p++;
    from = p;
    while (is_digit(*p)) m = m * 10 + (u64)(*p++ - '0'); /* mostly one or two */
    i64 digits = p - from, e = 0;
    if (*p == '.') {
        from = ++p;
        p = take_digits(p, &m);
        e = from - p;
        digits -= e;
    }
    if (!digits) return NOT_A_NUMBER;
    if (*p == 'e' || *p == 'E') {
        int down = p[1] == '-';
        p += down || p[1] == '+' ? 2 : 1;
        i64 x = 0;
        if (!is_digit(*p)) return NOT_A_NUMBER;
        for (; is_digit(*p); p++) if (x < 1000000) x = x * 10 + (*p - '0');
        e += down ? -x : x;
    }
    if (*p > ' ') return NOT_A_NUMBER;
    *end = p;
    double v;
    if (digits > 19) v = fabs(locale_strtod(start));
    else if (!m) v = 0;
    else if (!e) v = (double)m;
    else if (m <= (1ULL << 53) && e >= -22 && e <= 22) v = e < 0 ? (double)m / POWER10[-e] : (double)m * POWER10[e];
    else if (HAVE_EXACT_DIVISION && e < 0 && e >= -27) v = divide_exactly(m, (int)-e);
    else v = fabs(locale_strtod(start));
    *out = negative ? -v : v;
    return isinf(v) ? TOO_LARGE : NUMBER;
}

#endif
