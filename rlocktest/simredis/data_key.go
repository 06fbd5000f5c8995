package simredis

import (
	"math"
	"strconv"
)

func init() {
	register(map[string]command{
		"DEL": {1, 0, writes | manyKeys, func(s *Server, a []string) any {
			n := int64(0)
			for _, k := range a {
				if s.find(k) != nil {
					n++
					s.remove(k, "deleted")
				}
			}
			return n
		}, nil},
		"EXISTS": {1, 0, manyKeys, func(s *Server, a []string) any {
			n := int64(0)
			for _, k := range a {
				n += bit(s.find(k) != nil)
			}
			return n
		}, nil},
		"TYPE": {1, 1, 0, func(s *Server, a []string) any {
			if e := s.find(a[0]); e != nil {
				return Status(e.kind.String())
			}
			return Status("none")
		}, nil},
		"PTTL": {1, 1, 0, func(s *Server, a []string) any {
			switch e := s.find(a[0]); {
			case e == nil:
				return int64(-2)
			case e.till == 0:
				return int64(-1)
			default:
				return e.till - s.now()
			}
		}, nil},
		"PEXPIRE":   {2, 3, writes, func(s *Server, a []string) any { return s.expireAt(a, "pexpire", 1, true) }, nil},
		"EXPIRE":    {2, 3, writes, func(s *Server, a []string) any { return s.expireAt(a, "expire", 1000, true) }, nil},
		"PEXPIREAT": {2, 3, writes, func(s *Server, a []string) any { return s.expireAt(a, "pexpireat", 1, false) }, nil},
		"TTL": {1, 1, 0, func(s *Server, a []string) any {
			ms := commands["PTTL"].run(s, a).(int64)
			if ms < 0 {
				return ms
			}
			return (ms + 500) / 1000
		}, nil},
		"PERSIST": {1, 1, writes, func(s *Server, a []string) any {
			e := s.find(a[0])
			if e == nil || e.till == 0 {
				return int64(0)
			}
			e.till = 0
			s.touch(a[0])
			return int64(1)
		}, nil},
		"TIME": {0, 0, noKeys | loads, func(s *Server, _ []string) any {
			us := s.clock().UnixMicro()
			return []any{strconv.FormatInt(us/1e6, 10), strconv.FormatInt(us%1e6, 10)}
		}, nil},
	})
}

// expireAt sets the end of a key's life.
func (s *Server) expireAt(a []string, name string, unit int64, relative bool) any {
	n, ok := integer(a[1])
	if !ok {
		return errInt
	}
	now, base := s.now(), int64(0)
	if relative {
		base = now
	}
	invalid := Error("ERR invalid expire time in '" + name + "' command")
	if n > math.MaxInt64/unit || n < math.MinInt64/unit || n*unit > math.MaxInt64-base {
		return invalid
	}
	if len(a) > 2 {
		return Error("ERR Unsupported option " + a[2])
	}
	e := s.find(a[0])
	if e == nil {
		return int64(0)
	}
	if till := base + n*unit; till > now {
		e.till = till
		s.touch(a[0])
		s.expires(a[0], till)
	} else {
		s.remove(a[0], "expired by "+name)
	}
	return int64(1)
}
