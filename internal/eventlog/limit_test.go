package eventlog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// record is a logger's output: one line per event, without the time.
type record struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// read returns what was written since the last read.
func (r *record) read() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.text.Reset()
	return r.text.String()
}

func logger(level slog.Level) (*slog.Logger, *record) {
	r := &record{}
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), r
}

// testLine is a line with one message.
type testLine struct {
	w       *lines
	message string
	first   int
}

func (l testLine) tell(ctx context.Context, attrs ...slog.Attr) {
	l.w.write(ctx, slog.LevelWarn, l.message, l.first, attrs)
}

func (l testLine) over() (time.Duration, int, bool) { return l.w.find(l.message).over() }

func says(t *testing.T, r *record, want ...string) {
	t.Helper()
	if got := r.read(); got != strings.Join(want, "") {
		t.Errorf("told:\n%s, want:\n%s", got, strings.Join(want, ""))
	}
}

func TestFirstIsToldAtOnceAndThenOneEachHalfMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, r := logger(slog.LevelWarn)
		l := testLine{&lines{logger: to}, "trouble", 1}
		tell := func(n int) { l.tell(t.Context(), slog.Int("n", n)) }
		tell(0)
		says(t, r, "level=WARN msg=trouble n=0\n")
		for n := 1; n < 10; n++ {
			time.Sleep(time.Second)
			tell(n)
		}
		says(t, r)
		time.Sleep(20 * time.Second)
		says(t, r)
		time.Sleep(2 * time.Second)
		says(t, r, "level=WARN msg=trouble n=9 suppressed=9\n")
		tell(10)
		time.Sleep(27 * time.Second)
		tell(11)
		says(t, r)
		time.Sleep(3 * time.Second)
		says(t, r, "level=WARN msg=trouble n=11 suppressed=2\n")
		// Without an event nothing is logged, and after half a minute without any the count starts again.
		time.Sleep(time.Hour)
		says(t, r)
		tell(12)
		says(t, r, "level=WARN msg=trouble n=12\n")
	})
}

func TestSomeAreToldBeforeAnyIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, r := logger(slog.LevelWarn)
		l := testLine{&lines{logger: to}, "lost", 3}
		for range 2 {
			for n := range 100_000 {
				l.tell(t.Context(), slog.Int("n", n))
			}
			says(t, r, "level=WARN msg=lost n=0\n", "level=WARN msg=lost n=1\n", "level=WARN msg=lost n=2\n")
			time.Sleep(window)
			synctest.Wait()
			says(t, r, "level=WARN msg=lost n=99999 suppressed=99997\n")
			// While they go on, one is logged per half minute.
			l.tell(t.Context(), slog.Int("n", 1))
			says(t, r)
			time.Sleep(window)
			synctest.Wait()
			says(t, r, "level=WARN msg=lost n=1 suppressed=1\n")
			time.Sleep(window)
		}
	})
}

func TestWhatIsHeldBackIsToldAtDebugLevel(t *testing.T) {
	to, r := logger(slog.LevelDebug)
	l := testLine{&lines{logger: to}, "trouble", 1}
	for n := range 2 {
		l.tell(t.Context(), slog.Int("n", n))
	}
	says(t, r, "level=WARN msg=trouble n=0\n", "level=DEBUG msg=trouble n=1\n")
	l.over()
	l.w.end()
	says(t, r)
}

func TestEndIsOfWhatWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, r := logger(slog.LevelWarn)
		l := testLine{&lines{logger: to}, "trouble", 1}
		over := func(lasted time.Duration, count int, spoke bool) {
			t.Helper()
			if d, n, s := l.over(); d != lasted || n != count || s != spoke {
				t.Errorf("over after %v, %d, told %v, want %v, %d, %v", d, n, s, lasted, count, spoke)
			}
		}
		over(0, 0, false)
		for range 14 {
			l.tell(t.Context())
			time.Sleep(100 * time.Millisecond)
		}
		over(1400*time.Millisecond, 14, true)
		says(t, r, "level=WARN msg=trouble\n")
		over(0, 0, false)
		// It flaps. The end of an event that was not logged is not logged either. The event is only counted.
		l.tell(t.Context())
		time.Sleep(time.Second)
		over(time.Second, 1, false)
		time.Sleep(time.Minute)
		says(t, r)
		l.tell(t.Context())
		says(t, r, "level=WARN msg=trouble suppressed=14\n")
		// An event that is logged at the end of the half minute has its end logged, too.
		over(0, 1, true)
		l.tell(t.Context())
		time.Sleep(window)
		synctest.Wait()
		says(t, r, "level=WARN msg=trouble suppressed=1\n")
		over(window, 1, true)
	})
}

func TestCloseTellsWhatIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, r := logger(slog.LevelWarn)
		l := testLine{&lines{logger: to}, "trouble", 1}
		for n := range 5 {
			l.tell(t.Context(), slog.Int("n", n))
		}
		r.read()
		l.w.end()
		says(t, r, "level=WARN msg=trouble n=4 suppressed=4\n")
		l.tell(t.Context())
		l.w.end()
		time.Sleep(time.Hour)
		says(t, r)
	})
}

func TestManyAtOnceAreCounted(t *testing.T) {
	to, r := logger(slog.LevelWarn)
	l := testLine{&lines{logger: to}, "trouble", 10}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				l.tell(t.Context())
			}
		})
	}
	all.Wait()
	l.w.end()
	told := r.read()
	if lines := strings.Count(told, "\n"); lines != 11 || !strings.HasSuffix(told, fmt.Sprintf("suppressed=%d\n", 8*1000-10)) {
		t.Errorf("%d lines: %s", lines, told)
	}
}
