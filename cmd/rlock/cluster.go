package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/refusal"
)

// asksAgain is how long the cluster's map is used while one of its masters can't be reached.
const asksAgain = 5 * time.Second

// clusterMasters returns a cluster's masters that can be reached, sorted by address. It adds the
// others to the gaps, and leaves those of earlier calls: a master that could not be read before
// was not read.
func (r *reader) clusterMasters(ctx context.Context) ([]*node, error) {
	if err := r.learn(ctx); err != nil {
		return nil, err
	}
	var now gaps
	var all []*node
	var last error
	next := 0 // the first slot that no range so far has
	for _, s := range r.slots {
		if s.first > next {
			now.master("no master", s.first-next, errUnassigned)
		}
		next = s.last + 1
		if s.err != nil {
			last = s.err
			now.master(s.master.addr, s.last-s.first+1, s.err)
		} else if !slices.Contains(all, s.master) {
			all = append(all, s.master)
		}
	}
	if next < slotCount {
		now.master("no master", slotCount-next, errUnassigned)
	}
	r.gaps.add(now.masters)
	if len(all) == 0 {
		return nil, unreachableError(last)
	}
	slices.SortFunc(all, func(a, b *node) int { return strings.Compare(a.addr, b.addr) })
	return all, nil
}

const slotCount = 16384

var errUnassigned = errors.New("they are assigned to nobody")

// serving returns the master of a cluster that has a key. The slots must be known.
func (r *reader) serving(key string) (*node, error) {
	slot := int(codec.Slot(key))
	for _, s := range r.slots {
		if s.first <= slot && slot <= s.last {
			return s.master, s.err
		}
	}
	return nil, unreachableError(fmt.Errorf("no master has slot %d, which %s is in", slot, visible(key)))
}

// learn reads which master has which slots, unless it knows.
func (r *reader) learn(ctx context.Context) error {
	works := func(s slots) bool {
		return s.err != nil && time.Since(r.learned) < asksAgain || s.err == nil && !s.master.broken
	}
	if r.slots != nil && !slices.ContainsFunc(r.slots, func(s slots) bool { return !works(s) }) {
		return nil
	}
	var errs []error
	for _, addr := range r.parts.Servers {
		n, err := r.at(ctx, addr)
		var ranges []any
		if err == nil {
			ranges, err = redis.Values(n.do(ctx, "CLUSTER", "SLOTS"))
		}
		if err == nil {
			err = r.mapped(ctx, n, ranges)
		}
		if err == nil {
			r.learned = time.Now()
			return nil
		}
		errs = append(errs, err)
	}
	return unreachableError(errors.Join(errs...))
}

// mapped reads the ranges of CLUSTER SLOTS: first, last, and servers, the master first.
func (r *reader) mapped(ctx context.Context, asked *node, ranges []any) error {
	var all []slots
	failed := map[string]error{}
	for _, one := range ranges {
		parts, err := redis.Values(one, nil)
		if err != nil || len(parts) < 3 {
			return fmt.Errorf("CLUSTER SLOTS has %v", one)
		}
		master, err := redis.Values(parts[2], nil)
		if err != nil || len(master) < 2 {
			return fmt.Errorf("CLUSTER SLOTS has %v", one)
		}
		host, _ := redis.String(master[0], nil)
		port, _ := redis.Int(master[1], nil)
		s := slots{}
		s.first, _ = redis.Int(parts[0], nil)
		s.last, _ = redis.Int(parts[1], nil)
		addr := net.JoinHostPort(cmp.Or(host, asked.host()), strconv.Itoa(port))
		if s.err = failed[addr]; s.err == nil {
			s.master, s.err = r.at(ctx, addr)
		}
		if s.err != nil {
			failed[addr] = s.err
			s.master, s.err = &node{addr: addr}, unreachableError(s.err)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return errors.New("the cluster has no slots assigned")
	}
	slices.SortFunc(all, func(a, b slots) int { return a.first - b.first })
	r.slots = all
	return nil
}

func (n *node) host() string {
	host, _, _ := net.SplitHostPort(n.addr)
	return host
}

// redirections is how often one command follows a redirection. While a slot moves, a
// command may go to its new server, its old one, and its new one again.
const redirections = 5

// ask sends commands to a node. In a cluster it follows the answers MOVED and ASK.
func (r *reader) ask(ctx context.Context, n *node, commands ...command) ([]any, error) {
	replies, err := n.pipe(ctx, commands...)
	if err != nil || !r.parts.Cluster {
		return replies, err
	}
	from := slices.Repeat([]*node{n}, len(replies))
	for range redirections {
		elsewhere := false
		for i := range replies {
			addr, asking := r.redirected(from[i], replies[i])
			if addr == "" {
				continue
			}
			elsewhere = true
			if from[i], err = r.at(ctx, addr); err != nil {
				return nil, unreachableError(err)
			}
			again := []command{commands[i]}
			if asking {
				again = []command{{"ASKING"}, commands[i]}
			}
			answers, err := from[i].pipe(ctx, again...)
			if err != nil {
				return nil, err
			}
			replies[i] = answers[len(answers)-1]
		}
		if !elsewhere {
			break
		}
	}
	return replies, nil
}

// redirected returns the address of a MOVED or, with asking, of an ASK; empty for other replies.
func (r *reader) redirected(from *node, reply any) (addr string, asking bool) {
	err, _ := reply.(redis.Error)
	said, _ := refusal.Of(err)
	place, moved := said.Moved()
	if moved {
		r.slots = nil
	} else if place, asking = said.Ask(); !asking {
		return "", false
	}
	host, port, err2 := net.SplitHostPort(place.Addr)
	if err2 != nil {
		return "", false
	}
	return net.JoinHostPort(cmp.Or(host, from.host()), port), asking
}

// gaps are the masters, with their slots, and the names that could not be read.
type gaps struct {
	masters map[string]*gap // by address
	names   map[string]error
}

type gap struct {
	slots int
	err   error
}

func (g *gaps) master(addr string, slots int, err error) {
	if g.masters == nil {
		g.masters = map[string]*gap{}
	}
	if g.masters[addr] == nil {
		g.masters[addr] = &gap{err: err}
	}
	g.masters[addr].slots += slots
}

// add replaces what is known of these masters.
func (g *gaps) add(masters map[string]*gap) {
	if g.masters == nil {
		g.masters = map[string]*gap{}
	}
	maps.Copy(g.masters, masters)
}

func (g *gaps) name(name string, err error) {
	if g.names == nil {
		g.names = map[string]error{}
	}
	g.names[name] = err
}

// missed notes that a master of a cluster can't be read. With any other topology it
// returns err, because there is no other master.
func (r *reader) missed(ctx context.Context, n *node, err error) error {
	if !r.parts.Cluster || ctx.Err() != nil {
		return err
	}
	slots := 0
	for _, s := range r.slots {
		if s.master == n {
			slots += s.last - s.first + 1
		}
	}
	r.gaps.add(map[string]*gap{n.addr: {slots, err}})
	return nil
}

// err says what is missing; nil if nothing is.
func (g *gaps) err() error {
	var all []string
	for _, addr := range slices.Sorted(maps.Keys(g.masters)) {
		m := g.masters[addr]
		all = append(all, fmt.Sprintf("%s with %d of %d slots (%v)", addr, m.slots, slotCount, m.err))
	}
	if n := len(g.names); n > 0 {
		names := slices.Sorted(maps.Keys(g.names))
		text := fmt.Sprintf("%d names (%v): %s", n, g.names[names[0]], visible(names[0]))
		for _, name := range names[1:min(n, 20)] {
			text += ", " + visible(name)
		}
		if n > 20 {
			text += " and more"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil
	}
	return &exit{partial, errors.New("not all could be read: " + strings.Join(all, "; "))}
}
