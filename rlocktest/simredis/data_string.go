package simredis

import (
	"math"
	"strconv"
	"strings"
)

func init() {
	incr := func(by func(a []string) (int64, bool)) func(s *Server, a []string) any {
		return func(s *Server, a []string) any {
			n, ok := by(a)
			if !ok {
				return errInt
			}
			e, err := s.of(a[0], aString)
			if err != nil {
				return err
			}
			was := int64(0)
			if e != nil {
				if was, ok = integer(e.str); !ok {
					return errInt
				}
			}
			if n > 0 && was > math.MaxInt64-n || n < 0 && was < math.MinInt64-n {
				return errOver
			}
			if e == nil {
				e = &entry{kind: aString}
				s.db[a[0]] = e
			}
			e.str = strconv.FormatInt(was+n, 10)
			s.touch(a[0])
			return was + n
		}
	}
	second := func(sign int64) func(a []string) (int64, bool) {
		return func(a []string) (int64, bool) { n, ok := integer(a[1]); return sign * n, ok }
	}
	decrby := incr(second(-1))
	one := func(n int64) func([]string) (int64, bool) { return func([]string) (int64, bool) { return n, true } }
	register(map[string]command{
		"GET": {1, 1, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aString)
			if err != nil || e == nil {
				return err
			}
			return e.str
		}, nil},
		"SET": {2, 0, writes | grows, func(s *Server, a []string) any {
			var till int64
			nx := false
			for i := 2; i < len(a); i++ {
				switch strings.ToUpper(a[i]) {
				case "NX":
					nx = true
				case "PX":
					if i++; i == len(a) {
						return errSyntax
					}
					ms, ok := integer(a[i])
					if !ok {
						return errInt
					}
					if ms <= 0 {
						return Error("ERR invalid expire time in 'set' command")
					}
					till = s.now() + ms
				default:
					return errSyntax
				}
			}
			if nx && s.find(a[0]) != nil {
				return nil
			}
			s.db[a[0]] = &entry{kind: aString, str: a[1], till: till}
			s.touch(a[0])
			s.expires(a[0], till)
			return Status("OK")
		}, nil},
		"INCR":   {1, 1, writes | grows, incr(one(1)), nil},
		"DECR":   {1, 1, writes | grows, incr(one(-1)), nil},
		"INCRBY": {2, 2, writes | grows, incr(second(1)), nil},
		"DECRBY": {2, 2, writes | grows, func(s *Server, a []string) any {
			if n, ok := integer(a[1]); ok && n == math.MinInt64 && s.Version >= "7" {
				return Error("ERR decrement would overflow")
			}
			return decrby(s, a)
		}, nil},
	})
}
