package main

import (
	"strings"
	"testing"
	"time"
)

// TestLimitSendsTwoCommandsAPair runs the limits against a server and believes the server's counters.
func TestLimitSendsTwoCommandsAPair(t *testing.T) {
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := loadAll(s.addr); err != nil {
		t.Fatal(err)
	}
	limits := newThreads(s.addr)
	for _, depth := range limitDepths {
		limits = append(limits, newLimit(s.addr, depth))
	}
	for i, limit := range limits {
		r := &run{Report: &Report{}, server: s}
		c := &contender{limitName, limit, ownUsage, nil}
		l, e, err := r.cost(c, spec{length: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if l.pairs == 0 || e.commands["evalsha"] != 2*l.pairs {
			t.Errorf("limit %d: %d scripts for %d pairs, want two each", i, e.commands["evalsha"], l.pairs)
		}
		// Each unlock frees its lock and says so, and nobody sends a DEL: those of the scripts are all.
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

func TestIdleIsTheShareWithoutProcessorTime(t *testing.T) {
	r := &run{Report: &Report{}}
	r.addIdle(ours, "128", expense{server: 750 * time.Millisecond, client: 1500 * time.Millisecond, wall: time.Second})
	for metric, want := range map[string]float64{serverIdle: 25, clientIdle: -50} {
		if got, _ := r.median("pairs", ours, "128", metric); got != want {
			t.Errorf("%s: %v, want %v", metric, got, want)
		}
	}
	d := &document{r: r.Report}
	d.idleDetails()
	for _, want := range []string{"| callers | 128 |", "| rlock | 25.0 |", "| rlock | -50.0 |"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("no %q in\n%s", want, d.String())
		}
	}
	older := &document{r: lacking()}
	if older.idleDetails(); older.String() != "" {
		t.Errorf("of a run that did not measure it: %s", older.String())
	}
	var out strings.Builder
	if err := printTable(&out, r.Report); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"server idle, %    25.0", "client idle, %   -50.0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestPairsAreTwoCommands goes by the server's counters, too. What rlock and raw redigo send must stay the same.
func TestPairsAreTwoCommands(t *testing.T) {
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, name := range []string{ours, rawPeer} {
		p := findPeer(name)
		f, err := openFleet(p, s.addr, 1)
		if err != nil {
			t.Fatal(err)
		}
		load := spec{prefix: name, callers: 1, length: 50 * time.Millisecond}
		// The first load has the server learn the scripts.
		if _, err := f.load(load); err != nil {
			t.Fatal(err)
		}
		r := &run{Report: &Report{}, server: s}
		l, e, err := r.cost(&contender{name, f, ownUsage, p}, load)
		f.close()
		if err != nil {
			t.Fatal(err)
		}
		if n := p.requests(e.commands, l.grants); l.grants == 0 || n != 2*float64(l.grants) {
			t.Errorf("%s: %v commands for %d pairs, want two each; the server ran %v", name, n, l.grants, e.commands)
		}
	}
}
