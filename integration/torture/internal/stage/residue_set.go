package stage

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/torture/internal/worker"
)

// residueOfSet is Residue of several servers.
func (s *Stage) residueOfSet() {
	s.set.settling.Wait()
	s.ended()
	lease := worker.Long*s.Watchdog + 2*time.Second
	s.eventually(lease, "locks are left", func() error {
		left, _ := s.leftInSet()
		return left
	})
	if _, java := s.leftInSet(); java != nil {
		s.Logf("note: Redisson keeps what nobody holds: %v", java)
	}
	s.eventually(unsubscribed, "channels are left", func() error {
		left, _ := s.channelsOfSet()
		return left
	})
	if _, java := s.channelsOfSet(); java != nil {
		s.Logf(staysSubscribed, java)
	}
	s.eventually(5*time.Second, "connections are left", func() error { return s.connectionsOfSet(goConnections * len(s.gos)) })
	s.closeClients()
	s.eventually(lease, "locks are left after the end", func() error { return errors.Join(s.leftInSet()) })
	s.eventually(unsubscribed, "channels are left after the end", func() error { return errors.Join(s.channelsOfSet()) })
	s.eventually(5*time.Second, "connections are left after the end", func() error { return s.connectionsOfSet(0) })
}

// leftInSet is left of all masters.
func (s *Stage) leftInSet() (others, java error) {
	if s.Kind.Rounds() > 0 {
		return nil, nil // see ended
	}
	if s.Kind.Permits > 0 {
		return s.permitsLeft(), nil
	}
	for _, n := range s.set.masters() {
		keys, err := redis.Strings(do(n, "KEYS", LockName(0)[:len(LockName(0))-1]+"*"))
		others = errors.Join(others, err)
		for _, key := range keys {
			owners, err := redis.StringMap(do(n, "HGETALL", key))
			others = errors.Join(others, err)
			o, j := s.holders(key+" at "+n.Addr(), owners)
			others, java = errors.Join(others, o), errors.Join(java, j)
		}
	}
	return others, java
}

// connectionsOfSet compares the Go clients' connections to each server with what may be.
func (s *Stage) connectionsOfSet(most int) (err error) {
	for _, n := range s.set.nodes {
		list, e := redis.String(do(n, "CLIENT", "LIST"))
		err = errors.Join(err, e)
		if found := strings.Count(list, " name=rlock "); found > most {
			err = errors.Join(err, fmt.Errorf("%s has %d: %s", n.Addr(), found, list))
		}
	}
	return err
}
