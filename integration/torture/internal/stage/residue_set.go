package stage

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// residueOfSet is Residue of several servers.
func (s *Stage) residueOfSet() {
	s.set.settling.Wait()
	lease := s.Watchdog + 2*time.Second
	s.eventually(lease, "locks are left", func() error {
		left, _ := s.leftInSet()
		return left
	})
	if _, java := s.leftInSet(); java != nil {
		s.Logf("note: Redisson keeps what nobody holds: %v", java)
	}
	s.eventually(unsubscribed, "channels are left", s.channelsOfSet)
	if _, java := s.subscribers(); java != nil {
		s.Logf("note: others stay subscribed: %v", java)
	}
	s.eventually(5*time.Second, "connections are left", func() error { return s.connectionsOfSet(goConnectionsOfSet * len(s.gos)) })
	s.closeClients()
	s.eventually(lease, "locks are left after the end", func() error { return errors.Join(s.leftInSet()) })
	s.eventually(5*time.Second, "connections are left after the end", func() error { return s.connectionsOfSet(0) })
}

// leftInSet is left of all masters.
func (s *Stage) leftInSet() (others, java error) {
	for _, n := range s.set.masters() {
		keys, err := redis.Strings(do(n, "KEYS", LockName(0)[:len(LockName(0))-1]+"*"))
		others = errors.Join(others, err)
		for _, key := range keys {
			owners, err := redis.StringMap(do(n, "HGETALL", key))
			others = errors.Join(others, err)
			for owner, count := range owners {
				held := fmt.Errorf("%s at %s is held %s times by %s", key, n.Addr(), count, owner)
				if s.isJavas(owner) {
					java = errors.Join(java, held)
				} else {
					others = errors.Join(others, held)
				}
			}
		}
	}
	return others, java
}

// channelsOfSet are those that a Go client is subscribed to. What Java stays subscribed to at a server that was a master
// once is its own affair.
func (s *Stage) channelsOfSet() error {
	gos, _ := s.subscribers()
	return gos
}

// subscribers are the connections that are subscribed to a lock's channel: those of Go, and all others.
func (s *Stage) subscribers() (gos, others error) {
	for _, n := range s.set.nodes {
		list, err := redis.String(do(n, "CLIENT", "LIST", "TYPE", "PUBSUB"))
		gos = errors.Join(gos, err)
		for line := range strings.Lines(list) {
			here := fmt.Errorf("at %s: %s", n.Addr(), strings.TrimSpace(line))
			switch {
			case strings.Contains(line, " sub=0 psub=0 ssub=0 "), strings.Contains(line, " name=sentinel-"):
			case strings.Contains(line, " name=rlock "):
				gos = errors.Join(gos, here)
			default:
				others = errors.Join(others, here)
			}
		}
	}
	return gos, others
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
