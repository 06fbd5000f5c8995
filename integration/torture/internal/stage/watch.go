package stage

import (
	"encoding/hex"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// The locks are looked at on the server so often, and where there are queues so often.
const (
	lookEvery  = 50 * time.Millisecond
	queueEvery = 20 * time.Millisecond
)

// watch notes which owners the server shows, until stop is closed.
func (s *Stage) watch(stop <-chan struct{}) {
	var c redis.Conn
	every := lookEvery
	if s.Kind.Order {
		every = queueEvery
	}
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for {
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		if c == nil {
			c, _ = redis.DialURL(s.server.URL(), redis.DialClientName(stageName), redis.DialConnectTimeout(time.Second),
				redis.DialReadTimeout(time.Second), redis.DialWriteTimeout(time.Second))
		}
		if c != nil && s.look(c) != nil {
			c.Close()
			c = nil
		}
	}
}

func (s *Stage) look(c redis.Conn) error {
	if s.Kind.Rounds() > 0 {
		return nil // it has no owners
	}
	for i := range s.Locks {
		if s.Kind.Permits > 0 {
			c.Send("ZRANGE", codec.PermitTimes(LockName(i)), 0, -1, "WITHSCORES")
		} else {
			c.Send("HGETALL", LockName(i))
		}
		c.Send("PTTL", LockName(i))
	}
	replies, err := redis.Values(c.Do(""))
	if err != nil {
		return err
	}
	at := machineclock.Now()
	for i := range s.Locks {
		fields, _ := redis.Strings(replies[2*i], nil)
		ttl, _ := redis.Int64(replies[2*i+1], nil)
		for f := 0; f+1 < len(fields); f += 2 {
			s.Book.Saw(history.Sighting{At: at, Lock: i, Owner: s.shown(fields[f]), Count: fields[f+1], TTL: ttl})
		}
	}
	for i := range s.Locks {
		if s.Kind.Order {
			err = errors.Join(err, s.lookAtQueue(c, i))
		}
	}
	return err
}

// shown is an owner as the history has it.
func (s *Stage) shown(field string) string {
	if s.Kind.Permits > 0 {
		return hex.EncodeToString([]byte(field))
	}
	return field
}

// lookAtQueue notes who waits for a fair lock, and for how long each keeps its place by the server's clock.
func (s *Stage) lookAtQueue(c redis.Conn, lock int) error {
	q := history.Queue{Lock: lock, Asked: machineclock.Now()}
	c.Send("MULTI")
	c.Send("TIME")
	c.Send("LRANGE", codec.FairQueue(LockName(lock)), 0, -1)
	c.Send("ZRANGE", codec.FairTimes(LockName(lock)), 0, -1, "WITHSCORES")
	replies, err := redis.Values(c.Do("EXEC"))
	if err != nil {
		return err
	}
	q.Answered = machineclock.Now()
	now, err := redis.Int64s(replies[0], err)
	waiting, err := redis.Strings(replies[1], err)
	times, err := redis.Float64Map(replies[2], err)
	if err != nil {
		return err
	}
	for _, owner := range waiting {
		left := time.Duration(times[owner]-float64(now[0]*1000+now[1]/1000)) * time.Millisecond
		q.Places = append(q.Places, history.Place{Owner: owner, Until: q.Asked + left.Nanoseconds()})
	}
	s.Book.SawQueue(q)
	return nil
}
