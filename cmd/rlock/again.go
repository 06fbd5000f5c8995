package main

import (
	"context"
	"slices"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// again reads names of which known has the latest states. It asks two commands for each that may be as it was. It reads
// the others in full, and those that have changed.
func (r *reader) again(ctx context.Context, n *node, known map[string]*state, names ...string) ([]*state, error) {
	var some, full []string
	var ask []command
	for _, name := range names {
		if s := known[name]; s != nil && s.simple(n) {
			some = append(some, name)
			ask = append(ask, command{"PTTL", name}, command{"HSCAN", name, 0, "COUNT", most})
		} else {
			full = append(full, name)
		}
	}
	var all []*state
	if len(some) > 0 {
		began := time.Now()
		replies, err := r.ask(ctx, n, append(ask, counts(n, some)...)...)
		if err != nil {
			return nil, err
		}
		listening := replies[len(ask):]
		for i, name := range some {
			s := known[name].since(n, began, replies[2*i], replies[2*i+1], listening, i)
			if s == nil {
				full = append(full, name)
			} else {
				all = append(all, s)
			}
		}
	}
	rest, err := r.read(ctx, n, full...)
	return append(all, rest...), err
}

// simple reports whether nothing but the key, its TTL and the listeners can change without another holder.
func (s *state) simple(n *node) bool {
	return !s.at.IsZero() && !s.whole && len(s.Unread) == 0 && s.More == 0 && s.Found == "" && s.Number == nil && len(s.Queue) == 0 &&
		slices.Contains([]string{"", plain, fenced, readWrite}, s.Kind) && s.Replica == n.replica()
}

// since returns the state now if all that the replies don't tell is as it was, or nil.
func (s *state) since(n *node, asked time.Time, ttl, page any, listening []any, i int) *state {
	ms, ok := ttl.(int64)
	parts, err := redis.Values(page, nil)
	if !ok || err != nil || len(parts) != 2 {
		return nil
	}
	cursor, _ := redis.String(parts[0], nil)
	fields, err := redis.ByteSlices(parts[1], nil)
	now := &state{Name: s.Name, Bytes: s.Bytes, Kind: s.Kind, TTL: &ms, Token: s.Token, Replica: s.Replica, node: n, asked: asked, at: time.Now()}
	if err != nil || cursor != "0" || !now.listen(listening, i) {
		return nil
	}
	now.owners(fields)
	same := func(a, b holder) bool { return a.Owner == b.Owner && a.Count == b.Count && a.Write == b.Write }
	if now.Kind != s.Kind || now.Mode != s.Mode || now.Found != s.Found || now.KeptBy != s.KeptBy || !slices.EqualFunc(now.Holders, s.Holders, same) {
		return nil
	}
	return now
}

// channels are those that a lock, a read-write lock, a semaphore and a latch of one name would have.
func channels(name string) []any {
	return []any{codec.Channel(name), codec.ReadWriteChannel(name), codec.PermitChannel(name), codec.CountDownChannel(name)}
}

// counts returns the commands that count the listeners of all names at once. A replica has none: they are the master's.
func counts(n *node, names []string) []command {
	if n.instead != nil {
		return nil
	}
	var all []any
	for _, name := range names {
		all = append(all, channels(name)...)
	}
	return []command{append(command{"PUBSUB", "NUMSUB"}, all...), append(command{"PUBSUB", "SHARDNUMSUB"}, all...)}
}

// listen counts the subscribers of the i-th name, on the channel of the kind that has some. It returns false if the
// server refuses to count them.
func (s *state) listen(replies []any, i int) (counted bool) {
	if len(replies) == 0 {
		return true
	}
	of := func(reply any) []any { // channels and their counts
		all, _ := redis.Values(reply, nil)
		if len(all) < 8*(i+1) {
			return nil
		}
		return all[8*i : 8*(i+1)]
	}
	p, sharded := of(replies[0]), of(replies[1]) // before Redis 7 no channels are sharded
	if err, is := replies[1].(error); p == nil || is && refuses(command{"PUBSUB", "SHARDNUMSUB"}, err) {
		return false
	}
	s.Listening = &listening{}
	for j, kind := range []string{"", readWrite, semaphore, latch} {
		plainly, _ := redis.Int64(p[2*j+1], nil)
		var shard int64
		if sharded != nil {
			shard, _ = redis.Int64(sharded[2*j+1], nil)
		}
		if plainly+shard == 0 {
			continue
		}
		s.Listening = &listening{plainly, shard}
		if s.Kind == "" {
			s.Kind = kind
		}
	}
	return true
}
