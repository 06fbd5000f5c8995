package main

import (
	"testing"
	"time"
)

// TestLimitSendsTwoCommandsAPair checks the limits against the server's own counters.
func TestLimitSendsTwoCommandsAPair(t *testing.T) {
	s := startServer(t)
	if err := loadAll(s.addr); err != nil {
		t.Fatal(err)
	}
	limits := []loader{thread(s.addr)}
	for _, depth := range limitDepths {
		limits = append(limits, newLimit(s.addr, depth).load)
	}
	for i, limit := range limits {
		r := &run{Report: &Report{}, server: s}
		c := &contender{name: limitName, load: limit, usage: ownUsage}
		l, e, err := r.cost(c, spec{length: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if l.pairs == 0 || e.commands["evalsha"] != 2*l.pairs {
			t.Errorf("limit %d: %d scripts for %d pairs, want two each", i, e.commands["evalsha"], l.pairs)
		}
		// Each unlock frees its lock and publishes that, and no client sends a DEL: the scripts' DELs are all.
		if e.commands["del"] != l.pairs || e.commands["publish"] != l.pairs || e.commands["set"] != 0 {
			t.Errorf("limit %d: %d pairs, but the server ran %v", i, l.pairs, e.commands)
		}
		r.addIdle(limitName, "1", e)
		for _, metric := range []string{serverIdle, clientIdle} {
			if idle, ok := r.median("pairs", limitName, "1", metric); !ok || idle >= 100 || idle < -100 {
				t.Errorf("limit %d: %s: %v, %v", i, metric, idle, ok)
			}
		}
	}
	if keys, err := s.conn.Do("DBSIZE"); err != nil || keys != int64(0) {
		t.Errorf("%v keys are left, %v", keys, err)
	}
}

// TestPairsAreTwoCommands checks the server's counters, too: rlock and raw redigo must send the same.
func TestPairsAreTwoCommands(t *testing.T) {
	s := startServer(t)
	for _, name := range []string{ours, rawPeer} {
		p := findPeer(name)
		f, err := openFleet(p, s.addr, 1)
		if err != nil {
			t.Fatal(err)
		}
		load := spec{prefix: name, callers: 1, length: 50 * time.Millisecond}
		// In the first load the server learns the scripts.
		if _, err := f.load(load); err != nil {
			t.Fatal(err)
		}
		r := &run{Report: &Report{}, server: s}
		l, e, err := r.cost(&contender{name: name, load: f.load, usage: ownUsage}, load)
		f.close()
		if err != nil {
			t.Fatal(err)
		}
		if n := p.requests(e.commands, l.grants); l.grants == 0 || n != 2*float64(l.grants) {
			t.Errorf("%s: %v commands for %d pairs, want two each; the server ran %v", name, n, l.grants, e.commands)
		}
	}
}
