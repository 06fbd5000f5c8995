package simulation

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"
)

// subscription is one channel that Java listens to. When its connection breaks, Redisson subscribes again, but wakes no
// waiter then: what was published meanwhile is lost.
type subscription struct {
	key string

	// What follows is guarded by the world's lock.
	conn   redis.Conn
	at     server // where it leads
	closed bool
	broke  bool // messages may have been lost
}

// javaReconnects is how long Redisson waits before it connects again.
const javaReconnects = time.Second

// subscribe listens to one channel.
func (j *java) subscribe(key, channel string) error {
	c, at, err := j.listen(key, channel)
	if err != nil {
		return err
	}
	sub, messages := &subscription{key: key, conn: c, at: at}, make(chan string, 64)
	j.messages = messages
	j.p.w.Mu.Lock()
	j.sub = sub
	j.p.w.Mu.Unlock()
	go j.hear(c, sub, messages, key, channel)
	return nil
}

// listen makes a connection that is subscribed.
func (j *java) listen(key, channel string) (redis.Conn, server, error) {
	c, at, err := j.dial(key)
	if err != nil {
		time.Sleep(javaReconnects)
		return nil, nil, fmt.Errorf("%w: %v", errException, err)
	}
	s := redis.PubSubConn{Conn: c}
	if err := s.Subscribe(channel); err != nil {
		c.Close()
		return nil, nil, fmt.Errorf("%w: %v", errException, err)
	}
	if confirmed, ok := s.ReceiveWithTimeout(commandTimeout).(redis.Subscription); !ok || confirmed.Channel != channel {
		c.Close()
		return nil, nil, fmt.Errorf("%w: not subscribed", errException)
	}
	return c, at, nil
}

// hear passes messages on until the subscription is closed.
func (j *java) hear(c redis.Conn, sub *subscription, messages chan<- string, key, channel string) {
	for c != nil {
		switch m := (redis.PubSubConn{Conn: c}).ReceiveWithTimeout(0).(type) {
		case redis.Message:
			select {
			case messages <- string(m.Data):
			default:
			}
		case error:
			c.Close()
			c = j.again(sub, key, channel)
		}
	}
}

// again subscribes again. It returns nil if the subscription was closed meanwhile.
func (j *java) again(sub *subscription, key, channel string) redis.Conn {
	mu := &j.p.w.Mu
	mu.Lock()
	sub.broke = true
	for !sub.closed {
		mu.Unlock()
		time.Sleep(javaReconnects)
		c, at, err := j.listen(key, channel)
		mu.Lock()
		switch {
		case err != nil:
		case sub.closed:
			mu.Unlock()
			c.Close()
			return nil
		default:
			sub.conn, sub.at = c, at
			mu.Unlock()
			return c
		}
	}
	mu.Unlock()
	return nil
}

func (j *java) unsubscribe() {
	if j.sub == nil {
		return
	}
	j.p.w.Mu.Lock()
	j.sub.closed = true
	c := j.sub.conn
	j.p.w.Mu.Unlock()
	c.Close()
	j.p.w.Mu.Lock()
	defer j.p.w.Mu.Unlock()
	j.sub = nil
}

// missed reports whether its waiter may sleep on, because a message to it may have been lost: also where it still listens to a former
// master that nobody has made a replica. A cluster's servers hear of all messages. It is called with the world's lock held.
func (j *java) missed() bool {
	if j.sub == nil {
		return false
	}
	m := j.p.site.master(j.sub.key)
	if _, tells := j.p.site.(*cluster); !tells && j.sub.at != m && !j.sub.at.Follows(m) {
		j.sub.broke = true
	}
	return j.sub.broke
}

// wait waits for a message that wakes, at most so long.
func (j *java) wait(d time.Duration, wakes func(payload string) bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case m := <-j.messages:
			if wakes(m) {
				return
			}
		case <-timer.C:
			return
		}
	}
}
