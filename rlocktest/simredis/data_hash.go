package simredis

import (
	"math"
	"slices"
	"strconv"
)

func init() {
	register(map[string]command{
		"HGET": {2, 2, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aHash)
			if i := e.field(a[1]); err == nil && i >= 0 {
				return e.hash[i].value
			}
			return err
		}, nil},
		"HEXISTS": {2, 2, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aHash)
			if err != nil {
				return err
			}
			return bit(e.field(a[1]) >= 0)
		}, nil},
		"HLEN": {1, 1, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aHash)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			return int64(len(e.hash))
		}, nil},
		"HGETALL": {1, 1, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aHash)
			if err != nil {
				return err
			}
			all := []any{}
			for i := 0; e != nil && i < len(e.hash); i++ {
				all = append(all, e.hash[i].name, e.hash[i].value)
			}
			return all
		}, nil},
		"HKEYS": {1, 1, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aHash)
			if err != nil {
				return err
			}
			all := []any{}
			for i := 0; e != nil && i < len(e.hash); i++ {
				all = append(all, e.hash[i].name)
			}
			return all
		}, nil},
		"HRANDFIELD": {1, 1, 0, func(s *Server, a []string) any { // as good as any: the first
			e, err := s.of(a[0], aHash)
			if err != nil || e == nil {
				return err
			}
			return e.hash[0].name
		}, nil},
		"HSET": {3, 0, writes | grows, func(s *Server, a []string) any {
			if len(a)%2 == 0 {
				return Error("ERR wrong number of arguments for 'hset' command")
			}
			e, err := s.make(a[0], aHash)
			if err != nil {
				return err
			}
			n := int64(0)
			for i := 1; i < len(a); i += 2 {
				if at := e.field(a[i]); at >= 0 {
					e.hash[at].value = a[i+1]
				} else {
					e.hash = append(e.hash, field{a[i], a[i+1]})
					n++
				}
			}
			s.touch(a[0])
			return n
		}, nil},
		"HDEL": {2, 0, writes, func(s *Server, a []string) any {
			e, err := s.of(a[0], aHash)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			n := int64(0)
			for _, name := range a[1:] {
				if i := e.field(name); i >= 0 {
					e.hash = slices.Delete(e.hash, i, i+1)
					n++
				}
			}
			if n > 0 {
				s.wrote(a[0], e)
			}
			return n
		}, nil},
		"HINCRBY": {3, 3, writes | grows, func(s *Server, a []string) any {
			n, ok := integer(a[2])
			if !ok {
				return errInt
			}
			e, err := s.of(a[0], aHash)
			if err != nil {
				return err
			}
			was := int64(0)
			if i := e.field(a[1]); i >= 0 {
				if was, ok = integer(e.hash[i].value); !ok {
					return errHashInt
				}
			}
			if n > 0 && was > math.MaxInt64-n || n < 0 && was < math.MinInt64-n {
				return errOver
			}
			e, _ = s.make(a[0], aHash)
			v := strconv.FormatInt(was+n, 10)
			if i := e.field(a[1]); i >= 0 {
				e.hash[i].value = v
			} else {
				e.hash = append(e.hash, field{a[1], v})
			}
			s.touch(a[0])
			return was + n
		}, nil},
	})
}
