package stage

import (
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// lookEvery is how often the locks are looked at on the server.
const lookEvery = 50 * time.Millisecond

// watch notes which owners the server shows, until stop is closed.
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
	for i := range s.Locks {
		c.Send("HGETALL", LockName(i))
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
			s.Book.Saw(history.Sighting{At: at, Lock: i, Owner: fields[f], Count: fields[f+1], TTL: ttl})
		}
	}
	return nil
}
