package alike

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/commandstats"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

type wait struct {
	side   Side
	who    string
	kind   javapeer.Kind
	cancel context.CancelFunc
	ended  chan result
}

func (p *Play) begin(side Side, who string, kind javapeer.Kind, object, method string, args []any) {
	p.Helper()
	who, atOnce := strings.CutSuffix(who, "&")
	silent := kind == javapeer.Fair || kind == javapeer.Spin // no waiter listens to the lock's channel
	p.Becomes("an end of earlier waits", func() bool { return silent || p.listening(kind) == p.listeners(kind) })
	try := "evalsha"
	if kind == "countdown" { // a latch's waiters run no script
		try = "get"
	}
	tries := p.Counts()[try]
	ctx, cancel := context.WithCancel(p.ctx)
	w := &wait{side, who, kind, cancel, make(chan result, 1)}
	first := !slices.ContainsFunc(p.waits, func(o *wait) bool { return o.side == side && o.kind == kind })
	p.waits = append(p.waits, w)
	go func() {
		defer cancel()
		w.ended <- p.do(ctx, side, who, kind, object, method, args)
	}()
	if atOnce {
		return
	}
	switch s := side.(type) {
	case *Java:
		if kind != javapeer.Fair {
			p.parked(s, who)
		}
	case *Go:
		n := 0
		for _, o := range p.waits {
			if o.side == side {
				n++
			}
		}
		p.Becomes("one who waits in Go", func() bool {
			return len(w.ended) > 0 || s.Client.Stats().Waiters >= n && (!first || kind == javapeer.Fair ||
				(silent || p.listening(kind) == p.listeners(kind)) && p.Counts()[try] >= tries+2)
		})
	}
	if kind == javapeer.Fair {
		p.Stands(len(p.waits))
	}
}

// parked waits until a Java thread is parked.
func (p *Play) parked(s *Java, who string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, testbed.Patience)
	defer cancel()
	p.Must(s.Thread(who).AwaitParked(ctx))
}

// conns returns a connection to each server.
func (p *Play) conns() []redis.Conn {
	if p.Conns != nil {
		return p.Conns
	}
	return []redis.Conn{p.Conn}
}

// channel is the one to which an object's waiters listen.
func channel(kind javapeer.Kind, name string) string {
	switch kind {
	case "permits", "semaphore":
		return codec.PermitChannel(name)
	case "countdown":
		return codec.CountDownChannel(name)
	case javapeer.Multi: // it waits for its first member
		kind = javapeer.Write
	}
	return kind.Channel(name)
}

// listening counts the connections that listen for the object's messages. A Go client in a cluster has two.
func (p *Play) listening(kind javapeer.Kind) (n int) {
	channel := channel(kind, p.Object)
	for _, conn := range p.conns() {
		for _, sort := range []string{"NUMSUB", "SHARDNUMSUB"} {
			counts, _ := redis.IntMap(conn.Do("PUBSUB", sort, channel)) // the second is unknown before Redis 7
			n += counts[channel]
		}
	}
	return n
}

// listeners is the count that listening should return for the current waiters.
func (p *Play) listeners(kind javapeer.Kind) (n int) {
	all := map[Side]bool{}
	for _, w := range p.waits {
		if _, golang := w.side.(*Go); channel(w.kind, "") == channel(kind, "") && !all[w.side] {
			all[w.side] = true
			if n++; golang && p.Sharded {
				n++
			}
		}
	}
	return n
}

// Stands waits until n waiters for a fair lock have a place and a channel.
func (p *Play) Stands(n int) {
	p.Helper()
	p.Becomes("places, and who listens", func() bool {
		channels := map[string]bool{}
		places := 0
		for _, conn := range p.conns() {
			for _, sort := range []string{"CHANNELS", "SHARDCHANNELS"} {
				names, _ := redis.Strings(conn.Do("PUBSUB", sort, codec.Channel(p.Object)+":*"))
				for _, name := range names {
					channels[name] = true
				}
			}
			some, _ := redis.Int(conn.Do("LLEN", codec.FairQueue(p.Object))) // other shards answer MOVED
			places += some
		}
		return places == n && len(channels) == n
	})
}

// Counts is how often the servers have run each command.
func (p *Play) Counts() map[string]int64 {
	p.Helper()
	all := map[string]int64{}
	for _, conn := range p.conns() {
		calls, err := commandstats.Read(conn)
		p.Must(err)
		for command, n := range calls {
			all[command] += n
		}
	}
	return all
}

func (p *Play) waiting(side Side, who string) *wait {
	p.Helper()
	i := slices.IndexFunc(p.waits, func(w *wait) bool { return w.side == side && w.who == who })
	if i < 0 {
		p.Fatalf("%s does not wait", who)
	}
	return p.waits[i]
}

func (p *Play) end(w *wait) result {
	p.Helper()
	p.waits = slices.DeleteFunc(p.waits, func(o *wait) bool { return o == w })
	select {
	case got := <-w.ended:
		return got
	case <-time.After(p.Most):
		p.Fatalf("%T %s waits on after %v; the server has %q, %v listen", w.side, w.who, p.Most, p.Strings("KEYS", "*"), p.listening(w.kind))
		panic("unreachable")
	}
}

// entered waits until one wait has ended, and returns it with its result. It must have been granted, and be the only one.
func (p *Play) entered() (in *wait, got result) {
	p.Helper()
	testbed.BecomesWithin(p.T, p.Most, "one of those who wait is in", func() bool {
		for _, w := range p.waits {
			if len(w.ended) > 0 {
				in = w
			}
		}
		return in != nil
	})
	got = p.end(in)
	p.judge("waits", in.side, in.kind, got, "")
	p.none()
	return in, got
}

// none fails the test if a wait has ended.
func (p *Play) none() {
	p.Helper()
	for _, w := range p.waits {
		if len(w.ended) > 0 {
			p.Fatalf("%T %s waits no more: %v", w.side, w.who, <-w.ended)
		}
	}
}

// Woken measures how long after a release a waiter enters, in this many rounds. A round runs the scripts hold, wait (with
// one call that waits), free and, once the wait has ended, leave.
func (p *Play) Woken(rounds int, hold, wait, free, leave string) (times []time.Duration) {
	p.Helper()
	for range rounds {
		p.Run(hold)
		p.Run(wait)
		w := p.waits[len(p.waits)-1]
		began := machineclock.Now()
		p.Run(free)
		got := p.end(w)
		times = append(times, time.Duration(got.at-began))
		p.judge("waits", w.side, w.kind, got, "")
		p.ids["w"] = strings.Fields(got.answer)
		p.Run(leave)
		time.Sleep(10 * time.Millisecond) // Redisson 3.21.3 may miss a release if it subscribes while unsubscribing
	}
	return times
}

// Still fails the test if a wait ends within a time.
func (p *Play) Still(d time.Duration) {
	p.Helper()
	p.Stays("who waits", d, func() bool { return !slices.ContainsFunc(p.waits, func(w *wait) bool { return len(w.ended) > 0 }) })
}

// asleep waits until Java threads that were woken in vain wait again. A write lock's release wakes only threads that are
// parked at that moment; one that parks later wakes when the lease that it knows is over.
func (p *Play) asleep() {
	p.Helper()
	if len(p.waits) > 0 && p.waits[0].kind == javapeer.Write {
		time.Sleep(50 * time.Millisecond)
	}
	for _, w := range p.waits {
		if java, is := w.side.(*Java); is && w.kind == javapeer.Write {
			p.parked(java, w.who)
		}
	}
}
