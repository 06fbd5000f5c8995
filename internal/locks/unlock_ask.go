package locks

import (
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/release"
)

// Ask asks the server what the release wants to know.
func (r *releasing) Ask(about release.Question) release.Reply {
	if about == release.Replicas {
		return r.askReplicas()
	}
	c, l := r.l.Client, r.st.name.lock
	query := r.l.kind.Ask(kind.RemainTTL, &r.want)
	reply, err := l.shard.ask(l.slot, query.Call, r.Limit)
	var a kind.Answer
	if err == nil {
		a, err = query.Answer(reply)
	}
	r.setLease(max(a.TTL, c.Watchdog))
	return release.Reply{Err: err}
}

// askReplicas asks the replicas once more.
func (r *releasing) askReplicas() (a release.Reply) {
	s := r.st.name.lock.shard
	s.queued = true // by AwaitReplicas
	answer := make(chan release.Reply, 1)
	asks, err := r.l.Client.exec.AwaitReplicas(&r.req, func(acked int, err error) {
		answer <- release.Reply{N: int64(acked), Err: err}
	})
	if !asks { // there are no replicas any more, or err says why
		return release.Reply{N: 1, Err: err}
	}
	s.without(func() { a = <-answer })
	return a
}
