package rlock

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// anHour is the lease of holds that the test releases: a waiter that is not woken does not enter.
var anHour = WithWatchdogTimeout(time.Hour)

// When a writer that also reads stops writing, other readers enter at once.
func TestDowngradeLetsAllReadersIn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s, anHour), open(t, s, anHour)
	read, write := both(a, "doc")
	w := lockOf(t, write)
	r := lockOf(t, read, As(w.Owner()))
	var waiting []<-chan *Hold
	for i := range 6 {
		l, _ := both([]*Client{a, b}[i%2], "doc")
		waiting = append(waiting, inBackground(t, l))
	}
	for _, c := range []*Client{a, b} {
		l, _ := both(c, "doc")
		awaitWaiting(t, l, 3)
	}
	mustUnlock(t, w)
	holds := []*Hold{r}
	for _, got := range waiting {
		holds = append(holds, <-got)
	}
	for _, h := range holds {
		if err := h.Err(); err != nil {
			t.Error(err)
		}
	}
	_, other := both(b, "doc")
	if _, err := other.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("beside readers: %v", err)
	}
	next := inBackground(t, other)
	rwListening(t, s, "doc", 1)
	for _, h := range holds {
		mustUnlock(t, h)
	}
	mustUnlock(t, <-next)
	nothingLeft(t, s)
}

// The writer last saw the TTL of the longer lease. The release of that hold brings the end of the lock forward to the other
// reader's, without a message.
func TestWriterEntersWhenTheLastReadersLeaseEnds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b, c := open(t, s, anHour), open(t, s, anHour), open(t, s)
	readA, _ := both(a, "doc")
	readB, _ := both(b, "doc")
	_, write := both(c, "doc")
	long, short := lockOf(t, readA, Lease(time.Hour)), lockOf(t, readB, Lease(1500*time.Millisecond))
	entered := inBackground(t, write)
	rwListening(t, s, "doc", 1)
	becomes(t, "the writer has its answer", func() bool { return !write.l.Snapshot().InFlight })
	mustUnlock(t, long)
	h := <-entered
	mustUnlock(t, h)
	if err := short.Err(); err == nil {
		t.Error("the reader holds on")
	}
}

func TestWritersEnterOneByOne(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s, anHour), open(t, s, anHour)
	read, _ := both(a, "doc")
	r := lockOf(t, read)
	got := make(chan *Hold, 6)
	for i := range 6 {
		_, l := both([]*Client{a, b}[i%2], "doc")
		go func() { got <- lockOf(t, l) }()
	}
	rwListening(t, s, "doc", 2)
	mustUnlock(t, r)
	for range 6 {
		h := <-got
		select {
		case <-got:
			t.Fatal("two write")
		case <-time.After(5 * time.Millisecond):
		}
		mustUnlock(t, h)
	}
	nothingLeft(t, s)
}

// There is no queue among processes, so readers that overlap can keep a writer out.
func TestReadersThatOverlapKeepAWriterOut(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	read, _ := both(open(t, s), "doc")
	_, write := both(open(t, s), "doc")
	reads := lockOf(t, read)
	waits := inBackground(t, write)
	rwListening(t, s, "doc", 1)
	for range 50 {
		next := lockOf(t, read)
		mustUnlock(t, reads)
		reads = next
		select {
		case <-waits:
			t.Fatal("one writes beside a reader")
		case <-time.After(5 * time.Millisecond):
		}
	}
	mustUnlock(t, reads)
	mustUnlock(t, <-waits)
	nothingLeft(t, s)
}

// Readers that are let in by one message make one attempt each.
func TestReadersOfAClientTryTogether(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s, anHour), open(t, s, anHour)
	_, write := both(a, "doc")
	read, _ := both(b, "doc")
	w := lockOf(t, write)
	var waiting []<-chan *Hold
	for range 50 {
		waiting = append(waiting, inBackground(t, read))
	}
	awaitWaiting(t, read, 50)
	tap := monitor.Tap(t, s.URL())
	mustUnlock(t, w)
	for _, got := range waiting {
		defer mustUnlock(t, <-got)
	}
	tries := 0
	for _, l := range tap.Mark() {
		if l.Is("EVALSHA") && l.Args[1] == luasrc.ReadLockScript.SHA1 {
			tries++
		}
	}
	if tries != 50 {
		t.Errorf("%d tries let 50 readers in", tries)
	}
}
