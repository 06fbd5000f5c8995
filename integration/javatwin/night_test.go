package main

import (
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
)

// TestTwinsShareANight runs both programs at once and reads from the log that never two were inside, that no number was
// taken twice, that each woke the other, and that both got their share.
func TestTwinsShareANight(t *testing.T) {
	server := redisserver.Local(t)
	b := books{t, redisserver.Dial(t, server)}
	n := night{
		url: server.URL(), watchdog: 30 * time.Second, printing: 25 * time.Millisecond, mailing: 15 * time.Millisecond,
		invoices: 120, credits: 20,
	}
	twins := []*twin{goTwin(t, n), javaTwin(t, n)}
	for _, w := range twins {
		w.begin()
	}
	for _, w := range twins {
		w.finish()
	}

	log := b.log()
	checkAlternation(t, log)
	checkNumbers(b, log, n)
	checkShares(t, log, n)
	checkWakeUps(t, log)
	checkSettled(t, log)
	left, err := b.conn.Do("EXISTS", "invoices")
	if err != nil || left != int64(0) {
		t.Errorf("the lock was left behind: %v, %v", left, err)
	}
}

// checkAlternation: each "in" finds nobody inside and is followed by its own "out".
func checkAlternation(t *testing.T, log []entry) {
	t.Helper()
	var inside *entry
	for i, e := range log {
		switch e.event {
		case "in":
			if inside != nil || e.found != "" {
				t.Fatalf("%s began to print %d while inside was %v, found %q", e.side, e.number, inside, e.found)
			}
			inside = &log[i]
		case "out":
			if inside == nil || inside.side != e.side || inside.number != e.number {
				t.Fatalf("%s ended to print %d while inside was %v", e.side, e.number, inside)
			}
			inside = nil
		case "busy", "lost", "stopped":
			t.Errorf("%s noted %q", e.side, e.event)
		}
	}
	if !t.Failed() {
		t.Log("printed by one at a time: never were two inside")
	}
}

// checkSettled: each settled once, and nothing of the other's that needs the lock is between its two entries.
func checkSettled(t *testing.T, log []entry) {
	t.Helper()
	settled := map[string]int{}
	settling := ""
	for _, e := range log {
		switch e.event {
		case "settling":
			if settling != "" {
				t.Errorf("%s settled while %s did", e.side, settling)
			}
			settling = e.side
		case "settled":
			settling = ""
			settled[e.side]++
		case "in", "out":
			if settling != "" {
				t.Errorf("%s printed %d while %s settled", e.side, e.number, settling)
			}
		}
	}
	if settled["go"] != 1 || settled["java"] != 1 {
		t.Errorf("settled: %v, want once on each side", settled)
	}
}

// checkNumbers: the counter, which was read and written back, lost no update.
func checkNumbers(b books, log []entry, n night) {
	b.Helper()
	booked := b.numbers("ledger:booked")
	taken := slices.Clone(booked)
	for _, e := range log {
		if e.event == "credit" {
			taken = append(taken, e.number)
		}
	}
	slices.Sort(taken)
	for i, number := range taken {
		if number != int64(i+1) {
			b.Fatalf("the numbers taken are %v", taken)
		}
	}
	if last := b.last(); last != int64(len(taken)) {
		b.Errorf("the counter says %d, %d numbers were taken", last, len(taken))
	}
	// Who is at work when the last one is booked books one more.
	if len(booked) < n.invoices || len(booked) > n.invoices+1 || len(taken) != len(booked)+2*n.credits {
		b.Errorf("%d booked, %d taken, asked for %d and twice %d", len(booked), len(taken), n.invoices, n.credits)
	}
}

func checkShares(t *testing.T, log []entry, n night) {
	t.Helper()
	share := map[string]int{}
	for _, e := range log {
		if e.event == "out" {
			share[e.side]++
		}
	}
	t.Logf("printed: %v", share)
	for _, side := range []string{"go", "java"} {
		if share[side] < n.invoices/5 {
			t.Errorf("%s printed %d of %d", side, share[side], n.invoices)
		}
	}
}

// checkWakeUps looks at those who entered after the other side and had come well before it left. Their lease was told to
// be 30 s, so that without a message they would have waited in vain.
func checkWakeUps(t *testing.T, log []entry) {
	t.Helper()
	const (
		wellBefore = 3 * time.Millisecond
		atLeast    = 10
	)
	delays := map[string][]time.Duration{}
	came := map[string]time.Duration{}
	var left entry
	for _, e := range log {
		switch e.event {
		case "mailed":
			came[e.side] = e.at
		case "out":
			left = e
		case "in":
			arrival, known := came[e.side]
			if left.side != "" && left.side != e.side && known && arrival <= left.at-wellBefore {
				delays[left.side+" wakes "+e.side] = append(delays[left.side+" wakes "+e.side], e.at-left.at)
			}
		}
	}
	for _, way := range []string{"go wakes java", "java wakes go"} {
		d := delays[way]
		slices.Sort(d)
		if len(d) < atLeast {
			t.Errorf("%s: only %d times", way, len(d))
			continue
		}
		t.Logf("%s: %d times, in the middle after %v, at most after %v", way, len(d), d[len(d)/2], d[len(d)-1])
		if d[len(d)/2] > time.Second {
			t.Errorf("%s: in the middle after %v", way, d[len(d)/2])
		}
	}
}
