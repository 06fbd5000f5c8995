package stage

import (
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/sets"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// lookEvery is how often the locks are read from the server.
const lookEvery = 15 * time.Millisecond

// watch records, until stop is closed, which owners a single server shows past all network faults.
func (s *Stage) watch(stop <-chan struct{}) {
	var c redis.Conn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for {
		select {
		case <-stop:
			return
		case <-time.After(lookEvery):
		}
		if c == nil {
			c, _ = redis.DialURL(s.server.URL(), redis.DialClientName(sets.Name), redis.DialConnectTimeout(time.Second),
				redis.DialReadTimeout(time.Second), redis.DialWriteTimeout(time.Second))
		}
		if c != nil && s.look(c) != nil {
			c.Close()
			c = nil
		}
	}
}

func (s *Stage) look(c redis.Conn) error {
	asked := machineclock.Now()
	for i := range s.Sizes.Locks {
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
	answered := machineclock.Now()
	for i := range s.Sizes.Locks {
		seen := history.Sighting{Asked: asked, Answered: answered, Lock: i, Owners: map[string]int{}}
		fields, _ := redis.Strings(replies[2*i], nil)
		seen.TTL, _ = redis.Int64(replies[2*i+1], nil)
		for f := 0; f+1 < len(fields); f += 2 {
			n, _ := strconv.Atoi(fields[f+1])
			seen.Owners[s.shown(fields[f])] = max(n, 1)
		}
		s.Book.Saw(seen)
	}
	for i := range s.Sizes.Locks {
		if s.Kind.Order {
			err = errors.Join(err, s.lookAtQueue(c, i))
		}
	}
	return err
}

// watchMasters records, until stop is closed, which owners the masters of a set show.
func (s *Stage) watchMasters(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
		for i := range s.Sizes.Locks {
			seen := history.Sighting{Asked: machineclock.Now(), Lock: i, Set: true}
			seen.Owners, _ = redis.IntMap(s.askAbout(i, "HGETALL", LockName(i)))
			seen.Answered = machineclock.Now()
			s.Book.Saw(seen)
		}
	}
}

// shown returns an owner in the form that the history uses.
func (s *Stage) shown(field string) string {
	if s.Kind.Permits > 0 {
		return hex.EncodeToString([]byte(field))
	}
	return field
}

// lookAtQueue records the wait queue of a fair lock, and how long each place lasts by the server's clock.
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
