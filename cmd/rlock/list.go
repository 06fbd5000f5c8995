package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/codec"
)

func listCommand(s *server) *cobra.Command {
	var match, output string
	var numbers, quiet bool
	var chosen choice
	c := &cobra.Command{
		Use: "ls", Short: "List the locks that are held or waited for", Args: cobra.NoArgs,
		Long: `ls lists the locks and permits that somebody holds, and the fair locks,
semaphores and latches that somebody waits for, on all masters.

It looks through all keys by SCAN, never KEYS, and rests as long as it works, so
that other clients do not notice. Nothing is changed. A semaphore or a
count-down latch is a number under a name like any other: --numbers, or --kind
number, shows all numbers too. A plain, a spin and a non-reentrant lock look alike on the
server: they are "lock", and so is a fair lock that nobody waits for.

--holder finds all locks of one process, by the client's id in its log, also by
its beginning. A fenced lock has the kind "fenced" once it was ever granted. What
is "released, kept by" a client is the rest of an AtLeast (run --at-least): nobody
holds the lock, and nobody gets it before its TTL is over.

On a terminal that is too narrow, owners are shortened: "rlock show NAME" and
-o json have them in full. With -o json, a name that is no UTF-8 is in
name_base64 too. If something can't be read, because a part of a cluster is down
or the server refuses a command or a key, ls says what is missing, and its status
is 74.`,
	}
	c.Flags().StringVar(&match, "match", "*", "only names like this, with * ? [a-z] and \\ as in SCAN")
	c.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	c.Flags().StringVar(&chosen.holder, "holder", "", "only locks whose holder is this owner, client or permit, or begins so")
	c.Flags().StringVar(&chosen.kind, "kind", "", "only this kind: "+strings.Join(shownKinds, ", "))
	c.Flags().StringVar(&chosen.sort, "sort", "name", "name, ttl (the next to end first), holds or waiting (the most first)")
	c.Flags().BoolVar(&numbers, "numbers", false, "also what may be a semaphore or a latch")
	s.fromReplicas(c.Flags())
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	c.RunE = func(c *cobra.Command, args []string) error {
		if output != "table" && output != "json" {
			return wrong("-o is table or json")
		}
		if err := chosen.valid(); err != nil {
			return err
		}
		return serving(s, func(ctx context.Context, r *reader, _ []string) error {
			l := &listing{r: r, match: match, numbers: numbers || chosen.kind == number}
			if !quiet {
				l.progress = progress()
			}
			all, err := l.list(ctx)
			if l.progress != nil {
				fmt.Fprint(os.Stderr, "\x1b[K")
			}
			if err != nil {
				return err
			}
			all = chosen.of(all)
			if output == "json" {
				if all == nil {
					all = []*state{}
				}
				err = json.NewEncoder(os.Stdout).Encode(all)
			} else {
				size, _ := terminal(os.Stdout)
				_, err = io.WriteString(os.Stdout, table(all, size.columns))
				if len(all) == 0 && (match != "*" || chosen.kind+chosen.holder != "") {
					fmt.Fprintln(os.Stderr, "rlock: no lock matches")
				}
			}
			if stale := r.stale(); stale != "" && output == "json" {
				fmt.Fprintln(os.Stderr, "rlock:", stale)
			} else if stale != "" {
				size, _ := terminal(os.Stdout)
				fmt.Println("\n" + wrapped(stale, 0, size.columns))
			}
			return cmp.Or(err, r.gaps.err())
		})(c, args)
	}
	for flag, values := range map[string][]string{"output": {"table", "json"}, "kind": shownKinds, "sort": slices.Sorted(maps.Keys(orders))} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return c
}

// listing is one look through all keys.
type listing struct {
	r        *reader
	match    string
	numbers  bool
	progress func(string)    // nil: silent
	limit    int             // the search ends at this many names; 0: no limit
	so       func()          // called now and then, with the names so far; nil: not
	locks    map[string]bool // hashes that are locks, into which the search need not look

	scanned, total int // keys, in all passes
	names          map[string]*node
	queued         map[string]bool // those of names that have a queue
}

// batch is how many keys a SCAN looks at, which takes some tenths of a millisecond.
const batch = 500

// list returns the locks of all masters, sorted by name.
func (l *listing) list(ctx context.Context) ([]*state, error) {
	if err := l.find(ctx); err != nil {
		return nil, err
	}
	by := map[*node][]string{}
	for name, n := range l.names {
		by[n] = append(by[n], name)
	}
	var all []*state
	read := 0
	for n, names := range by {
		for some := range slices.Chunk(names, 100) {
			began := time.Now()
			states, err := l.r.states(ctx, n, nil, some...)
			if err == nil {
				err = rests(ctx, began)
			}
			if err != nil {
				return nil, err
			}
			if read += len(some); l.progress != nil {
				l.progress(fmt.Sprintf("%d of %s read", read, plural(int64(len(l.names)), "lock")))
			}
			all = append(all, slices.DeleteFunc(states, func(s *state) bool {
				return !s.locked() && s.waiting() <= 0 && !(l.numbers && s.Number != nil)
			})...)
		}
	}
	slices.SortFunc(all, func(a, b *state) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// states reads many names of one master, of which known may have earlier states. It adds those that it can't read to the gaps.
func (r *reader) states(ctx context.Context, n *node, known map[string]*state, names ...string) ([]*state, error) {
	all, err := r.again(ctx, n, known, names...)
	if err != nil {
		for _, name := range names {
			r.gaps.name(name, err)
		}
		return nil, r.missed(ctx, n, err)
	}
	return slices.DeleteFunc(all, func(s *state) bool {
		if err := cmp.Or(s.err, s.partly()); err != nil {
			r.gaps.name(s.Name, err)
		}
		return s.err != nil
	}), nil
}

// find collects names that may be locks.
func (l *listing) find(ctx context.Context) error {
	l.names, l.queued, l.r.gaps = map[string]*node{}, map[string]bool{}, gaps{}
	wanted, err := glob(l.match)
	if err != nil {
		return wrong("--match: %w", err)
	}
	masters, err := l.r.masters(ctx)
	if err != nil {
		return err
	}
	if l.progress != nil {
		l.count(ctx, masters)
	}
	// The beginning or end that a lock's other keys have around its name.
	queue, _, _ := strings.Cut(codec.FairQueue("N"), "{N}")
	token, _, _ := strings.Cut(codec.TokenKey("N"), "{N}")
	unlock, _, _ := strings.Cut(codec.Latch("N", ""), "{N}")
	named := func(n *node, prefix, suffix string) func(context.Context, []string) error {
		return func(_ context.Context, keys []string) error {
			for _, key := range keys {
				if name := bare(key, prefix, suffix); wanted.matches(name) && !strings.HasPrefix(name, token) && !strings.HasPrefix(name, unlock) && !strings.Contains(name, ":rwlock_timeout:") {
					l.names[name] = n
					if prefix == queue {
						l.queued[name] = true
					}
				}
			}
			return nil
		}
	}
	_, times, _ := strings.Cut(codec.PermitTimes("N"), "{N}")
	for _, n := range masters {
		err := l.scan(ctx, n, l.match, "hash", func(ctx context.Context, keys []string) error { return l.hashes(ctx, n, keys) })
		if err == nil {
			err = l.scan(ctx, n, queue+"*", "list", named(n, queue, ""))
		}
		if err == nil {
			err = l.scan(ctx, n, "*"+times, "zset", named(n, "", times))
		}
		if err == nil && l.numbers {
			err = l.scan(ctx, n, l.match, "string", named(n, "", ""))
		}
		if err == nil {
			err = l.waited(ctx, n, wanted)
		}
		if err != nil {
			err = l.r.missed(ctx, n, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count adds up how many keys all passes will look at; 0 if the account may not ask.
func (l *listing) count(ctx context.Context, masters []*node) {
	passes := 3
	if l.numbers {
		passes++
	}
	for _, n := range masters {
		keys, _ := redis.Int(n.do(ctx, "DBSIZE"))
		l.total += passes * keys
	}
}

// bare returns the lock's name from another key or a channel of the lock.
func bare(key, prefix, suffix string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(key, prefix), suffix)
	if prefix+suffix == "" || !strings.HasPrefix(name, "{") || !strings.HasSuffix(name, "}") {
		return name
	}
	// Braces were put around a name that had none.
	if inner := name[1 : len(name)-1]; !strings.Contains(inner, "{") {
		return inner
	}
	return name
}

// waited adds semaphores and latches whose channels have subscribers.
func (l *listing) waited(ctx context.Context, n *node, wanted like) error {
	if n.instead != nil {
		return nil // they have subscribed at the master
	}
	before, after, _ := strings.Cut(codec.CountDownChannel("N"), "N")
	sc, _, _ := strings.Cut(codec.PermitChannel("N"), "{N}")
	for _, which := range []string{"CHANNELS", "SHARDCHANNELS"} {
		for _, around := range [][2]string{{before, after}, {sc, ""}} {
			channels, err := redis.Strings(n.do(ctx, "PUBSUB", which, around[0]+"*"+around[1]))
			if _, unreachable := err.(*exit); unreachable {
				return err
			}
			if said, ok := err.(redis.Error); ok && refuses(command{"PUBSUB", which}, said) {
				l.r.gaps.search(n.addr, refused(n, said))
			}
			var found []string
			for _, c := range channels {
				if name := bare(c, around[0], around[1]); wanted.matches(name) {
					found = append(found, name)
				}
			}
			by, err := l.r.by(ctx, slices.Values(found)) // a subscriber may be on another node than the lock
			if err != nil {
				return err
			}
			for at, names := range by {
				for _, name := range names {
					l.names[name] = at
				}
			}
		}
	}
	return nil
}

// scan goes through a node's keys of one type.
func (l *listing) scan(ctx context.Context, n *node, match, kind string, found func(context.Context, []string) error) error {
	for cursor := "0"; ; {
		began := time.Now()
		reply, err := redis.Values(n.do(ctx, "SCAN", cursor, "MATCH", match, "TYPE", kind, "COUNT", batch))
		if said, ok := err.(redis.Error); ok {
			return refused(n, said)
		}
		if err != nil {
			return err
		}
		keys, err := redis.Strings(reply[1], nil)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := found(ctx, keys); err != nil {
				return err
			}
		}
		cursor, _ = redis.String(reply[0], nil)
		l.scanned += batch
		if l.progress != nil {
			l.progress(l.far())
		}
		if l.so != nil {
			l.so()
		}
		if cursor == "0" || l.limit > 0 && len(l.names) >= l.limit {
			return nil
		}
		if err := rests(ctx, began); err != nil {
			return err
		}
	}
}

// rests waits for as long as it took since began, so that other clients do not notice.
func rests(ctx context.Context, began time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Since(began)):
		return nil
	}
}

// hashes keeps the keys whose first fields are those of a lock.
func (l *listing) hashes(ctx context.Context, n *node, keys []string) error {
	keys = slices.DeleteFunc(keys, func(key string) bool {
		if l.locks[key] {
			l.names[key] = n
		}
		return l.locks[key]
	})
	for some := range slices.Chunk(keys, 100) {
		var ask []command
		for _, key := range some {
			ask = append(ask, command{"HSCAN", key, 0, "COUNT", 10})
		}
		replies, err := l.r.ask(ctx, n, ask...)
		if err != nil {
			return err
		}
		for i, reply := range replies {
			if err := refusals(n, replies[i:i+1]); err != nil {
				l.r.gaps.name(some[i], err) // it may be a lock
			}
			values, err := redis.Values(reply, nil)
			if err != nil || len(values) != 2 {
				continue // it was refused, or the key has become something else
			}
			fields, _ := redis.ByteSlices(values[1], nil)
			if _, holders, _ := lockHash(fields); len(holders) > 0 {
				l.names[some[i]] = n
			}
		}
	}
	return nil
}

// far says how far the search has come.
func (l *listing) far() string {
	locks := plural(int64(len(l.names)), "lock")
	if l.total == 0 {
		return locks
	}
	return fmt.Sprintf("%d%% of all keys looked at, %s", min(100*l.scanned/l.total, 100), locks)
}

// progress returns a function that shows progress on a terminal once a second, or nil.
func progress() func(string) {
	if _, is := terminal(os.Stderr); !is {
		return nil
	}
	began, last := time.Now(), time.Now()
	return func(text string) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(os.Stderr, "\x1b[K%s, %v\r", text, time.Since(began).Round(time.Second))
		}
	}
}
