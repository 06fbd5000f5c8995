package connlog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// lines makes a log and what reads it: one line an event, without the time.
func lines(level slog.Level) (*Log, func() string) {
	var text bytes.Buffer
	h := slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	return New(slog.New(h), "commands"), func() string {
		defer text.Reset()
		return text.String()
	}
}

func TestOutageIsToldAtItsBeginningItsEndAndEachHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, read := lines(slog.LevelDebug)
		l.Missed()
		l.Connected(slog.Int("conn_id", 7))
		if got, want := read(), "level=INFO msg=connected connection=commands conn_id=7\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		l.Lost(errors.New("cut"), slog.Int("unanswered", 2))
		l.Missed()
		if got, want := read(), "level=WARN msg=\"connection lost\" connection=commands unanswered=2 error=cut\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		for second := range 70 {
			l.Failed(errors.New("refused"))
			level := slog.LevelDebug
			if second == 0 || second == 30 || second == 60 {
				level = slog.LevelWarn
			}
			if got, want := read(), fmt.Sprintf("level=%s msg=\"cannot connect\" connection=commands down=%v error=refused\n", level, time.Duration(second)*time.Second); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			l.Missed() // does not begin it anew
			time.Sleep(time.Second)
		}
		l.Connected(slog.Int("conn_id", 9))
		if got, want := read(), "level=INFO msg=reconnected connection=commands conn_id=9 down=1m10s\n"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		time.Sleep(time.Hour)
		l.Idle(errors.New("EOF"))
		time.Sleep(time.Hour)
		l.Missed()
		l.Connected()
		if got, want := read(), "level=INFO msg=\"idle connection ended\" connection=commands error=EOF\nlevel=INFO msg=reconnected connection=commands down=0s\n"; got != want {
			t.Errorf("%s, want %s: time in which nobody needed it is no outage", got, want)
		}
		l.Failed(errors.New("refused"))
		if got := read(); !strings.HasPrefix(got, "level=WARN") {
			t.Errorf("the next outage begins with %s", got)
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
			l.Idle(err)
			l.Connected()
		}); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	if got := read(); got != "" {
		t.Errorf("told: %s", got)
	}
}
