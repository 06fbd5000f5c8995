package eventlog

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// connLines makes a log and a function that reads it: one line per event, without the time.
func connLines(level slog.Level) (*Conn, func() string) {
	to, r := logger(level)
	return NewConn(to, "commands", "unanswered", nil), r.read
}

func TestOutageIsToldAtItsBeginningItsEndAndEachHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, read := connLines(slog.LevelDebug)
		l.Missed()
		l.Connected("localhost:6379", 7, "here")()
		if got, want := read(), "level=INFO msg=connected connection=commands server=localhost:6379 conn_id=7 conn_addr=here\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		l.Lost(errors.New("cut"), 2)
		l.Missed()
		if got, want := read(), "level=WARN msg=\"connection lost\" connection=commands unanswered=2 error=cut\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		for second := range 70 {
			l.Failed(errors.New("refused"))
			level := "DEBUG"
			if second == 0 {
				level = "WARN"
			}
			told := fmt.Sprintf("level=%s msg=\"cannot connect\" connection=commands down=%v error=refused", level, time.Duration(second)*time.Second+time.Duration(second)*time.Millisecond)
			if got, want := read(), told+"\n"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			l.Missed() // does not begin a new outage
			time.Sleep(time.Second + time.Millisecond)
			if second == 29 || second == 59 {
				told = strings.Replace(told, "DEBUG", "WARN", 1) + fmt.Sprintf(" suppressed=%d\n", second/59+29)
			} else {
				told = ""
			}
			if got := read(); got != told {
				t.Errorf("after %d s: %s, want %s", second, got, told)
			}
		}
		l.Connected("localhost:6380", 9, "there")()
		if got, want := read(), "level=INFO msg=reconnected connection=commands server=localhost:6380 conn_id=9 conn_addr=there down=1m10.07s\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		time.Sleep(time.Hour)
		l.Idle(errors.New("EOF"))
		time.Sleep(time.Hour)
		l.Missed()
		l.Connected("", -1, "")()
		if got, want := read(), "level=INFO msg=\"idle connection ended\" connection=commands error=EOF\nlevel=INFO msg=reconnected connection=commands server=pool down=0s\n"; got != want {
			t.Errorf("%s, want %s: time in which nobody needed it is no outage", got, want)
		}
		l.Failed(errors.New("refused"))
		if got := read(); !strings.HasPrefix(got, "level=WARN") {
			t.Errorf("the next outage begins with %s", got)
		}
	})
}

// The network comes and goes four times a second for 75 seconds.
func TestFlappingConnectionIsToldEachHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, read := connLines(slog.LevelInfo)
		l.Connected("", -1, "")()
		for range 300 {
			l.Lost(errors.New("cut"), 0)
			time.Sleep(time.Millisecond)
			l.Missed()
			l.Failed(errors.New("refused"))
			time.Sleep(99 * time.Millisecond)
			l.Connected("", -1, "")()
			time.Sleep(150 * time.Millisecond)
		}
		lost := `level=WARN msg="connection lost" connection=commands unanswered=0 error=cut`
		failed := `level=WARN msg="cannot connect" connection=commands down=0s error=refused`
		again := "level=INFO msg=reconnected connection=commands server=pool down=99ms\n"
		want := "level=INFO msg=connected connection=commands server=pool\n" +
			lost + "\n" + failed + "\n" + again +
			lost + " suppressed=119\n" + failed + " suppressed=119\n" + again +
			lost + " suppressed=119\n" + failed + " suppressed=119\n" + again
		if got := read(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		// The last line must be true: the connection stays lost.
		l.Lost(errors.New("cut"), 0)
		time.Sleep(time.Millisecond)
		l.Missed()
		l.Failed(errors.New("refused"))
		time.Sleep(16 * time.Second)
		want = lost + " suppressed=60\n" + failed + " suppressed=60\n"
		if got := read(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		l.Connected("", -1, "")()
		if got, want := read(), "level=INFO msg=reconnected connection=commands server=pool down=16s\n"; got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		l.Close()
		if got := read(); got != "" {
			t.Errorf("told after the end: %s", got)
		}
	})
}

func TestConnOfNoLoggerOrALevelThatIsOffCostsNoAllocation(t *testing.T) {
	err := errors.New("trouble")
	off, read := connLines(slog.LevelError)
	for what, l := range map[string]*Conn{"no logger": NewConn(nil, "commands", "unanswered", nil), "a level that is off": off} {
		if n := testing.AllocsPerRun(100, func() {
			l.Missed()
			l.Failed(err)
			l.Lost(err, 0)
			l.GivenUp(err)
			l.Idle(err)
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	if got := read(); got != "" {
		t.Errorf("told: %s", got)
	}
}
