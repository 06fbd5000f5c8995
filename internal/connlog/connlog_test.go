package connlog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lines makes a log and what reads it: one line an event, without the time.
func lines(level slog.Level) (*Log, func() string) {
	text := &record{}
	h := slog.NewTextHandler(text, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return New(slog.New(h), "commands"), func() string {
		text.mu.Lock()
		defer text.mu.Unlock()
		defer text.Reset()
		return text.String()
	}
}

// record is written to by timers as well.
type record struct {
	mu sync.Mutex // guards the buffer
	bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Buffer.Write(b)
}

func TestOutageIsToldAtItsBeginningItsEndAndEachHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, read := lines(slog.LevelDebug)
		l.Missed()
		l.Connected("localhost:6379", slog.Int("conn_id", 7))
		if got, want := read(), "level=INFO msg=connected connection=commands server=localhost:6379 conn_id=7\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		l.Lost(errors.New("cut"), slog.Int("unanswered", 2))
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
			l.Missed() // does not begin it anew
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
		l.Connected("localhost:6380", slog.Int("conn_id", 9))
		if got, want := read(), "level=INFO msg=reconnected connection=commands server=localhost:6380 conn_id=9 down=1m10.07s\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		time.Sleep(time.Hour)
		l.Idle(errors.New("EOF"))
		time.Sleep(time.Hour)
		l.Missed()
		l.Connected("")
		if got, want := read(), "level=INFO msg=\"idle connection ended\" connection=commands error=EOF\nlevel=INFO msg=reconnected connection=commands server=pool down=0s\n"; got != want {
			t.Errorf("%s, want %s: time in which nobody needed it is no outage", got, want)
		}
		l.Failed(errors.New("refused"))
		if got := read(); !strings.HasPrefix(got, "level=WARN") {
			t.Errorf("the next outage begins with %s", got)
		}
	})
}

// A network that comes and goes four times a second, for a minute and a quarter.
func TestFlappingConnectionIsToldEachHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, read := lines(slog.LevelInfo)
		l.Connected("")
		for range 300 {
			l.Lost(errors.New("cut"))
			time.Sleep(time.Millisecond)
			l.Missed()
			l.Failed(errors.New("refused"))
			time.Sleep(99 * time.Millisecond)
			l.Connected("")
			time.Sleep(150 * time.Millisecond)
		}
		lost := `level=WARN msg="connection lost" connection=commands error=cut`
		failed := `level=WARN msg="cannot connect" connection=commands down=0s error=refused`
		again := "level=INFO msg=reconnected connection=commands server=pool down=99ms\n"
		want := "level=INFO msg=connected connection=commands server=pool\n" +
			lost + "\n" + failed + "\n" + again +
			lost + " suppressed=119\n" + failed + " suppressed=119\n" + again +
			lost + " suppressed=119\n" + failed + " suppressed=119\n" + again
		if got := read(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		// The last word is the truth: it does not come back.
		l.Lost(errors.New("cut"))
		time.Sleep(time.Millisecond)
		l.Missed()
		l.Failed(errors.New("refused"))
		time.Sleep(16 * time.Second)
		want = lost + " suppressed=60\n" + failed + " suppressed=60\n"
		if got := read(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		l.Connected("")
		if got, want := read(), "level=INFO msg=reconnected connection=commands server=pool down=16s\n"; got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		l.Close()
		if got := read(); got != "" {
			t.Errorf("told after the end: %s", got)
		}
	})
}

func TestNoLoggerAndALevelThatIsOffCostNoAllocation(t *testing.T) {
	err := errors.New("trouble")
	off, read := lines(slog.LevelError)
	for what, l := range map[string]*Log{"no logger": New(nil, "commands"), "a level that is off": off} {
		if n := testing.AllocsPerRun(100, func() {
			l.Missed()
			l.Failed(err)
			l.Lost(err)
			l.GivenUp(err)
			l.Idle(err)
			l.Connected("")
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	if got := read(); got != "" {
		t.Errorf("told: %s", got)
	}
}
