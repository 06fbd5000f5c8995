package stage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/rlock"
)

// inForce is how long a fault of one command waits for such a command.
const inForce = time.Second

// Play carries out a fault and returns when it is over. It may be called for several faults at the same time.
func (s *Stage) Play(f schedule.Fault) {
	defer s.trouble()()
	switch f.Target {
	case schedule.Server:
		s.serial.Lock()
		defer s.serial.Unlock()
		play := s.playServer
		if s.set != nil {
			play = s.playSet
		}
		if err := play(f); err != nil {
			s.fail("%v: %v", f, err)
		}
	case schedule.Replica:
		if err := s.playReplica(f); err != nil {
			s.fail("%v: %v", f, err)
		}
	case schedule.Node:
		if g := s.set.gateOf(f.Row); g != nil {
			s.playGate(g, f)
		}
	case schedule.GoProcess:
		s.playProcess(s.gos[f.Row], s.gos[f.Row].proxy, f)
	case schedule.JavaProcess:
		s.playProcess(s.javas[f.Row], s.javas[f.Row].proxy, f)
	}
}

func (s *Stage) playProcess(p interface {
	kill()
	stop(time.Duration)
	cancel() // all waits
}, proxy *faultproxy.Proxy, f schedule.Fault) {
	switch f.Kind {
	case schedule.KillProcess:
		p.kill()
	case schedule.StopProcess:
		p.stop(f.For)
	case schedule.Cancel:
		p.cancel()
	default:
		s.playNetwork(proxy, f)
	}
}

// playGate hits all connections to one server of a set.
func (s *Stage) playGate(g *gate.Gate, f schedule.Fault) {
	if f.Kind == schedule.Refuse {
		g.Refuse(true)
		defer g.Refuse(false)
		g.Clients.CutAll()
		time.Sleep(f.For)
		return
	}
	s.playNetwork(g.Clients, f)
	if f.Kind == schedule.DropReply || f.Kind == schedule.Blackhole {
		g.Clients.CutAll() // as playNetwork does for Java
	}
}

func (s *Stage) playNetwork(p *faultproxy.Proxy, f schedule.Fault) {
	switch f.Kind {
	case schedule.Cut:
		p.CutAll()
		return
	case schedule.Freeze:
		p.Freeze(true)
		time.Sleep(f.For)
		p.Freeze(false)
		return
	case schedule.Refuse:
		p.Refuse(true)
		p.CutAll()
		time.Sleep(f.For)
		p.Refuse(false)
		return
	case schedule.DeafDial:
		p.Blackhole(true)
		p.CutAll()
		time.Sleep(f.For)
		p.Blackhole(false)
		p.CutAll()
		return
	}
	r := faultproxy.Rule{Match: s.match(f.Command), Times: 1, Do: map[schedule.Kind]faultproxy.Action{
		schedule.CutBefore: faultproxy.CutBefore, schedule.CutAfter: faultproxy.CutAfter,
		schedule.DropReply: faultproxy.DropReply, schedule.HoldReply: faultproxy.HoldReply,
		schedule.Withhold: faultproxy.Withhold, schedule.Blackhole: faultproxy.Blackhole, schedule.Refusal: faultproxy.Answer,
	}[f.Kind]}
	if f.Kind == schedule.Refusal {
		// NOSCRIPT comes once, as clients know what they have loaded; Redisson takes some of the others as final.
		n := int(f.At/time.Millisecond) % len(refusals)
		if f.Target != schedule.GoProcess {
			n = 0
		}
		if r.Reply = refusals[n]; n > 0 {
			r.Times = int(f.At/(16*time.Millisecond)) % 2 // for the whole fault, or once
		} else { // a server says so to EVALSHA alone
			of := r.Match
			r.Match = func(cmd []string) bool { return strings.EqualFold(cmd[0], "EVALSHA") && of(cmd) }
		}
	}
	if f.Kind == schedule.HoldReply {
		r.Delay = f.For
	}
	h := p.Add(r)
	defer h.Remove()
	select {
	case <-h.Hit():
	case <-time.After(inForce):
		return
	}
	time.Sleep(f.For)
	switch {
	case f.Kind == schedule.Withhold:
		h.Release()
	case f.Target == schedule.JavaProcess && (f.Kind == schedule.DropReply || f.Kind == schedule.Blackhole):
		// Redisson would keep a silent connection in its pool, and lose replies on it long after the fault.
		p.CutAll()
	}
}

// refusals are error replies that a server gives only for a time. Nothing of the command has run.
var refusals = [][]byte{
	[]byte("-NOSCRIPT No matching script. Please use EVAL.\r\n"),
	[]byte("-LOADING Redis is loading the dataset in memory\r\n"),
	[]byte("-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n"),
	[]byte("-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n"),
	[]byte("-READONLY You can't write against a read only replica.\r\n"),
}

// match returns what matches this script of either side.
func (s *Stage) match(script schedule.Script) faultproxy.Match {
	isAcquire := s.Kind.Acquires
	switch script {
	case schedule.Acquires:
		return isAcquire
	case schedule.Reenters:
		seen := map[[2]string]bool{}
		return func(cmd []string) bool {
			i := slices.IndexFunc(cmd, ownerForm.MatchString)
			if i < 0 || !isAcquire(cmd) {
				return false
			}
			who := [2]string{cmd[3], ownerForm.FindString(cmd[i])}
			again := seen[who]
			seen[who] = true
			return again
		}
	case schedule.Releases:
		return s.Kind.Releases
	case schedule.Renewals:
		return s.Kind.Renews
	case schedule.AnyEval:
		return func(cmd []string) bool { return len(cmd) > 3 && strings.HasPrefix(strings.ToUpper(cmd[0]), "EVAL") }
	}
	return faultproxy.Every
}

func (s *Stage) playServer(f schedule.Fault) (err error) {
	switch f.Kind {
	case schedule.KillSubscriptions:
		_, err = s.ask("CLIENT", "KILL", "TYPE", "pubsub")
	case schedule.KillAll:
		_, err = s.ask("CLIENT", "KILL", "TYPE", "normal")
	case schedule.PauseClients:
		_, err = s.ask("CLIENT", "PAUSE", f.For.Milliseconds(), "ALL")
		time.Sleep(f.For)
	case schedule.StopServer:
		s.server.Pause()
		time.Sleep(f.For)
		s.server.Resume()
	case schedule.RestartServer:
		s.server.Restart()
	case schedule.CrashServer:
		s.server.Kill()
		s.server.Restart()
	case schedule.WipeServer:
		defer s.Book.Voiding(history.Every, string(f.Kind))()
		s.server.Wipe()
		err = s.setPermits()
	case schedule.FlushAll:
		defer s.Book.Voiding(history.Every, string(f.Kind))()
		_, err = s.ask("FLUSHALL")
		err = errors.Join(err, s.setPermits())
	case schedule.FlushScripts:
		_, err = s.ask("SCRIPT", "FLUSH")
	case schedule.Force:
		defer s.Book.Voiding(f.Lock, string(f.Kind))()
		err = s.force(f.Lock)
	}
	return err
}

// force unlocks by force, by a client that is not under test. It deletes a semaphore and sets its permits again.
func (s *Stage) force(lock int) (err error) {
	if s.Kind.Permits > 0 {
		return s.setPermits(lock)
	}
	err = s.withClient(func(ctx context.Context, c *rlock.Client) (err error) {
		for _, part := range s.Kind.Parts {
			_, e := part.GoLock(c, LockName(lock)).ForceUnlock(ctx)
			err = errors.Join(err, e)
		}
		return err
	})
	if s.set != nil && (errors.Is(err, rlock.ErrUncertain) || errors.Is(err, rlock.ErrUnavailable)) {
		return nil // in a set the network faults hit this client too
	}
	return err
}
