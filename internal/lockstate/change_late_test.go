package lockstate

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
)

// lines is a log that tests may read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), what)
}

// What nobody waits for any more, and no server runs for as long as it is sent, is told in the log.
func TestReleaseThatIsGivenUpInTheBackgroundIsLogged(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var log lines
	o := config()
	o.Timeout, o.Logger = 300*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
	c := openWith(t, s, o)
	c.ChangeFor = 4 * time.Second
	l := c.NewLock(kind.Semaphore(1), "seats", "seats")
	s.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Change(ctx, true, func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, "add", 1, 0) }); err == nil {
		t.Fatal("no server, and no error")
	}
	const given = `msg="change failed"`
	if log.has(given) {
		t.Error("it is told before it is given up")
	}
	for end := time.Now().Add(time.Minute); !log.has(given); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody is told")
		}
	}
	if !log.has("lock=seats") {
		t.Error("it does not say which")
	}
}
