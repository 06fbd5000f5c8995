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
	"github.com/rlock-go/redisson/internal/redisconn"
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
		if s.err != nil || s.master.instead != nil {
			return time.Since(r.learned) < asksAgain && !s.master.broken
		}
		return !s.master.broken
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
	for _, n := range r.nodes {
		n.instead = nil
	}
	var all []slots
	at := map[string]slots{} // what became of each master
	for _, one := range ranges {
		parts, err := redis.Values(one, nil)
		if err != nil || len(parts) < 3 {
			return fmt.Errorf("CLUSTER SLOTS has %v", one)
		}
		addrs := addresses(parts[2:], asked)
		if len(addrs) < len(parts[2:]) {
			return fmt.Errorf("CLUSTER SLOTS has %v", one)
		}
		s, known := at[addrs[0]]
		if !known {
			s.master, s.err = r.oneOf(ctx, addrs)
			at[addrs[0]] = s
		}
		s.first, _ = redis.Int(parts[0], nil)
		s.last, _ = redis.Int(parts[1], nil)
		all = append(all, s)
	}
	if len(all) == 0 {
		return errors.New("the cluster has no slots assigned")
	}
	slices.SortFunc(all, func(a, b slots) int { return a.first - b.first })
	r.slots = all
	return nil
}

// oneOf returns the master, which is the first, or with --read-only a replica if that can't be reached.
func (r *reader) oneOf(ctx context.Context, addrs []string) (*node, error) {
	n, err := r.at(ctx, addrs[0])
	if err == nil {
		return n, nil
	}
	err = unreachableError(err)
	if r.readOnly {
		if n, err = r.best(ctx, addrs[1:], err); err == nil {
			return n, nil
		}
	}
	return &node{addr: addrs[0]}, err
}

// addresses returns those of a range's servers.
func addresses(servers []any, asked *node) (all []string) {
	for _, one := range servers {
		server, err := redis.Values(one, nil)
		if err != nil || len(server) < 2 {
			return nil
		}
		host, _ := redis.String(server[0], nil)
		port, _ := redis.Int(server[1], nil)
		all = append(all, net.JoinHostPort(cmp.Or(host, asked.host()), strconv.Itoa(port)))
	}
	return all
}

func (n *node) host() string {
	host, _, _ := net.SplitHostPort(n.addr)
	return host
}

// redirections is how often one command follows a redirection. While a slot moves, a
// command may go to its new server, its old one, and its new one again.
const redirections = 5

// ask sends commands to a node. In a cluster it follows the answers MOVED and ASK. A reply is an
// error if the server that it points to can't be reached.
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
			again := []command{commands[i]}
			if asking {
				again = []command{{"ASKING"}, commands[i]}
			}
			var answers []any
			if from[i], err = r.at(ctx, addr); err != nil {
				err = unreachableError(err)
			} else {
				answers, err = from[i].pipe(ctx, again...)
			}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				replies[i] = err // the commands for other slots have their answers
			default:
				replies[i] = answers[len(answers)-1]
			}
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
	said, _ := redisconn.RefusalOf(err)
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

// gaps are the masters, with their slots, and the names that could not be read, not even in part.
type gaps struct {
	masters  map[string]*gap // by address
	names    map[string]error
	searches map[string]error // searches for names that a server refused, by address
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

func (g *gaps) search(addr string, err error) {
	if g.searches == nil {
		g.searches = map[string]error{}
	}
	g.searches[addr] = err
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
	for _, addr := range slices.Sorted(maps.Keys(g.searches)) {
		all = append(all, fmt.Sprintf("waiters of semaphores and latches (%v)", g.searches[addr]))
	}
	why := map[string][]string{} // names, by the error
	for name, err := range g.names {
		why[err.Error()] = append(why[err.Error()], name)
	}
	for _, err := range slices.Sorted(maps.Keys(why)) {
		names := why[err]
		slices.Sort(names)
		text := fmt.Sprintf("%s (%s): %s", plural(int64(len(names)), "name"), err, visible(names[0]))
		for _, name := range names[1:min(len(names), 20)] {
			text += ", " + visible(name)
		}
		if len(names) > 20 {
			text += " and more"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil
	}
	return &exit{partial, errors.New("not all could be read: " + strings.Join(all, "; "))}
}

// plural returns a number with its noun.
func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
