package simredis

import "slices"

func init() {
	register(map[string]command{
		"LLEN": {1, 1, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aList)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			return int64(len(e.list))
		}, nil},
		"LINDEX": {2, 2, 0, func(s *Server, a []string) any {
			e, err := s.of(a[0], aList)
			i, ok := integer(a[1])
			if err != nil || e == nil {
				return err
			}
			if !ok {
				return errInt
			}
			if i < 0 {
				i += int64(len(e.list))
			}
			if i < 0 || i >= int64(len(e.list)) {
				return nil
			}
			return e.list[i]
		}, nil},
		"LRANGE": {3, 3, 0, func(s *Server, a []string) any {
			r, ok := span(a[1], a[2])
			if !ok {
				return errInt
			}
			e, err := s.of(a[0], aList)
			if err != nil {
				return err
			}
			if e == nil {
				return []any{}
			}
			from, to := r.of(len(e.list))
			all := []any{}
			for ; from <= to; from++ {
				all = append(all, e.list[from])
			}
			return all
		}, nil},
		"RPUSH": {2, 0, writes | grows, func(s *Server, a []string) any {
			e, err := s.make(a[0], aList)
			if err != nil {
				return err
			}
			e.list = append(e.list, a[1:]...)
			s.touch(a[0])
			return int64(len(e.list))
		}, nil},
		"LPOP": {1, 1, writes, func(s *Server, a []string) any {
			e, err := s.of(a[0], aList)
			if err != nil || e == nil {
				return err
			}
			v := e.list[0]
			e.list = slices.Clone(e.list[1:])
			s.wrote(a[0], e)
			return v
		}, nil},
		"LSET": {3, 3, writes | grows, func(s *Server, a []string) any {
			e, err := s.of(a[0], aList)
			if err != nil {
				return err
			}
			if e == nil {
				return Error("ERR no such key")
			}
			i, ok := integer(a[1])
			if !ok {
				return errInt
			}
			if i < 0 {
				i += int64(len(e.list))
			}
			if i < 0 || i >= int64(len(e.list)) {
				return Error("ERR index out of range")
			}
			e.list[i] = a[2]
			s.touch(a[0])
			return Status("OK")
		}, nil},
		"LREM": {3, 3, writes, func(s *Server, a []string) any {
			n, ok := integer(a[1])
			if !ok {
				return errInt
			}
			e, err := s.of(a[0], aList)
			if err != nil || e == nil {
				return or(err, int64(0))
			}
			most := n
			if n < 0 {
				slices.Reverse(e.list)
				most = -n
			}
			removed := int64(0)
			e.list = slices.DeleteFunc(e.list, func(v string) bool {
				if v != a[2] || most != 0 && removed == most {
					return false
				}
				removed++
				return true
			})
			if n < 0 {
				slices.Reverse(e.list)
			}
			if removed > 0 {
				s.wrote(a[0], e)
			}
			return removed
		}, nil},
	})
}
