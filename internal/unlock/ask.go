package unlock

import (
	"errors"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/release"
)

// errUnknowable says that the kind has no query for it.
var errUnknowable = errors.New("what it did can't be known")

// Ask asks the server what the release wants to know.
func (r *releasing) Ask(about release.Question) release.Reply {
	n, c := r.st.Name, r.l.Client
	of, limit := kind.HoldCount, r.Limit
	switch about {
	case release.Replicas:
		return r.askReplicas()
	case release.TTL:
		of = kind.RemainTTL
	case release.Shown:
		limit = min(r.Until, n.Now()+c.LatchTTL)
	}
	query := r.l.Kind.Ask(of, &r.want)
	if query.Empty() {
		return release.Reply{Err: errUnknowable}
	}
	reply, err := n.Lock.Shard.Ask(&c.Client, n.Lock.Slot, query.Call, limit)
	var a kind.Answer
	if err == nil {
		a, err = query.Answer(reply)
	}
	switch {
	case about == release.TTL:
		r.leave(max(a.TTL, c.Watchdog))
	case about == release.Count && err == nil && a.N <= known(r.st, &r.l.Lock):
		n.Lock.Shard.Past.FoundNothing(r.want.Latch)
	}
	return release.Reply{N: a.N, Err: err}
}

// askReplicas asks the replicas once more.
func (r *releasing) askReplicas() (a release.Reply) {
	s := r.st.Name.Lock.Shard
	s.Queued()
	answer := make(chan release.Reply, 1)
	asks, err := r.l.Client.Exec.AwaitReplicas(&r.req, func(acked int, err error) {
		answer <- release.Reply{N: int64(acked), Err: err}
	})
	if !asks { // there are no replicas any more, or err says why
		return release.Reply{N: 1, Err: err}
	}
	s.Without(func() { a = <-answer })
	return a
}
