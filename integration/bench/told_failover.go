package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/internal/program"
	"github.com/rlock-go/redisson/internal/redistest"
)

// lostFailover is the failover to a master that lacks the keys.
const lostFailover = "failover that lost the key"

// toldOfFailover measures from the moment that a replica is the master until the holder is told. Both replicas lose the
// keys just before the master is killed, and are then like replicas that never got them. What passes between the kill and the
// takeover is no part of the time; that until a Sentinel names the new master is.
func (r *run) toldOfFailover(peer string) (err error) {
	t := &program.Program{Title: "rlock-bench-", Quiet: true}
	status := 0
	defer func() {
		if status != 0 {
			err = errors.Join(err, fmt.Errorf("the set with Sentinels: %q", t.Errors()))
		}
	}()
	defer t.End(&status)
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c, err := findPeer(peer).open(set.URL())
	if err != nil {
		return err
	}
	defer c.close()
	all, err := holdTold(c)
	if err != nil || all == nil {
		return err
	}
	time.Sleep(toldAge)
	for _, n := range set.Nodes[1:] {
		conn := n.Dial(t)
		if keys, err := redis.Int(conn.Do("DBSIZE")); err != nil || keys < toldHolds {
			return fmt.Errorf("a replica has %d keys: %v", keys, err)
		}
		if _, err := conn.Do("CONFIG", "SET", "replica-read-only", "no"); err != nil {
			return err
		}
		if _, err := conn.Do("FLUSHALL"); err != nil {
			return err
		}
	}
	var told notices
	killed := time.Now()
	for _, t := range all {
		told.wait(t, killed)
	}
	set.Nodes[0].Kill()
	keys := 0
	taken, err := first(set.Nodes[1:], func(conn redis.Conn) bool {
		role, err := redis.Values(conn.Do("ROLE"))
		if err != nil || !bytes.Equal(role[0].([]byte), []byte("master")) {
			return false
		}
		keys, err = redis.Int(conn.Do("DBSIZE"))
		return err == nil
	})
	if err == nil && keys > 0 {
		err = fmt.Errorf("the new master has %d keys", keys)
	}
	if err != nil {
		return err
	}
	_, before, _ := net.SplitHostPort(set.Nodes[0].Addr())
	named, err := first(set.Sentinels, func(conn redis.Conn) bool {
		at, err := redis.Strings(conn.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", redistest.MasterName))
		return err == nil && len(at) == 2 && at[1] != before
	})
	if err != nil {
		return err
	}
	told.all.Wait()
	for i := range told.took {
		told.took[i] -= float64(taken.Sub(killed).Microseconds())
	}
	r.add(toldPart, peer, lostFailover, "takeover after the kill, µs", float64(taken.Sub(killed).Microseconds()))
	r.add(toldPart, peer, lostFailover, "named by a Sentinel after, µs", float64(named.Sub(taken).Microseconds()))
	r.addTold(peer, lostFailover, told.took)
	return nil
}

// first waits until a server is what is asked for, and tells when that was. It dials anew for each look: what becomes the
// master ends its connections.
func first(servers []*redistest.Server, is func(redis.Conn) bool) (time.Time, error) {
	for deadline := time.Now().Add(toldLimit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, s := range servers {
			conn, err := redis.Dial("tcp", s.Addr())
			if err != nil {
				continue
			}
			found, at := is(conn), time.Now()
			conn.Close()
			if found {
				return at, nil
			}
		}
	}
	return time.Time{}, errors.New("no failover")
}
