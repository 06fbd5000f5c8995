package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/rlock"
)

// scenario is one fault and a row of the table.
type scenario struct {
	fault string // what goes wrong
	by    string // what makes it go wrong
	times int    // how often at full size
	batch int    // how many of these happen at once in one round; 0 is 1
	lanes int    // how many rounds run at a time; 0 is 8

	alone   bool              // each lane has a server to itself
	args    []string          // further arguments of the server
	user    *redisserver.User // the faulted client's user, if not the default one
	options []rlock.Option    // of the clients, in addition to the command timeout
	timeout time.Duration     // of one command; 0 is the usual 200 ms
	bound   time.Duration     // how long a key may be unowned; 0 is usualBound

	kind  testbed.Kind // of lock; the zero Kind is the plain one
	again int          // how many retries of a faulted command the fault hits too

	topology string // sentinel or cluster: how the clients find the server; empty: by its URL

	moves    bool // the server has a replica to which its address moves; needs alone
	named    bool // the clients reach the server by a name, not by an IP address
	loses    bool // the server loses its data, and with it what was promised
	inexact  bool // the proxy can't tell what ran: replies may get lost behind it
	latches  bool // latches may stay until they expire
	remark   string
	parallel bool // it mostly waits, and runs in parallel with others

	round func(*round)
}

// usualBound is how long a key may be unowned while the server can be reached and allows CLIENT KILL: a command timeout
// to notice the lost reply, and a second for the kill barrier and the undo on a busy machine.
const usualBound = timeout + time.Second

// replicaWait is how much later a lost reply is noticed where a change waits for a replica: the server may take this
// long to answer WAIT.
const replicaWait = time.Second

type row struct {
	scenario
	t *testing.T

	mu         sync.Mutex // guards the rest
	cases      int
	ran        int
	asked      bool // the row counts whether the faulted command ran
	outcomes   map[string]int
	longest    map[string]time.Duration
	highest    map[string]float64
	violations int
	proxies    []*faultproxy.Proxy
}

func (s scenario) run(t *testing.T) *row {
	w := &row{scenario: s, t: t, outcomes: map[string]int{}, longest: map[string]time.Duration{}, highest: map[string]float64{}}
	w.batch, w.lanes = cmp.Or(w.batch, 1), cmp.Or(w.lanes, 8)
	w.timeout, w.bound = cmp.Or(w.timeout, timeout), cmp.Or(w.bound, usualBound)
	if w.kind.New == nil {
		w.kind = testbed.Plain
	}
	if w.topology == sentinel {
		w.bound, w.latches = w.bound+replicaWait, true // an unlock that every replica has leaves its latch for a failover
	}
	rounds := max(1, scaled(w.times)/w.batch)
	lanes := min(w.lanes, rounds)
	began := time.Now()
	var shared *site
	if !w.alone {
		shared = newSite(t, w)
	}
	t.Run("lanes", func(t *testing.T) {
		for n := range lanes {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				at := shared
				if w.alone {
					at = newSite(t, w)
				}
				l := newLane(t, at, n)
				for i := n; i < rounds; i += lanes {
					l.play(i)
					if t.Failed() {
						break
					}
				}
				l.finish()
				if w.alone {
					at.finish(t)
				}
			})
		}
	})
	if shared != nil {
		shared.finish(t)
	}
	t.Logf("%s, %s: %s (%.1f s)", w.fault, w.by, strings.Join(w.cells(), " | "), time.Since(began).Seconds())
	return w
}

// violates records a violation and fails the test.
func (w *row) violates(format string, args ...any) {
	w.t.Helper()
	w.mu.Lock()
	w.violations++
	n := w.violations
	w.mu.Unlock()
	// A thousand equal violations are one finding: the first few are enough.
	if n <= 5 {
		w.t.Errorf("VIOLATION: "+format, args...)
	} else {
		w.t.Fail()
	}
}

// seen lists the last commands for a lock or an owner that passed the proxies, with each CLIENT KILL.
func (w *row) seen(word string) string {
	w.mu.Lock()
	proxies := slices.Clone(w.proxies)
	w.mu.Unlock()
	var b strings.Builder
	for _, p := range proxies {
		for _, e := range p.Record() {
			about := slices.ContainsFunc(e.Cmd, func(arg string) bool {
				return arg == word || strings.Contains(arg, "{"+word+"}")
			})
			if about || faultproxy.Command("CLIENT", "KILL")(e.Cmd) {
				fmt.Fprintf(&b, "\n  %s conn %d %v -> %v at %s (%v)", e.Sent.Format("05.000"), e.Conn, e.Cmd, e.Reply, e.Answered.Format("05.000"), e.Did)
			}
		}
	}
	const most = 6000
	s := b.String()
	return "; passed the proxy:" + s[max(0, len(s)-most):]
}

func (w *row) outcome(kind string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes[kind] += n
}

// counted adds cases to the row, and how often the faulted command ran on the server; ran is -1 if no command is
// faulted.
func (w *row) counted(cases, ran int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cases += cases
	if ran >= 0 {
		w.asked = true
		w.ran += ran
	}
}

// took keeps the longest of what was measured.
func (w *row) took(what string, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.longest[what] = max(w.longest[what], d)
}

// most keeps the highest of what was counted.
func (w *row) most(what string, n float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.highest[what] = max(w.highest[what], n)
}

// cells returns the cells of the table that a run fills.
func (w *row) cells() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ran := "–"
	if w.asked {
		ran = fmt.Sprint(w.ran)
	}
	var outcomes, longest []string
	for _, kind := range slices.SortedFunc(maps.Keys(w.outcomes), func(a, b string) int {
		if d := w.outcomes[b] - w.outcomes[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	}) {
		outcomes = append(outcomes, fmt.Sprintf("%s: %d", kind, w.outcomes[kind]))
	}
	for _, what := range slices.Sorted(maps.Keys(w.longest)) {
		longest = append(longest, fmt.Sprintf("%s: %s", what, rough(w.longest[what])))
	}
	for _, what := range slices.Sorted(maps.Keys(w.highest)) {
		longest = append(longest, fmt.Sprintf("%s: %.1f", what, w.highest[what]))
	}
	if w.remark != "" {
		outcomes = append(outcomes, w.remark)
	}
	return []string{fmt.Sprint(w.cases), ran, strings.Join(outcomes, "; "), strings.Join(longest, "; "), fmt.Sprint(w.violations)}
}

func rough(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// The outcomes of a call, as the table names them.
const (
	ok           = "nil"
	uncertain    = "ErrUncertain"
	unreachable  = "cannot be reached"
	locked       = "ErrLocked"
	leaseLost    = "ErrLeaseLost"
	notHeld      = "ErrNotHeld"
	lostNotHeld  = "ErrLeaseLost and ErrNotHeld"
	ctxEnded     = "ctx's error"
	unreplicated = "ErrUnreplicated"
	reentered    = "ErrReentered"
	readOnly     = "reported as READONLY"
	undocumented = ""
)

// kindOf names an error. It returns undocumented for one that the API's comments do not mention.
func kindOf(err error) string {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ctxEnded
	case errors.Is(err, rlock.ErrLeaseLost) && errors.Is(err, rlock.ErrNotHeld):
		return lostNotHeld
	case errors.Is(err, rlock.ErrUncertain):
		return uncertain
	case errors.Is(err, rlock.ErrLocked):
		return locked
	case errors.Is(err, rlock.ErrLeaseLost):
		return leaseLost
	case errors.Is(err, rlock.ErrNotHeld):
		return notHeld
	case errors.Is(err, rlock.ErrReentered):
		return reentered
	case errors.Is(err, rlock.ErrReleased):
		return "ErrReleased"
	case errors.Is(err, rlock.ErrClosed):
		return "ErrClosed"
	case errors.Is(err, rlock.ErrUnreplicated):
		return unreplicated
	}
	if !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrRefused) {
		return undocumented
	}
	if re, is := errors.AsType[redis.Error](err); is {
		code, _, _ := strings.Cut(string(re), " ")
		return "reported as " + code
	}
	if _, is := errors.AsType[*pipeline.NotSentError](err); is {
		return unreachable
	}
	return undocumented
}
