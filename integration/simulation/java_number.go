package simulation

import (
	"time"

	"github.com/gomodule/redigo/redis"
)

// javaNumber waits for a number of permits: try, subscribe, try, and wait for a message.
func (c *caller) javaNumber(j *java, try func() (got bool, next time.Duration, err error)) error {
	subscribed := false
	defer j.unsubscribe()
	for limit := time.Now().Add(20 * time.Second); ; {
		got, next, err := try()
		switch {
		case got || err != nil:
			return err
		case c.isOver() || !time.Now().Before(limit):
			return errException
		case !subscribed:
			if err := j.subscribe(c.o.Name, "redisson_sc:{"+c.o.Name+"}"); err != nil {
				return err
			}
			subscribed = true
		default:
			j.wait(max(5*time.Millisecond, min(next, time.Until(limit))), isNumberMessage)
		}
	}
}

// javaSemaphore takes a permit of a semaphore and gives it back.
func (c *caller) javaSemaphore(j *java) {
	a := &call{o: c.o, who: c.who, what: "Java's acquire", host: j.host, wants: 1}
	c.begin(a)
	err := c.javaNumber(j, func() (bool, time.Duration, error) {
		reply, err := redis.Int64(j.eval(javaSemaphoreAcquire, []string{c.o.Name}, 1))
		if err != nil {
			c.w.Mu.Lock()
			c.o.count.may(-1)
			c.w.Mu.Unlock()
		}
		return reply == 1, time.Hour, err
	})
	c.end(a, err)
	if err != nil {
		return
	}
	c.w.Mu.Lock()
	c.o.count.add(-1)
	c.w.Mu.Unlock()
	time.Sleep(c.pause())
	_, err = j.eval(javaSemaphoreRelease, []string{c.o.Name, "redisson_sc:{" + c.o.Name + "}"}, 1)
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	if err != nil {
		c.o.count.may(1)
	} else {
		c.o.count.add(1)
	}
}

// javaPermits takes a permit with a lease and releases it by its id.
func (c *caller) javaPermits(j *java) {
	id := make([]byte, 16)
	for i := range id {
		id[i] = byte(c.r.Uint64())
	}
	name, channel := c.o.Name, "redisson_sc:{"+c.o.Name+"}"
	a := &call{o: c.o, who: c.who, what: "Java's acquire of permits", host: j.host, wants: 1}
	c.begin(a)
	err := c.javaNumber(j, func() (bool, time.Duration, error) {
		reply, err := redis.String(j.eval(javaPermitsAcquire, []string{name, timesOf(name), channel}, 1, j.now()+20_000, j.now(), string(id)))
		if err == redis.ErrNil {
			return false, time.Hour, nil
		}
		if err == nil && reply != "OK" {
			return false, time.Until(time.UnixMilli(number(reply[1:]))), nil
		}
		return err == nil, 0, err
	})
	c.end(a, err)
	if err != nil {
		return
	}
	time.Sleep(min(c.pause(), 19*time.Second))
	_, _ = j.eval(javaPermitsRelease, []string{name, channel, timesOf(name)}, string(id), j.now())
}

// javaLatch counts down, or waits until the latch is open.
func (c *caller) javaLatch(j *java) {
	name, channel := c.o.Name, "redisson_countdownlatch__channel__{"+c.o.Name+"}"
	if c.r.IntN(2) == 0 {
		c.w.Mu.Lock()
		c.o.downs++
		c.w.Mu.Unlock()
		_, _ = j.do(name, false, "EVAL", javaCountDown, 2, name, channel)
		return
	}
	a := &call{o: c.o, who: c.who, what: "Java's await", host: j.host, waits: c.calm()}
	c.begin(a)
	err := func() error {
		defer j.unsubscribe()
		subscribed := false
		for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit) && !c.isOver(); {
			n, err := redis.Int64(j.do(name, false, "GET", name))
			if err == redis.ErrNil || err == nil && n == 0 {
				return nil
			}
			if err != nil {
				return err
			}
			if !subscribed {
				if err := j.subscribe(name, channel); err != nil {
					return err
				}
				subscribed = true
				continue
			}
			j.wait(time.Until(limit), isLatchMessage)
		}
		return errException
	}()
	c.end(a, err)
}
