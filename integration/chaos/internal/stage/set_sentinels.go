package stage

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// watchSentinels records a void for each failover that no fault asked for: on a busy machine the Sentinels replace a live
// master.
func (s *Stage) watchSentinels(stop <-chan struct{}) {
	set := s.set
	for {
		v := set.newFailover(machineclock.Now())
		calm, over := s.Book.VoidingSince(history.Every, "the Sentinels failed over by themselves", v.spares)
		epoch := set.Watched.Epoch()
		for excused := true; excused; {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			now := set.Watched.Epoch()
			if excused = now <= epoch || set.excused.Load(); excused {
				epoch = max(epoch, now)
				v.from.Store(machineclock.Now())
				calm()
			}
		}
		s.Logf("note: the Sentinels failed over by themselves")
		v.remains(func(*redistest.Server, int) bool { return true })
		s.refill()
		over()
	}
}

// failover is a change of the Sentinels' master.
type failover struct {
	set  *set
	from atomic.Int64
	gate atomic.Int32 // index of the remaining master; -1: not known
	left atomic.Int64 // since when no Go client uses another master

	twice atomic.Bool // the master was moved more than once
}

func (s *set) newFailover(from int64) *failover {
	v := &failover{set: s}
	v.from.Store(from)
	v.gate.Store(-1)
	v.left.Store(math.MaxInt64)
	return v
}

// remains returns once all clients have heard of the failover and one server alone calls itself a master, or after
// patience. It records that master, unless the Sentinels moved it again: on a busy machine they do, even to a server that came
// back empty. expected gets the master and its epoch.
func (v *failover) remains(expected func(master *redistest.Server, epoch int) bool) {
	time.Sleep(heard)
	watched := v.set.Watched
	epoch := watched.Epoch()
	if master := watched.Master(); master != nil && expected(master, epoch) {
		v.gate.Store(int32(slices.Index(v.set.Nodes, master)))
		v.left.Store(machineclock.Now() + time.Second.Nanoseconds()) // earlier calls have returned by then
		// Redisson may use the former master while that calls itself a master.
		testbed.Within(patience, func() bool { return len(v.set.masters()) == 1 })
		if watched.Epoch() == epoch {
			return
		}
	}
	v.twice.Store(true)
	watched.AwaitSettled()
}

// spares reports whether the failover can't have lost a grant to owner by a call that returned at returned.
func (v *failover) spares(owner string, returned int64) bool {
	from := v.from.Load()
	switch {
	case v.twice.Load():
		return false
	case v.set.spared(owner, returned, from), returned >= v.left.Load() && !v.set.nameless && !javas(owner):
		return true
	}
	// The remaining master has all that it granted meanwhile, whichever replicas have acknowledged it.
	return returned >= from && v.set.Witness.OnlyAt(owner, int(v.gate.Load()))
}

// javas reports whether an owner of the book is Java's: its second half is a thread's name.
func javas(owner string) bool { return strings.Contains(owner, ":t") }

// heard is how long after a failover a Go client may still use the former master.
const heard = 3 * time.Second

// failWatched carries out a fault of the master. It returns the new one when most Sentinels name it, or nil after a pause.
func (s *set) failWatched(f schedule.Fault) (next *redistest.Server) {
	former := s.Watched.Master()
	if former == nil {
		return nil
	}
	switch f.Kind {
	case schedule.Failover:
		s.Watched.Failover(s.Watched.Sentinels[f.Row%len(s.Watched.Sentinels)])
		next = s.Watched.AwaitMaster(former)
	case schedule.KillMaster:
		former.Kill()
		next = s.Watched.AwaitMaster(former)
		former.Restart()
	case schedule.StopServer:
		former.Pause()
		time.Sleep(f.For)
		former.Resume()
	}
	return next
}
