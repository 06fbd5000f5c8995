//go:build unix

package cookbook_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestCronRunsOnceAcrossTheFleet(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	minute := time.Now().UTC().Truncate(time.Minute).Add(-3 * time.Minute)
	at := func(m time.Time) string { return "-at=" + m.Format(time.RFC3339) }

	// All at once.
	var fleet []*process
	for range 5 {
		fleet = append(fleet, start(t, server, "cron", at(minute), "-work=300ms"))
	}
	ran := 0
	for _, p := range fleet {
		if code := p.end(); code != 0 || p.count("done")+p.count("skipped") != 1 {
			t.Errorf("exit code %d, %q", code, p.printed())
		}
		ran += p.count("done")
	}
	if runs := number(t, conn, "LLEN", "{report}:runs"); ran != 1 || runs != 1 {
		t.Fatalf("%d processes say that they did it, it was done %d times", ran, runs)
	}

	// A process that is late, and one whose clock is.
	start(t, server, "cron", at(minute.Add(59*time.Second))).wantEnd(0, "skipped")
	start(t, server, "cron", at(minute.Add(-time.Minute))).wantEnd(0, "skipped")

	// One whose clock is ahead does nothing, and costs nobody the next period.
	start(t, server, "cron", at(time.Now().Add(time.Hour))).wantEnd(1, "this machine's clock is ahead")
	if runs := number(t, conn, "LLEN", "{report}:runs"); runs != 1 {
		t.Fatalf("done %d times", runs)
	}

	// The next period.
	start(t, server, "cron", at(minute.Add(time.Minute))).wantEnd(0, "done")
	if runs := number(t, conn, "LLEN", "{report}:runs"); runs != 2 {
		t.Errorf("done %d times in two periods", runs)
	}
	if left := number(t, conn, "EXISTS", "report"); left != 0 {
		t.Error("the lock is left")
	}
}

func TestCronIsTakenOverFromACrashedMachine(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	now := "-at=" + time.Now().UTC().Format(time.RFC3339)
	first := start(t, server, "cron", now, fmt.Sprint("-watchdog=", lease), "-work=1h")
	first.await("runs")
	second := start(t, server, "cron", now)
	first.signal(syscall.SIGKILL)
	second.wantEnd(0, "done")
	if runs := number(t, conn, "LLEN", "{report}:runs"); runs != 2 {
		t.Errorf("begun %d times", runs)
	}
}

// A machine that stood still in its job wakes when others have gone on.
func TestCronNeverGoesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	now := time.Now().UTC() // read once: a minute may begin meanwhile
	period := func(n int) string {
		return "-at=" + now.Add(time.Duration(n-3)*time.Minute).Format(time.RFC3339)
	}
	flag := fmt.Sprint("-watchdog=", lease)
	slow := start(t, server, "cron", period(1), flag, "-work=5s")
	slow.await("runs")
	slow.signal(syscall.SIGSTOP)
	start(t, server, "cron", period(2)).wantEnd(0, "done")
	last := number(t, conn, "GET", "{report}:last-done")
	slow.signal(syscall.SIGCONT)
	slow.end()
	if now := number(t, conn, "GET", "{report}:last-done"); now != last || last == 0 {
		t.Errorf("the last period that was done went from %d to %d", last, now)
	}
	start(t, server, "cron", period(2)).wantEnd(0, "skipped")
}
