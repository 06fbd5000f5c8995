package simredis

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	errType    = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	errInt     = Error("ERR value is not an integer or out of range")
	errHashInt = Error("ERR hash value is not an integer")
	errFloat   = Error("ERR value is not a valid float")
	errSyntax  = Error("ERR syntax error")
	errOver    = Error("ERR increment or decrement would overflow")
)

// number is a number as Lua writes it.
func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f == math.Trunc(f) && math.Abs(f) < 1e17:
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

// score is a number as the server writes it, in replies and in the arguments of a script: since
// 7.2 by the shortest digits that mean it.
func (s *Server) score(f float64) string {
	if s.Version < "7.2" || math.IsInf(f, 0) || math.IsNaN(f) || f == math.Trunc(f) && math.Abs(f) < 1<<52 {
		return number(f)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'e', -1, 64), "e")
	digits = strings.Replace(digits, ".", "", 1)
	first, _ := strconv.Atoi(exponent) // of the first digit
	last := first - len(digits) + 1
	sign := ""
	if f < 0 {
		sign = "-"
	}
	switch size := max(first, -first); {
	case last >= 0 && size < len(digits)+7:
		return sign + digits + strings.Repeat("0", last)
	case last < 0 && (last > -7 || size < 4):
		if point := len(digits) + last; point > 0 {
			return sign + digits[:point] + "." + digits[point:]
		} else {
			return sign + "0." + strings.Repeat("0", -point) + digits
		}
	case len(digits) > 1:
		digits = digits[:1] + "." + digits[1:]
	}
	return fmt.Sprintf("%s%se%+d", sign, digits, first)
}

func float(s string) (float64, bool) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) {
		return f, true
	}
	return 0, false
}

func integer(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func or(err any, v any) any {
	if err != nil {
		return err
	}
	return v
}

// ends are those of a range; below 0 they count from its end.
type ends struct{ from, to int64 }

func span(a, b string) (r ends, ok bool) {
	from, ok1 := integer(a)
	to, ok2 := integer(b)
	return ends{from, to}, ok1 && ok2
}

// of returns the range in a list of n.
func (r ends) of(n int) (from, to int64) {
	if from = r.from; from < 0 {
		from = max(0, from+int64(n))
	}
	if to = r.to; to < 0 {
		to += int64(n)
	}
	return from, min(to, int64(n)-1)
}
