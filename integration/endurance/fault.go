package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

// The ways in which a command fails.
const (
	lostBefore = "lost before it arrives"
	lostAfter  = "lost after it ran, connection cut"
	lostSilent = "lost after it ran, in silence"
	lateBytes  = "withheld and delivered late"
	lateReply  = "reply late"
	swallowed  = "swallowed"
	refused    = "refused"
)

var actions = map[string]faultproxy.Action{
	lostBefore: faultproxy.CutBefore, lostAfter: faultproxy.CutAfter, lostSilent: faultproxy.DropReply,
	lateBytes: faultproxy.Withhold, lateReply: faultproxy.HoldReply, swallowed: faultproxy.Blackhole, refused: faultproxy.Answer,
}

// What a server says when it refuses, in its own words. Nothing of the command has run.
var refusals = map[string]string{
	"NOSCRIPT":   "-NOSCRIPT No matching script. Please use EVAL.\r\n",
	"OOM":        "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
	"READONLY":   "-READONLY You can't write against a read only replica.\r\n",
	"LOADING":    "-LOADING Redis is loading the dataset in memory\r\n",
	"BUSY":       "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n",
	"NOPERM":     "-NOPERM this user has no permissions to run the 'evalsha' command\r\n",
	"MASTERDOWN": "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
	"WRONGTYPE":  "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
	"MISCONF":    "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.\r\n",
}

// codes are the refusals in an order that a seed can draw from.
var codes = []string{"LOADING", "BUSY", "MASTERDOWN", "READONLY", "OOM", "NOSCRIPT", "NOPERM", "WRONGTYPE", "MISCONF"}

// What goes wrong beside commands.
const (
	silence      = "server silent"
	cutAll       = "all connections cut"
	portClosed   = "port closed"
	flushScripts = "SCRIPT FLUSH"
	killed       = "CLIENT KILL by an outsider"
	deleted      = "DEL of the key"
	flushed      = "FLUSHALL"
)

// fault is what may happen to one client's command.
type fault struct {
	command, how string
	code         string        // of refused
	delay        time.Duration // of lateReply; 0 draws one
	times        int           // so many commands are hit, 0 is without end
}

func (f fault) String() string {
	if f.how == refused {
		return fmt.Sprintf("%s: %s %d times", f.command, f.code, f.times)
	}
	return fmt.Sprintf("%s: %s", f.command, f.how)
}

// armed is a fault in force.
type armed struct {
	fault
	handle *faultproxy.Handle
	over   chan struct{} // closed when it was taken out of force
	once   sync.Once
}

// arm puts a fault in force until it has hit, or disarm.
func (c *client) arm(f fault, rng *rand.Rand) *armed {
	if f.how == refused && f.command == kill && f.code != "LOADING" && f.code != "BUSY" && f.code != "MASTERDOWN" {
		f.code = "LOADING" // others say that it is not allowed at all
	}
	rule := faultproxy.Rule{Match: matching(f.command), Times: f.times, Do: actions[f.how]}
	switch f.how {
	case refused:
		rule.Reply = []byte(refusals[f.code])
	case lateReply:
		if rule.Delay = f.delay; f.delay == 0 {
			rule.Delay = time.Duration(5+rng.IntN(500)) * time.Millisecond
		}
	}
	if c.r.healed.Load() {
		return nil
	}
	if f.how != refused {
		c.disturb()
	}
	c.r.logf("client %d: armed %v", c.n, f)
	a := &armed{fault: f, handle: c.proxy.Add(rule), over: make(chan struct{})}
	c.r.mu.Lock()
	c.r.armed = append(c.r.armed, a)
	c.r.mu.Unlock()
	if f.how == lateBytes {
		late := time.Duration(20+rng.IntN(1400)) * time.Millisecond
		c.r.faults.Go(func() { a.deliver(c, late) })
	}
	return a
}

// deliver lets withheld bytes go a while after they were written.
func (a *armed) deliver(c *client, late time.Duration) {
	select {
	case <-a.handle.Hit():
		wait(late, c.r.heal)
	case <-a.over:
		if a.handle.Hits() == 0 {
			return
		}
	}
	ran := a.handle.Release()
	c.r.logf("client %d: delivered late: %v, %d ran", c.n, a.fault, ran)
}

func (a *armed) disarm() {
	a.once.Do(func() {
		a.handle.Remove()
		close(a.over)
	})
}

// wait lasts d, or until stop is closed.
func wait(d time.Duration, stop <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-stop:
	}
}

// disturb notes that from now on something else than refusals has met the client.
func (c *client) disturb() { c.disturbed.CompareAndSwap(0, now()) }

// freeze has the client's server say nothing for a while, and deliver then what was written meanwhile.
func (c *client) freeze(d time.Duration) {
	c.disturb()
	c.r.logf("client %d: silence for %v", c.n, d)
	c.proxy.Freeze(true)
	from := now()
	wait(d, c.r.heal)
	c.proxy.Freeze(false)
	c.r.mu.Lock()
	c.silences = append(c.silences, span{from, now()})
	c.r.mu.Unlock()
	c.r.logf("client %d: silence is over", c.n)
	c.r.tally.hit(silence, 1)
}

// span is a time from one instant to another.
type span struct{ from, to int64 }

// tally counts what happened in all rounds.
type tally struct {
	mu    sync.Mutex // guards hits
	hits  map[string]int
	rungs [nCounters]atomic.Int64
}

// The counters.
const (
	nRounds = iota
	nCalls
	nHolds
	nProbes
	nTrusted // holds held against the server, in all probes
	nCounted // ends of rounds whose count was exact
	nSlack   // ends of rounds whose count was known up to uncertain calls
	nAnswers
	nUnlocks // of owners that are used once
	nViolations
	nCounters
)

func newTally() *tally { return &tally{hits: map[string]int{}} }

func (t *tally) hit(class string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hits[class] += n
}

func (t *tally) add(counter, n int) { t.rungs[counter].Add(int64(n)) }
