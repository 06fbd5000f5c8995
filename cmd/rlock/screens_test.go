package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A permit's id names no client, so show does not say that a process waits which may hold one. The TTL of permits is that of the
// one that expires first.
func TestProcessesThatUsePermits(t *testing.T) {
	t.Parallel()
	url := single(t)
	sem := open(t, url).NewPermitSemaphore("gate")
	if _, err := sem.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	for _, lease := range []rlock.PermitOption{rlock.Lease(100 * patience), rlock.Lease(10 * patience)} {
		if _, err := sem.TryAcquire(t.Context(), 1, lease); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // one gets the third permit, one waits
		c := begin(t, url, "run", "--wait", "-1s", "--kind", "permit", "--lease", "1h", "gate", "--", "sleep", "300")
		defer func() {
			_ = c.Process.Signal(os.Interrupt)
			c.status()
		}()
	}
	becomes(t, "one waits", func() bool { s := shown(t, url, "gate"); return s.taken() == 3 && s.waiting() == 1 }, nothing)
	out := ended(t, 0, url, "show", "gate")
	if uses := regexp.MustCompile(`(?m)^uses +rlock-run:gate:\S+ from \S+, connected for \d+s$`).FindAllString(out, -1); len(uses) != 2 || strings.Contains(out, "waits") {
		t.Error(out)
	}
	if !regexp.MustCompile(`(?m)^TTL +[45]m\d+s, of the permit that expires first$`).MatchString(out) {
		t.Error(out)
	}
	if out := ended(t, 0, url, "ls"); !regexp.MustCompile(`(?m)^gate +permits +[45]m\d+s +3 \(0 free\)`).MatchString(out) {
		t.Error(out)
	}
}

// A key without a TTL is found by doctor, and no sentence says that its TTL expires.
func TestKeyWithoutATTL(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	acquire(t, open(t, s.URL()).NewLock("lock"), rlock.Lease(patience))
	if n, err := s.Dial(t).Do("PERSIST", "lock"); n != int64(1) || err != nil {
		t.Fatal(n, err)
	}
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"doctor"}, "warn  leases        lock never expires, "},
		{[]string{"held", "lock"}, ":1, never expires\n"},
		{[]string{"unlock", "--force", "--yes", "lock"}, "\nnever expires, 0 waiting\n"},
	} {
		if out := ended(t, 0, s.URL(), row.args...); !strings.Contains(out, row.says) {
			t.Errorf("%q: %s", row.args, out)
		}
	}
}

// doctor's own lock is none of the names of a limited account. So doctor says how to look at those.
func TestDoctorOfALimitedAccount(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("ACL", words("SETUSER worker on nopass ~orders:* ~redisson_unlock_latch:{orders:*}:* ~redisson_lock__channel:{orders:*} &* +@all")...); err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(s.URL(), "redis://", "redis://worker:any@", 1)
	out := ended(t, 1, url, "doctor")
	if n := strings.Count(out, "say how they begin by --prefix, which is rlock-doctor: now"); n != 2 {
		t.Errorf("it says so %d times, not for the account and for the scripts: %s", n, out)
	}
	if out := ended(t, 0, url, "doctor", "--prefix", "orders:"); !strings.Contains(out, "ok    account       account worker may use locks") || strings.Contains(out, "--prefix") {
		t.Error(out)
	}
}

// Nobody holds what is kept for the rest of an AtLeast, so the question names no holder.
func TestQuestionNamesWhatIsKept(t *testing.T) {
	t.Parallel()
	url := single(t)
	h := acquire(t, open(t, url).NewLock("nightly"), rlock.AtLeast(10*patience))
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	asks := prepare(t, url, "unlock", "--force", "nightly")
	f, read := asks.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
	asks.says("Free it before its AtLeast is over? Nobody holds it. [y/N]")
	if _, err := f.WriteString("n\n"); err != nil {
		t.Fatal(err)
	}
	asks.status()
	<-read
	if strings.Contains(asks.out.String(), "may still work") {
		t.Errorf("%s", &asks.out)
	}
}

// permits without a change says how many there are, and what else the key is. ls shows numbers if it is asked for that kind.
func TestPermitsAndNumbersAreShown(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL())
	if _, err := c.NewPermitSemaphore("gate").TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	acquire(t, c.NewReadWriteLock("prices").ReadLock(), rlock.Lease(10*patience))
	if _, err := s.Dial(t).Do("SET", "text", "x"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		status     int
		args, says string
	}{
		{0, "permits gate", "gate has 3 free permits\n"},
		{usage, "permits gate set", "it is: rlock permits NAME, or with set N, add N, or release ID…"},
		{usage, "permits none", "none does not exist"},
		{usage, "permits prices", "prices has no permits: it is a read-write lock, held by readers"},
		{usage, "permits text set 1 --yes", "it is a string"},
		{usage, "unlock --force --yes gate", "it is a number, such as a semaphore's or a latch's"},
		{0, "unlock --force --yes prices", "prices (read-write, by readers) is held by\n"},
		{0, "ls --kind number", "gate  number"},
		{0, "ls --kind fair", "rlock: no lock matches\n"},
		{0, "ls --match nothing", "rlock: no lock matches\n"},
	} {
		if out := ended(t, row.status, s.URL(), strings.Fields(row.args)...); !strings.Contains(out, row.says) {
			t.Errorf("%s: %s", row.args, out)
		}
	}
	if out := ended(t, 0, s.URL(), "ls"); strings.Contains(out, "matches") {
		t.Errorf("without a filter: %s", out)
	}
}

// The TTLs of a screen have as many digits at each look.
func TestTimesKeepTheirWidth(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{0: "0.0s", 99: "0.0s", 9_000: "9.0s", 29_972: "29.9s", 59_999: "59.9s", 60_000: "1m0s", 299_900: "4m59s", 3_600_000: "1h0m0s"} {
		if got := milliseconds(ms); got != want {
			t.Errorf("%d ms: %s, not %s", ms, got, want)
		}
	}
}

// A narrow table says less about the rest of an AtLeast, and has its client.
func TestNarrowTableHasWhoKeeps(t *testing.T) {
	t.Parallel()
	left := int64(1000)
	all := []*state{{Name: "the-job-of-each-night", Kind: plain, KeptBy: "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11", TTL: &left}}
	for columns, want := range map[int]string{70: "  kept by 7f3c1a52…\n", 90: "  released, kept by 7f3c1a52…\n", 200: "  released, kept by 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11\n"} {
		if got := table(all, columns); !strings.HasSuffix(got, want) {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}

// A command's help has its own flags, and points at those of every command.
func TestHelpPointsAtTheFlagsOfEveryCommand(t *testing.T) {
	t.Parallel()
	out := ended(t, 0, "", "ls", "--help")
	if strings.Contains(out, "--password-file") || strings.Contains(out, "Global") || !strings.HasSuffix(out, "\n\n\"rlock help\" has the flags of every command, such as --url and --tls.\n") {
		t.Error(out)
	}
	if out := ended(t, 0, "", "help"); !strings.Contains(out, "--password-file") || strings.Contains(out, "has the flags of every command") {
		t.Error(out)
	}
}
