package simredis

import (
	"slices"
	"strings"
)

// tracking is CLIENT TRACKING of one client.
type tracking struct {
	redirect int64 // 0: off
	optIn    bool
	noLoop   bool
	caching  bool // the next command is tracked
	asked    bool // this one is
}

func (c *client) track(a []string) any {
	t := tracking{}
	for i := 1; i < len(a); i++ {
		switch strings.ToUpper(a[i]) {
		case "REDIRECT":
			if i++; i == len(a) {
				return errSyntax
			}
			id, ok := integer(a[i])
			if !ok {
				return Error("ERR Invalid client ID")
			}
			if c.s.client(id) == nil {
				return Error("ERR The client ID you want redirect to does not exist")
			}
			t.redirect = id
		case "OPTIN":
			t.optIn = true
		case "NOLOOP":
			t.noLoop = true
		default:
			return errSyntax
		}
	}
	switch strings.ToUpper(a[0]) {
	case "ON":
	case "OFF":
		t = tracking{}
	default:
		return errSyntax
	}
	c.tracking = t
	return Status("OK")
}

func (c *client) cache(answer string) any {
	switch {
	case c.redirect == 0:
		return Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case !strings.EqualFold(answer, "YES") && !strings.EqualFold(answer, "NO"):
		return errSyntax
	case strings.EqualFold(answer, "NO"):
		return Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	}
	c.caching = true
	return Status("OK")
}

// read records the keys that a command of a tracking client has read.
func (c *client) read(keys []string) {
	if c == nil || c.redirect == 0 || c.optIn && !c.asked {
		return
	}
	if c.s.tracked == nil {
		c.s.tracked = map[string][]*client{}
	}
	for _, k := range keys {
		if list := c.s.tracked[k]; !slices.Contains(list, c) {
			c.s.tracked[k] = append(list, c)
		}
	}
}

// invalidate tells the clients that track a key of its change. By is the client whose command changed it.
func (s *Server) invalidate(key string, by *client) {
	list := s.tracked[key]
	if list == nil {
		return
	}
	delete(s.tracked, key)
	slices.SortFunc(list, func(a, b *client) int { return int(a.id - b.id) })
	for _, c := range list {
		if !c.dropped && !(c == by && c.noLoop) {
			c.inform([]any{key})
		}
	}
}

func (c *client) inform(keys any) {
	if to := c.s.client(c.redirect); to != nil && len(to.channels)+len(to.shards) > 0 {
		to.push([]any{"message", "__redis__:invalidate", keys})
	}
}

// forgetTracked tells all clients that track keys that every key may have changed.
func (s *Server) forgetTracked() {
	if s.tracked == nil {
		return
	}
	s.tracked = nil
	for _, c := range s.peers {
		if c.redirect != 0 {
			c.inform(nilArray{})
		}
	}
}
