package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	gated "github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

const matrixFile = "failover-kinds"

// Faults of the master in the matrix.
const (
	left    = "planned"
	died    = "killed"
	stopped = "stopped"
	twice   = "twice"
)

var severalServers = []string{"Sentinel", "Cluster"}

type cell struct {
	set      string // Sentinel or Cluster
	how      string
	replicas int
	after    time.Duration // since the last replica came online
}

func (c cell) String() string {
	return fmt.Sprintf("%s: %s, replicas %d, after %v", c.set, c.how, c.replicas, c.after)
}

func cells() (all []cell) {
	for _, set := range severalServers {
		for _, how := range []string{left, died, stopped, twice} {
			for _, replicas := range []int{1, 2} {
				for _, after := range []time.Duration{0, 3 * time.Second, 12 * time.Second} {
					all = append(all, cell{set, how, replicas, after})
				}
			}
		}
	}
	return all
}

type outcome struct {
	cell
	again                      time.Duration
	where                      string
	kept, lost                 int
	two, more                  int
	tokens                     []string
	permits, semaphores, latch int
	apart                      time.Duration // between two promotions, if there are two
	back                       bool          // the Sentinels went back to a master that had not followed another one, so losses are excused
	entries                    int
	failed, uncertain          int64
	wrong, notes               []string
}

func (o *outcome) violate(format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
}

func (o outcome) String() string {
	s := fmt.Sprintf("%v: each name again after %v (%s); %d kept, %d lost; two inside %d, more than seats %d; tokens back %d; off: permits %d, semaphores %d, latch %d; %d entries, %d errors, %d count-downs uncertain; promotions %v apart",
		o.cell, short(o.again), o.where, o.kept, o.lost, o.two, o.more, len(o.tokens), o.permits, o.semaphores, o.latch, o.entries, o.failed, o.uncertain, short(o.apart))
	for _, w := range o.wrong {
		s += "\n    VIOLATION " + w
	}
	for _, note := range o.notes {
		s += "\n    " + note
	}
	return s
}

// playMatrix plays the cells whose text contains only. With write, and without only, it writes their table if nothing failed.
func playMatrix(only string, write bool) (status int) {
	began, commit := time.Now(), revision()
	chosen := slices.DeleteFunc(cells(), func(c cell) bool { return !strings.Contains(c.String(), only) })
	all := make([]outcome, len(chosen))
	var mu sync.Mutex // guards status
	var playing sync.WaitGroup
	for _, set := range severalServers { // in parallel: they wait most of the time
		playing.Go(func() {
			for i, c := range chosen {
				if c.set != set {
					continue
				}
				all[i] = playCell(c)
				mu.Lock()
				fmt.Printf("%6.0f s  %v\n", time.Since(began).Seconds(), all[i])
				if len(all[i].wrong) > 0 {
					status = 1
				}
				mu.Unlock()
			}
		})
	}
	playing.Wait()
	text := matrix(all) + "\n" + circumstances(commit, time.Since(began))
	return told(text, matrixFile, write && only == "", status)
}

func matrix(all []outcome) string {
	var b strings.Builder
	b.WriteString("| failover | replicas | after the last came | each name again, longest | holds kept | two inside | tokens back | off: permits, semaphores, latch | entries |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, o := range all {
		how := o.how
		if o.back {
			how += ", back to a master that was not demoted yet"
		}
		if o.apart > 0 {
			how += fmt.Sprintf(", %v apart", short(o.apart))
		}
		fmt.Fprintf(&b, "| %s: %s | %d | %v | %v | %d of %d | %d | %d | %d, %d, %d | %d |\n", o.set, how, o.replicas, o.after, short(o.again),
			o.kept, o.kept+o.lost, o.two, len(o.tokens), o.permits, o.semaphores, o.latch, o.entries)
	}
	return b.String()
}

func playCell(c cell) (o outcome) {
	o.cell = c
	defer func() {
		if o.back {
			o.wrong, o.notes = nil, o.wrong
		}
	}()
	rigged(o.violate, func(t *testbed.Program) {
		if c.set == "Sentinel" {
			sentinelCell(t, &o)
		} else {
			clusterCell(t, &o)
		}
	})
	return o
}

type arena struct {
	url      string
	servers  []*redistest.Server
	master   *redistest.Server
	newcomer *redistest.Server // the replica that comes last, and is likely to be promoted
	leave    func(promotions *promotions)
	back     func()      // called after the newcomer is restarted
	settled  func() bool // all replicas are fed
	ends     func() bool // the same, after the failover
	switches func() int  // how often the Sentinels named another master; nil: a cluster
}

// sentinelCell plays a cell behind Sentinels. By priority the newcomer is promoted first, and the former master last.
func sentinelCell(t *testbed.Program, o *outcome) {
	var nodes [3]redistest.Front
	nodes[0].Args, nodes[1].Args = []string{"--replica-priority", "300"}, []string{"--replica-priority", "200"}
	set := redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, [3]redistest.Front{})
	set.AllowFailover()
	former := set.Nodes[0]
	a := arena{url: set.URL(), servers: set.Nodes, master: former, newcomer: set.Nodes[2]}
	if o.replicas == 1 {
		reduce(t, set, 1, 500*time.Millisecond)
		a.servers, a.newcomer = set.Nodes[:2], set.Nodes[1]
	}
	a.back = func() {}
	a.settled = func() bool { m := set.Master(); return m != nil && online(m) == o.replicas }
	a.ends = a.settled
	a.switches = func() (n int) {
		for _, s := range set.Sentinels { // one that was slow may have missed a switch
			n = max(n, strings.Count(s.LastLog(1000), "+switch-master"))
		}
		return n
	}
	a.leave = func(*promotions) {
		kind := map[string]string{left: planned, twice: planned, died: killed, stopped: silenced}[o.how]
		next := replace(set, kind, former)
		if o.how == twice {
			replace(set, kind, next)
		}
	}
	a.play(t, o, "all")
}

// clusterCell plays a cell in a cluster. All names are on one shard.
func clusterCell(t *testbed.Program, o *outcome) {
	c := topologytest.StartReplicated(t, 1, 1, 1)
	former, newcomer := 0, c.Replica(0)
	replicas := []int{newcomer}
	if o.replicas == 2 {
		newcomer = c.AddReplica(0)
		replicas = append(replicas, newcomer)
	}
	a := arena{url: c.ClusterURL(), master: c.Servers[former], newcomer: c.Servers[newcomer]}
	for _, i := range append([]int{former}, replicas...) {
		a.servers = append(a.servers, c.Servers[i])
	}
	a.back = func() { c.Redial(newcomer) }
	tag := onFirst()
	fed := func(n int) func() bool {
		return func() bool {
			m := c.MasterOf(codec.Slot(tag))
			return m >= 0 && online(c.Servers[m]) >= n
		}
	}
	a.settled, a.ends = fed(o.replicas), fed(o.replicas)
	if o.how == twice {
		a.ends = fed(1) // the first master may follow a server that is a replica itself by now
	}
	takesOver := func(p *promotions, replica int) {
		before := len(p.so())
		var err error
		if !testbed.Within(patience, func() bool {
			_, err = do(c.Servers[replica], "CLUSTER", "FAILOVER") // a replica may give a failover up
			return err == nil && testbed.Within(6*time.Second, func() bool { return len(p.so()) > before })
		}) {
			t.Fatalf("server %d did not take over: %v; it has logged %s", replica, err, c.Servers[replica].LastLog(30))
		}
	}
	a.leave = func(p *promotions) {
		gone := func(comesBack func()) {
			testbed.BecomesWithin(t, patience, "somebody takes over", func() bool { return len(p.so()) > 0 })
			comesBack()
		}
		switch o.how {
		case left:
			takesOver(p, newcomer)
		case died:
			a.master.Kill()
			gone(func() { a.master.Restart(); c.Redial(former) })
		case stopped:
			a.master.Pause()
			gone(a.master.Resume)
		case twice:
			next := former
			if o.replicas == 2 {
				next = replicas[0]
			}
			takesOver(p, newcomer)
			takesOver(p, next)
		}
	}
	a.play(t, o, tag)
}

// play kills the newcomer, restarts it under load, and then makes the master fail.
func (a arena) play(t *testbed.Program, o *outcome, tag string) {
	awaitFed(t, a.settled)
	kill([]*redistest.Server{a.newcomer})
	testbed.BecomesWithin(t, endless, "the master does not count the replica that was killed", func() bool { return online(a.master) == o.replicas-1 })
	w, err := man(a.url, tag)
	defer w.end()
	if err != nil {
		t.Fatal(err)
	}
	rest := sync.OnceFunc(w.work())
	defer rest()
	entered := func(since time.Time) bool {
		for _, u := range w.uses {
			if w.enteredSince(since, u.name) < 2 {
				return false
			}
		}
		return true
	}
	testbed.BecomesWithin(t, endless, "there is load before the fault", func() bool { return entered(time.Time{}) })
	a.newcomer.Restart()
	a.back()
	testbed.BecomesWithin(t, endless, "the replica comes online", func() bool { return online(a.master) == o.replicas && linked(a.newcomer) })
	time.Sleep(o.after)
	p := watchPromotions(a.servers, "{"+tag+"}:promoted")
	a.leave(p)
	testbed.BecomesWithin(t, patience, "somebody is promoted", func() bool { return len(p.so()) > 0 })
	all := p.so()
	served := all[len(all)-1]
	if len(all) > 1 {
		o.apart = served.Sub(all[0])
	}
	shown := map[string]bool{}
	if !testbed.Within(endless, func() bool {
		if late := time.Since(served); late > afterFailover {
			for _, u := range w.uses {
				if w.enteredSince(served, u.name) == 0 && !shown[u.name] {
					shown[u.name] = true
					o.violate("%s is not entered after %v: %s", u.name, short(late), keys(a.servers, u.lock))
				}
			}
		}
		return entered(served)
	}) {
		o.violate("some names were not entered within %v", endless)
	}
	if !testbed.Within(endless, a.ends) {
		o.violate("not all replicas were fed within %v", endless)
	}
	time.Sleep(usual/3 + late) // lost holds must have reported it by then
	o.again, o.where = w.again(served, time.Now())
	rest()
	for _, held := range w.kept {
		if err := held(); err != nil {
			o.lost++
			o.violate("a standing hold: %v", err)
		} else {
			o.kept++
		}
	}
	if o.permits, o.semaphores, o.latch, err = w.off(); err != nil {
		o.violate("asking what is counted: %v", err)
	}
	for _, release := range w.unkeep {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := release(ctx); err != nil && !errors.Is(err, rlock.ErrLeaseLost) {
			o.violate("releasing what stood: %v", err)
		}
		cancel()
	}
	o.back = a.switches != nil && a.switches() > len(p.end()) // else each master that the Sentinels named had been a replica
	o.two, o.more, o.tokens = w.judge(all[0])
	o.entries, o.failed, o.uncertain = len(w.entries), w.failed.Load(), w.uncertain.Load()
	if o.again > afterFailover {
		o.violate("nobody entered %s for %v", o.where, short(o.again))
	}
	if o.permits != 0 || o.semaphores != 0 || o.latch != 0 {
		o.violate("counts are off: permits %d, semaphores %d, latch %d", o.permits, o.semaphores, o.latch)
	}
	if n := len(o.tokens); n > 0 {
		o.violate("%d tokens were no step forward, such as %s", n, o.tokens[0])
	}
}

// linked reports whether a replica has loaded its master's data. The master reports it as online once it has sent them.
func linked(s *redistest.Server) bool {
	info, err := redis.String(do(s, "INFO", "replication"))
	return err == nil && strings.Contains(info, "master_link_status:up")
}

// keys shows what the masters among some servers have of a lock.
func keys(servers []*redistest.Server, name string) (all string) {
	for _, s := range servers {
		if gated.Role(s) != "master" {
			continue
		}
		ttl, _ := redis.Int64(do(s, "PTTL", name))
		holds, _ := redis.Strings(do(s, "HGETALL", name))
		queue, _ := redis.Strings(do(s, "LRANGE", codec.FairQueue(name), 0, -1))
		times, _ := redis.Strings(do(s, "ZRANGE", codec.FairTimes(name), 0, -1, "WITHSCORES"))
		all += fmt.Sprintf("%s has %v for %d ms, queue %v, places until %v, at %d; ", s.Addr(), holds, ttl, queue, times, time.Now().UnixMilli())
	}
	return all
}

// promotions records when replicas became masters and took a write.
type promotions struct {
	mu    sync.Mutex // guards at
	at    []time.Time
	over  chan struct{}
	polls sync.WaitGroup
}

func watchPromotions(servers []*redistest.Server, key string) *promotions {
	p := &promotions{over: make(chan struct{})}
	for _, s := range servers {
		was := gated.Role(s) == "slave" // read before the fault: it may take some milliseconds
		p.polls.Go(func() { p.watch(s, key, was) })
	}
	return p
}

// watch records when a server that was a replica takes a write as a master.
func (p *promotions) watch(s *redistest.Server, key string, was bool) {
	var conn redis.Conn
	for {
		select {
		case <-p.over:
			if conn != nil {
				conn.Close()
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
		if conn == nil {
			c, err := redis.Dial("tcp", s.Addr(), redis.DialConnectTimeout(time.Second), redis.DialReadTimeout(time.Second), redis.DialWriteTimeout(time.Second))
			if err != nil {
				continue
			}
			conn = c
		}
		role, err := redis.Values(conn.Do("ROLE"))
		if conn.Err() != nil {
			conn.Close()
			conn = nil
		}
		if err != nil || len(role) == 0 {
			continue
		}
		if name, _ := redis.String(role[0], nil); name != "master" {
			was = true
		} else if was {
			if _, err := conn.Do("SET", key, "", "PX", 1); err == nil {
				was = false
				p.mu.Lock()
				p.at = append(p.at, time.Now())
				p.mu.Unlock()
			}
		}
	}
}

func (p *promotions) so() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

func (p *promotions) end() []time.Time {
	close(p.over)
	p.polls.Wait()
	return p.at
}
