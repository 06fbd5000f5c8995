package stage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
	"github.com/rlock-go/redisson/rlock"
)

// inForce is how long a fault of one command waits for such a command.
const inForce = time.Second

// Play carries out a fault and returns when it is over. Faults may be played at the same time.
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
		g := s.gos[f.Row]
		switch f.Kind {
		case schedule.KillProcess:
			g.kill()
		case schedule.StopProcess:
			g.stop(f.For)
		case schedule.Cancel:
			g.order("cancel")
		default:
			s.playNetwork(g.proxy, f)
		}
	case schedule.JavaProcess:
		j := s.javas[f.Row]
		switch f.Kind {
		case schedule.KillProcess:
			j.kill()
		case schedule.StopProcess:
			j.stop(f.For)
		case schedule.Cancel:
			j.cancel()
		default:
			s.playNetwork(j.proxy, f)
		}
	}
}

// playGate hits all who are connected to a server of a set.
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
		g.Clients.CutAll() // see playNetwork, of Java
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
		schedule.Withhold: faultproxy.Withhold, schedule.Blackhole: faultproxy.Blackhole,
	}[f.Kind]}
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
		// Redisson would keep a silent connection in its pool, and lose an answer on it now and then, for long after.
		p.CutAll()
	}
}

// match knows both sides' scripts.
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
		err = s.again()
	case schedule.FlushAll:
		defer s.Book.Voiding(history.Every, string(f.Kind))()
		_, err = s.ask("FLUSHALL")
		err = errors.Join(err, s.again())
	case schedule.FlushScripts:
		_, err = s.ask("SCRIPT", "FLUSH")
	case schedule.Force:
		lock := s.now(f.Lock)
		defer s.Book.Voiding(lock, string(f.Kind))()
		err = s.force(lock)
	}
	return err
}

// force is a forced unlock by a client that has no part in the play. A semaphore is deleted, and set anew; one without
// owners, or a latch, is deleted.
func (s *Stage) force(lock int) (err error) {
	switch {
	case s.Kind.Rounds() > 0:
		err = s.deleteNumber(lock)
	case s.Kind.Permits > 0:
		return s.setPermits(lock)
	default:
		err = s.withClient(func(ctx context.Context, c *rlock.Client) (err error) {
			for _, part := range s.Kind.Parts {
				_, e := part.GoLock(c, LockName(lock)).ForceUnlock(ctx)
				err = errors.Join(err, e)
			}
			return err
		})
	}
	if s.set != nil && (errors.Is(err, rlock.ErrUncertain) || errors.Is(err, rlock.ErrUnavailable)) {
		return nil // here it has no way past the faults of the network
	}
	return err
}
