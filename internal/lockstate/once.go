package lockstate

import (
	"fmt"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// An owner that was made for one acquisition and never shown to anybody is used
// once. No other command can make its field, so its unlock may run any number
// of times: it finds the field or does not. It goes without a latch, where the
// kind has such a form, and says less:
//
//   - "Not there" after a send that was lost says that the owner holds nothing,
//     but not that anything was announced.
//   - "Holds left" says that somebody acts as this owner nevertheless.
//   - Once the owner is shown, a repetition could release what somebody else has
//     acquired as this owner. Then the count decides, and nothing is repeated.

// answeredOnce handles the server's result of a release without a latch.
func (r *release) answeredOnce(q *command.Request, result kind.Release) {
	st := r.st
	n := st.n
	if r.ownMessage && result != codec.Final {
		r.ownMessageMissed()
	}
	if result == codec.Partial {
		n.l.c.log.ActedAs(&n.l.s.sec, st.told())
	} else {
		st.loseTally(r.l, errVanished)
	}
	switch {
	case result != codec.NotHeld && q.Unreplicated && r.outcome != nil:
		r.askReplicas(q)
	case result != codec.NotHeld && q.ReplicasNotKnown && r.outcome != nil:
		r.finish(errReplicasNotKnown)
	case result != codec.NotHeld:
		r.finish(nil)
	case r.lost:
		r.look()
		r.gone()
	default:
		r.look() // it published nothing
		r.finish(notHeld(st.owner))
	}
}

// gone ends a release of which a send was lost, and whose owner holds nothing:
// that send ran, and what the replicas have of it was lost with the answer.
func (r *release) gone() {
	if r.req.Wire.Replicas > 0 {
		r.finish(errReplicasNotKnown)
		return
	}
	r.finish(nil)
}

// askReplicas asks them once more. The script is not repeated: where another
// connection takes it, WAIT says nothing of what the first one did.
func (r *release) askReplicas(q *command.Request) {
	n := r.st.n
	r.referenced = true
	n.l.s.sec.queued = true
	asking := n.l.c.exec.AwaitReplicas(q, func(acked int, err error) {
		defer n.l.s.enter(mustNotBlock).leave()
		switch {
		case err != nil:
			r.finish(errReplicasNotKnown)
		case acked == 0:
			r.finish(fmt.Errorf("released, but %w", ErrUnreplicated))
		default:
			r.finish(nil)
		}
	})
	switch asking {
	case command.NotAsked:
		r.finish(errReplicasNotKnown)
	case command.NoneToAsk:
		r.finish(nil)
	}
}

// look has this client's waiters look, since perhaps nothing was published. That
// of an undo is followed by an attempt anyway.
func (r *release) look() {
	if r.alive {
		r.st.n.wakeHead()
	}
}

// askWhetherItRan follows an error that the script may have met behind its first
// change, such as a refused announcement: then the owner holds nothing.
func (r *release) askWhetherItRan(met error) {
	n := r.st.n
	r.referenced = true
	r.failed = met
	ask := r.l.kind.Ask(nil, kind.HeldBy, &r.want)
	r.l.askLater(ask, clock.Later(n.now(), n.l.c.o.Timeout), func(reply any, err error) {
		defer n.l.s.enter(mustNotBlock).leave()
		var held kind.Answer
		if err == nil {
			held, err = r.l.kind.Asked(kind.HeldBy, reply)
		}
		r.look()
		if err == nil && !held.Yes {
			met = fmt.Errorf("released, but the server did not finish the script: %w", met)
		}
		r.finish(met)
	})
}

// countOnce decides a release that was sent without a latch, and lost, and whose
// owner was shown meanwhile. Behind the kill barrier its count says whether it
// ran, unless somebody acts as this owner by now. Nothing is sent again.
func (r *release) countOnce() {
	st, n := r.st, r.st.n
	if r.req.MayArrive {
		r.finish(fmt.Errorf("%w: the unlock was lost on a connection that could not be killed, and its owner was handed out meanwhile: %w", ErrUncertain, r.failed))
		return
	}
	ask := r.l.kind.Confirm(nil, &r.want)
	if ask.Empty() {
		r.finish(r.shownMeanwhile("what it did can't be known"))
		return
	}
	r.referenced = true
	r.l.askLater(ask, min(r.req.Until, clock.Later(n.now(), n.l.c.latchTTL)), func(reply any, err error) {
		defer n.l.s.enter(mustNotBlock).leave()
		var said kind.Known
		if err == nil {
			said, err = r.l.kind.Confirmed(reply, &r.want)
		}
		switch {
		case err != nil:
			r.finish(r.shownMeanwhile(fmt.Sprintf("asking for its count failed: %v", err)))
		case said.Count != 0:
			r.finish(r.shownMeanwhile(fmt.Sprintf("the owner holds %d, of this hold or of another", said.Count)))
		default:
			st.loseTally(r.l, errVanished)
			r.look()
			r.gone()
		}
	})
}

func (r *release) shownMeanwhile(why string) error {
	return fmt.Errorf("%w: the unlock was lost, its owner was handed out meanwhile, and %s; if it did not run, the key is left to expire: %w", ErrUncertain, why, r.failed)
}
