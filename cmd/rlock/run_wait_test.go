package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// The status of a lock that is not acquired can be chosen, as with flock. A command's own status 75 stays.
func TestConflictExitCode(t *testing.T) {
	t.Parallel()
	url := single(t)
	acquire(t, open(t, url).NewLock("taken"))
	if out := ended(t, 0, url, "run", "-q", "--wait", "0", "-E", "0", "taken", "--", "true"); out != "" {
		t.Error(out)
	}
	if out := ended(t, 9, url, "run", "--wait", "0", "--conflict-exit-code", "9", "taken", "--", "true"); !strings.Contains(out, "taken is held by") {
		t.Error(out)
	}
	ended(t, notAcquired, url, "run", "-E", "9", "free", "--", "sh", "-c", "exit 75")
	ended(t, usage, url, "run", "-E", "256", "free", "--", "true")
}

// The time for a connection is a part of --wait.
func TestWaitCountsConnecting(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Pause()
	defer s.Resume()
	out := ended(t, unreachable, s.URL(), "--timeout", "1m", "run", "--wait", "500ms", "lock", "--", "true")
	if !strings.Contains(out, "no connection within the 500ms of --wait") {
		t.Error(out)
	}
}

// A run inside the command of another one for the same lock enters again, and does not shorten the outer lease.
func TestNestedRunEntersAgain(t *testing.T) {
	t.Parallel()
	url := single(t)
	nested := isTool + `=1 "$0" run --wait 0 `
	for _, row := range []struct {
		kind, lease string
		least       time.Duration
	}{{"lock", "0", time.Second}, {"lock", "10m", 9 * time.Minute}, {"fair", "0", time.Second}, {"write", "0", time.Second}, {"fenced", "10m", 9 * time.Minute}} {
		name := row.kind + row.lease
		out := ended(t, 0, url, "run", "--kind", row.kind, "--lease", row.lease, name, "--", "sh", "-c", nested+"--kind "+row.kind+" "+name+` -- sh -c 'echo inner $RLOCK_OWNER' && echo outer $RLOCK_OWNER && `+
			isTool+`=1 "$0" held -o json `+name, os.Args[0])
		lines := strings.Split(out, "\n")
		if len(lines) < 3 || strings.TrimPrefix(lines[0], "inner ") != strings.TrimPrefix(lines[1], "outer ") || !strings.Contains(lines[2], `"count":1`) {
			t.Errorf("%s: %s", name, out)
			continue
		}
		_, after, _ := strings.Cut(lines[2], `"ttl_ms":`)
		ms, _, _ := strings.Cut(after, ",")
		if left, err := time.ParseDuration(strings.TrimRight(ms, "}") + "ms"); err != nil || left < row.least {
			t.Errorf("%s: %v are left, %v", name, left, err)
		}
	}
	acquire(t, open(t, url).NewLock("taken"), rlock.Lease(time.Minute))
	ended(t, 0, url, "run", "other", "--", "sh", "-c", nested+`taken -- true; test $? = 75`, os.Args[0]) // another lock is waited for
}
