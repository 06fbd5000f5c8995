package logs_test

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// of returns the lines with a message, by their level.
func (c *capture) of(message string) map[slog.Level][]line {
	all := map[slog.Level][]line{}
	for _, l := range c.lines() {
		if l.message == message {
			all[l.level] = append(all[l.level], l)
		}
	}
	return all
}

func TestRenewalsThatFailAreToldOnceAndWhenTheyWorkAgain(t *testing.T) {
	t.Parallel()
	server := redisserver.Local(t, "--requirepass", secret)
	testbed.New(t, server).LoadScripts()
	r := start(t, server, "")
	h := r.Hold(r.lock())
	fault := r.refusing(testbed.Renewals, "LOADING dataset")
	renewals := func() int64 { return int64(fault.Hits()) }
	// Renewals are tried again each tenth of a second, and the lease lasts for three seconds.
	r.becomes("some renewals fail", func() bool { return renewals() >= 8 })
	fault.Remove()
	again := r.logged("renewals work again")
	testbed.Must(t, h.Err())
	lines := r.seen.of("renewal failed")
	if warned, debugged := len(lines[slog.LevelWarn]), int64(len(lines[slog.LevelDebug])); warned != 1 || debugged != renewals()-1 {
		t.Errorf("%d warnings and %d lines at level debug of %d renewals that failed", warned, debugged, renewals())
	}
	if n := again.attrs["failures"].Int64(); again.level != slog.LevelInfo || n != renewals() {
		t.Errorf("at level %v: %d failures, of %d", again.level, n, renewals())
	}
	if lasted := again.attrs["lasted"].Duration(); lasted <= 0 || lasted > watchdog {
		t.Errorf("lasted for %v", lasted)
	}
	r.Unlock(h)
	r.client.Close()
	if lines := r.seen.of("renewal failed")[slog.LevelWarn]; len(lines) != 1 {
		t.Errorf("told after they worked again: %v", lines[1:])
	}
}

// Meanwhile other renewals succeed, which is no reason to log that renewals work again.
func TestRenewalsDoNotWorkAgainWhileOneFails(t *testing.T) {
	t.Parallel()
	server := redisserver.Local(t, "--requirepass", secret)
	testbed.New(t, server).LoadScripts()
	r := start(t, server, "")
	r.Hold(r.lock())
	refused := r.Hold(r.lock()).Name()
	r.refusing(func(cmd []string) bool { return testbed.Renewals(cmd) && slices.Contains(cmd, refused) }, "ERR refused")
	r.logged("renewals work again")
	var order []string
	for _, l := range r.seen.lines() {
		if l.message == "renewed" || l.level >= slog.LevelInfo {
			order = append(order, l.message)
		}
	}
	failed, lost, again := slices.Index(order, "renewal failed"), slices.Index(order, "lease lost"), slices.Index(order, "renewals work again")
	if failed < 0 || lost < failed || again < lost || !slices.Contains(order[failed:lost], "renewed") {
		t.Errorf("failed, renewed, lost and well again in this order: %q", order)
	}
	if n := len(r.seen.of("renewal failed")[slog.LevelWarn]); n != 1 {
		t.Errorf("%d warnings", n)
	}
}
