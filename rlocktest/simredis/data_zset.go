package simredis

import (
	"slices"
	"strings"
)

func init() {
	register(map[string]command{
		"ZADD": {3, 0, writes | grows, func(s *Server, a []string) any {
			if len(a)%2 == 0 {
				return errSyntax
			}
			var scores []float64
			for i := 1; i < len(a); i += 2 {
				f, ok := float(a[i])
				if !ok {
					return errFloat
				}
				scores = append(scores, f)
			}
			e, err := s.make(a[0], aZset)
			if err != nil {
				return err
			}
			n, changes := int64(0), false
			for i, f := range scores {
				added, changed := e.set(a[2+2*i], f)
				n += bit(added)
				changes = changes || changed
			}
			if changes {
				s.touch(a[0])
			}
			return n
		}, nil},
		"ZREM": {2, 0, writes, func(s *Server, a []string) any {
			e, err := s.of(a[0], aZset)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			n := int64(0)
			for _, name := range a[1:] {
				if i := e.member(name); i >= 0 {
					e.zset = slices.Delete(e.zset, i, i+1)
					n++
				}
			}
			if n > 0 {
				s.wrote(a[0], e)
			}
			return n
		}, nil},
		"ZSCORE": {2, 2, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aZset)
			if i := e.member(a[1]); err == nil && i >= 0 {
				return s.score(e.zset[i].score)
			}
			return err
		}, nil},
		"ZCARD": {1, 1, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aZset)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			return int64(len(e.zset))
		}, nil},
		"ZCOUNT": {3, 3, 0, func(s *Server, a []string) any {
			within, ok := scores(a[1], a[2])
			if !ok {
				return Error("ERR min or max is not a float")
			}
			e, err := s.of(a[0], aZset)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			n := int64(0)
			for _, m := range e.zset {
				n += bit(within(m.score))
			}
			return n
		}, nil},
		"ZINCRBY": {3, 3, writes | grows, func(s *Server, a []string) any {
			by, ok := float(a[1])
			if !ok {
				return errFloat
			}
			e, err := s.make(a[0], aZset)
			if err != nil {
				return err
			}
			if i := e.member(a[2]); i >= 0 {
				by += e.zset[i].score
			}
			if _, changed := e.set(a[2], by); changed {
				s.touch(a[0])
			}
			return s.score(by)
		}, nil},
		"ZRANGE": {3, 4, 0, func(s *Server, a []string) any {
			r, ok := span(a[1], a[2])
			if !ok {
				return errInt
			}
			e, err := s.of(a[0], aZset)
			if err != nil {
				return err
			}
			if e == nil {
				return []any{}
			}
			from, to := r.of(len(e.zset))
			all := []any{}
			for ; from <= to; from++ {
				all = append(all, e.zset[from].name)
				if len(a) > 3 {
					all = append(all, s.score(e.zset[from].score))
				}
			}
			return all
		}, nil},
		"ZRANGEBYSCORE": {3, 7, 0, func(s *Server, a []string) any {
			within, ok := scores(a[1], a[2])
			if !ok {
				return Error("ERR min or max is not a float")
			}
			from, most, also := int64(0), int64(-1), false
			for i := 3; i < len(a); i++ {
				switch {
				case strings.EqualFold(a[i], "WITHSCORES"):
					also = true
				case strings.EqualFold(a[i], "LIMIT") && i+2 < len(a):
					var ok1, ok2 bool
					from, ok1 = integer(a[i+1])
					if most, ok2 = integer(a[i+2]); !ok1 || !ok2 {
						return errInt
					}
					i += 2
				default:
					return errSyntax
				}
			}
			e, err := s.of(a[0], aZset)
			if err != nil {
				return err
			}
			all := []any{}
			for i := 0; e != nil && from >= 0 && i < len(e.zset) && most != 0; i++ {
				m := e.zset[i]
				if !within(m.score) {
					continue
				}
				if from > 0 {
					from--
					continue
				}
				most--
				if all = append(all, m.name); also {
					all = append(all, s.score(m.score))
				}
			}
			return all
		}, nil},
	})
}

// scores reads the ends of a range, which an opening bracket leaves out.
func scores(lo, hi string) (within func(float64) bool, ok bool) {
	least, without := strings.CutPrefix(lo, "(")
	most, below := strings.CutPrefix(hi, "(")
	from, ok1 := float(least)
	to, ok2 := float(most)
	return func(f float64) bool {
		return (f > from || f == from && !without) && (f < to || f == to && !below)
	}, ok1 && ok2
}
