package simulation

import (
	"fmt"
	"time"
)

// workInJava is the life of a caller that is Redisson.
func (c *caller) workInJava() {
	c.w.Mu.Lock()
	n := len(c.javas)
	c.w.Mu.Unlock()
	j := c.newJava(n, c.r)
	for n := 0; !c.isOver(); n++ {
		if c.Quiet {
			time.Sleep(between(c.r, 0, 20*time.Second))
		} else {
			time.Sleep(between(c.r, time.Millisecond, 300*time.Millisecond))
		}
		c.who = fmt.Sprintf("%s.%d (Java)", c.name, n)
		switch c.o.Kind {
		case Semaphore:
			c.javaSemaphore(j)
		case Permits:
			c.javaPermits(j)
		case Latch:
			c.javaLatch(j)
		default:
			c.javaLock(j, c.o.Kind == ReadWrite && c.r.IntN(3) > 0)
		}
	}
}

// javaTry is one attempt. It returns nil if it has the lock, else how long to wait.
func (c *caller) javaTry(j *java, owner string, reads bool) (any, error) {
	name, lease := c.o.Name, javaLease.Milliseconds()
	switch c.o.Kind {
	case Fair:
		return j.eval(javaFairLock, []string{name, queueOf(name), placesOf(name)}, lease, owner, javaFairWait, j.now())
	case Fenced:
		return j.eval(javaFencedLock, []string{name, tokenOf(name)}, lease, owner)
	case ReadWrite:
		if reads {
			return j.eval(javaReadLock, []string{name, holdsOf(name, owner)}, lease, owner, owner+":write")
		}
		return j.eval(javaWriteLock, []string{name}, lease, owner+":write")
	}
	return j.eval(javaLock, []string{name}, lease, owner)
}

// javaFairWait is the time in ms that a place lasts.
const javaFairWait = 300_000

func holdsOf(name, owner string) string { return "{" + name + "}:" + owner + ":rwlock_timeout" }

// javaUnlockOnce sends one unlock.
func (c *caller) javaUnlockOnce(j *java, owner string, reads bool) (any, error) {
	name, lease, latch := c.o.Name, javaLease.Milliseconds(), j.newLatch(c.o.Name)
	var reply any
	var err error
	switch {
	case c.o.Kind == Fair:
		reply, err = j.eval(javaFairUnlock, []string{name, queueOf(name), placesOf(name), "redisson_lock__channel:{" + name + "}", latch}, "0", lease, owner, j.now(), 18000)
	case reads:
		reply, err = j.eval(javaReadUnlock, []string{name, "redisson_rwlock:{" + name + "}", holdsOf(name, owner), "{" + name + "}", latch}, "0", owner, 18000)
	case c.o.Kind == ReadWrite:
		reply, err = j.eval(javaWriteUnlock, []string{name, "redisson_rwlock:{" + name + "}", latch}, "1", lease, owner+":write", 18000)
	default:
		reply, err = j.eval(javaUnlock, []string{name, "redisson_lock__channel:{" + name + "}", latch}, "0", lease, owner, 18000)
	}
	if err == nil {
		_, _ = j.do(name, false, "DEL", latch)
	}
	return reply, err
}

// javaLock locks, works, and unlocks.
func (c *caller) javaLock(j *java, reads bool) {
	owner := j.newOwner()
	a := &call{o: c.o, who: owner, what: "Java's lock", host: j.host, reads: reads, waits: c.calm() && c.o.Kind != Spin}
	c.begin(a)
	sent, err := c.javaAcquire(j, a)
	c.end(a, err)
	if err != nil {
		c.w.Mu.Lock()
		c.o.excuse(owner, javaException)
		c.w.Mu.Unlock()
		return
	}
	h := &hold{o: c.o, owner: owner, reads: reads}
	trusted := sent.Add(javaLease - time.Second) // guarded by the world's lock
	h.until = func() time.Time { c.w.Mu.Lock(); defer c.w.Mu.Unlock(); return trusted }
	h.valid = func() bool { return time.Now().Before(h.until()) }
	a.who = c.who
	c.entered(a, h)
	lasts := c.pause()
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		time.Sleep(min(time.Until(end), javaLease/3))
		if !time.Now().Before(end) {
			break
		}
		at := time.Now()
		if c.javaRenewOnce(j, owner, reads) {
			is, _ := j.atMaster(c.o.Name)
			c.w.Mu.Lock()
			why := Clause("")
			switch lapsed := time.Now().After(trusted.Add(time.Second)); {
			case h.void != "":
			case !is:
				why = formerMaster // which has renewed it
			case reads && lapsed: // its timeout has expired, which Redisson's renewal does not bring back, and the next reader's unlock ends it
				why = javaException
			}
			if trusted = at.Add(javaLease - time.Second); why != "" {
				h.void = why
				c.allow(why)
			}
			c.w.Mu.Unlock()
		}
	}
	c.leaves(h)
	valid := h.valid()
	reply, err := c.javaUnlockOnce(j, owner, reads)
	c.judgeJavaUnlock(h, reply, err, valid && h.valid())
}

// javaRenewOnce renews a hold, as the watchdog does.
func (c *caller) javaRenewOnce(j *java, owner string, reads bool) bool {
	field, script, keys := owner, javaRenew, []string{c.o.Name}
	switch {
	case reads:
		script, keys = javaReadRenew, []string{c.o.Name, "{" + c.o.Name + "}"}
	case c.o.Kind == ReadWrite:
		field += ":write"
	}
	reply, err := j.eval(script, keys, javaLease.Milliseconds(), field)
	return err == nil && reply == int64(1)
}

// judgeJavaUnlock judges that nobody took a hold from Java.
func (c *caller) judgeJavaUnlock(h *hold, reply any, err error, trusted bool) {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	o := c.o
	o.holds = without(o.holds, h)
	switch {
	case err != nil:
		o.excuse(h.owner, javaException)
		o.lost = time.Now()
	case (reply == nil || o.Kind == Fair && reply == int64(0)) && trusted && h.void == "" && h.promotion == c.promotions:
		c.breach("taken from Java: the unlock of %s by %s found nothing: %s", o.Name, h.who, c.site.master(o.Name).Dump(o.Name))
	}
	if h.promotion != c.promotions {
		o.excuse(h.owner, javaException)
	}
	c.wantsNothing(o)
}

// javaAcquire is lock(): try, subscribe, try, and wait for a message at most as long as the last
// reply says. It returns when the attempt was sent that got the lock.
func (c *caller) javaAcquire(j *java, a *call) (sent time.Time, err error) {
	owner, reads := a.who, a.reads
	channel := "redisson_lock__channel:{" + c.o.Name + "}"
	switch c.o.Kind {
	case ReadWrite:
		channel = "redisson_rwlock:{" + c.o.Name + "}"
	case Fair:
		channel += ":" + owner
	}
	subscribed := c.o.Kind == Spin
	defer j.unsubscribe()
	for pause := time.Millisecond; ; pause = min(2*pause, 128*time.Millisecond) {
		sent = time.Now()
		reply, err := c.javaTry(j, owner, reads)
		if err != nil {
			_ = c.javaGiveUp(j, owner) // if it can be reached, else its place keeps all others out
			return sent, err
		}
		if reply == nil {
			return sent, nil
		}
		if c.isOver() {
			return sent, c.javaGiveUp(j, owner)
		}
		switch ms, _ := reply.(int64); {
		case !subscribed:
			if err := j.subscribe(c.o.Name, channel); err != nil {
				_ = c.javaGiveUp(j, owner)
				return sent, err
			}
			subscribed = true
		case c.o.Kind == Spin:
			time.Sleep(pause)
		default:
			told := max(time.Duration(ms)*time.Millisecond, 50*time.Millisecond)
			c.w.Mu.Lock()
			a.sleeps = time.Now().Add(told)
			c.w.Mu.Unlock()
			j.wait(told, isLockMessage)
		}
	}
}

// javaGiveUp leaves the queue of a fair lock.
func (c *caller) javaGiveUp(j *java, owner string) error {
	if c.o.Kind == Fair {
		_, _ = j.eval(javaFairLeave, []string{queueOf(c.o.Name), placesOf(c.o.Name)}, owner, javaFairWait)
	}
	return fmt.Errorf("%w: it gave up", errException)
}
