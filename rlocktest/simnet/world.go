// Package simnet carries no promise: it is for the project's own tests, and may change or go in any release.
//
// It is a network inside one testing/synctest bubble. Connections are queues of
// bytes in memory, and every delay is virtual.
package simnet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// World is the one lock, the one source of randomness and the one history of a simulation.
// Servers and connections run under its lock, which is never held while anything waits, so
// that a goroutine that waits for it does not hold up the bubble's clock.
type World struct {
	Mu   sync.Mutex
	Rand *rand.Rand // used with Mu held

	begun  time.Time
	hash   uint64
	Log    []string // the history, if Keep
	Keep   bool
	Events int  // so far
	Native bool // connections are like sockets
	Room   int  // bytes that may wait in one direction; 0: any number

	// AtDelivery has functions that run when the next bytes reach a client's host, in that very instant.
	AtDelivery map[string][]func()

	hosts  map[string]Handler // by address
	order  []Handler          // in the order in which they came
	links  map[[2]string]*Link
	paused map[string]chan struct{} // by host; closed when it resumes
	ports  int
	all    []*Conn
}

// New makes a world. It must be called in the bubble.
func New(seed uint64) *World {
	return &World{
		Rand: rand.New(rand.NewPCG(seed, 0x5eed)), begun: time.Now(), hosts: map[string]Handler{}, paused: map[string]chan struct{}{},
		AtDelivery: map[string][]func(){}, links: map[[2]string]*Link{}, ports: 40000,
	}
}

// Since is the time since the world began.
func (w *World) Since() time.Duration { return time.Since(w.begun) }

// After calls f with Mu held, after d and up to a microsecond, so that no two events have
// the same time. It is called with Mu held.
func (w *World) After(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(max(d, 0)+time.Duration(w.Rand.Int64N(1000)), func() {
		w.Mu.Lock()
		defer w.Mu.Unlock()
		w.Events++
		f()
	})
}

// Note adds to the history. It is called with Mu held. The text is made only if it is kept.
func (w *World) Note(format string, args ...any) {
	h := mix(mixString(w.hash, format), uint64(w.Since()))
	for _, a := range args {
		h = mixAny(h, a)
	}
	w.hash = h
	if w.Keep {
		w.Log = append(w.Log, fmt.Sprintf("%d ", w.Since())+fmt.Sprintf(format, args...))
	}
}

// Hash is that of the history so far.
func (w *World) Hash() uint64 {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.hash
}

// prime is FNV's.
const prime = 1099511628211

func mix(h, v uint64) uint64 { return (h ^ v) * prime }

func mixString[T string | []byte](h uint64, s T) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return mix(h, uint64(len(s)))
}

func mixAny(h uint64, v any) uint64 {
	switch v := v.(type) {
	case string:
		return mixString(h, v)
	case []byte:
		return mixString(h, v)
	case []string:
		for _, s := range v {
			h = mixString(h, s)
		}
		return h
	case int:
		return mix(h, uint64(v))
	case int64:
		return mix(h, uint64(v))
	case time.Duration:
		return mix(h, uint64(v))
	}
	return mixString(h, fmt.Sprint(v))
}

// Handler is a server. Its methods are called with Mu held.
type Handler interface {
	// Up tells whether it takes connections; silent that it does not even refuse them.
	Up() (up, silent bool)
	Accept(p *Peer)
	Input(p *Peer, b []byte)
	Closed(p *Peer) // by the client or the network; what has come was given to Input before
}

// Listen makes h the server at an address; nil: nobody is there any more.
func (w *World) Listen(addr string, h Handler) {
	if was := w.hosts[addr]; was != nil {
		w.order = slices.DeleteFunc(w.order, func(o Handler) bool { return o == was })
	}
	if h == nil {
		delete(w.hosts, addr)
		return
	}
	w.hosts[addr], w.order = h, append(w.order, h)
}

// Handlers returns all servers, in the order in which they came. It must not be changed.
func (w *World) Handlers() []Handler { return w.order }

// Conns returns the open connections, in the order in which they were made.
func (w *World) Conns(keep func(c *Conn) bool) (open []*Conn) {
	return w.conns(func(c *Conn) bool { return !c.gone && keep(c) })
}

// conns is Conns with those that their server has closed and whose client has not learnt of it yet.
func (w *World) conns(keep func(c *Conn) bool) (kept []*Conn) {
	live := w.all[:0]
	for _, c := range w.all {
		if !c.gone || !c.closed && c.end == nil {
			live = append(live, c)
			if keep(c) {
				kept = append(kept, c)
			}
		}
	}
	clear(w.all[len(live):])
	w.all = live
	return kept
}

// At returns the server at an address; nil: none.
func (w *World) At(addr string) Handler { return w.hosts[addr] }
