package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/codec"
)

func listCommand(s *server) *cobra.Command {
	var match, output string
	var numbers, quiet bool
	c := &cobra.Command{
		Use: "ls", Short: "List the locks that are held or waited for", Args: cobra.NoArgs,
		Long: `ls lists the locks and permits that somebody holds, and the fair locks,
semaphores and latches that somebody waits for, on all masters.

It looks through all keys by SCAN, never KEYS, and rests as long as it works, so
that other clients do not notice. Nothing is changed. A semaphore or a
count-down latch is a number under a name like any other: --numbers shows all
numbers too. A plain, a spin and a non-reentrant lock look alike on the
server: they are "lock", and so is a fair lock that nobody waits for.`,
	}
	c.Flags().StringVar(&match, "match", "*", "only names like this, with * ? [a-z] and \\ as in SCAN")
	c.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	c.Flags().BoolVar(&numbers, "numbers", false, "also what may be a semaphore or a latch")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	c.RunE = func(c *cobra.Command, args []string) error {
		if output != "table" && output != "json" {
			return wrong("-o is table or json")
		}
		return serving(s, func(ctx context.Context, r *reader, _ []string) error {
			l := &listing{r: r, match: match, numbers: numbers}
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
			if output == "json" {
				if all == nil {
					all = []*state{}
				}
				return json.NewEncoder(os.Stdout).Encode(all)
			}
			return table(all)
		})(c, args)
	}
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// listing is one look through all keys.
type listing struct {
	r        *reader
	match    string
	numbers  bool
	progress func(scanned, locks int) // nil: silent
	limit    int                      // ends the look at so many names; 0: none

	scanned int
	names   map[string]*node
}

// batch is how many keys a SCAN looks at: some tenths of a millisecond.
const batch = 500

// list gives the locks of all masters, by name.
func (l *listing) list(ctx context.Context) ([]*state, error) {
	if err := l.find(ctx); err != nil {
		return nil, err
	}
	by := map[*node][]string{}
	for name, n := range l.names {
		by[n] = append(by[n], name)
	}
	var all []*state
	for n, names := range by {
		for some := range slices.Chunk(names, 100) {
			states, err := l.r.read(ctx, n, some...)
			if err != nil {
				return nil, err
			}
			all = append(all, slices.DeleteFunc(states, func(s *state) bool {
				return !s.held() && len(s.Queue) == 0 && (s.Kind != semaphore && s.Kind != latch) && !(l.numbers && s.Kind == number)
			})...)
		}
	}
	slices.SortFunc(all, func(a, b *state) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// find collects names that may be locks.
func (l *listing) find(ctx context.Context) error {
	l.names = map[string]*node{}
	wanted, err := glob(l.match)
	if err != nil {
		return wrong("--match: %w", err)
	}
	masters, err := l.r.masters(ctx)
	if err != nil {
		return err
	}
	token, _, _ := strings.Cut(codec.TokenKey("N"), "{N}")
	named := func(n *node, prefix, suffix string) func(context.Context, []string) error {
		return func(_ context.Context, keys []string) error {
			for _, key := range keys {
				if name := bare(key, prefix, suffix); wanted.matches(name) && !strings.HasPrefix(name, token) && !strings.Contains(name, ":rwlock_timeout:") {
					l.names[name] = n
				}
			}
			return nil
		}
	}
	// These begin and end the names that belong to a lock, without the lock's own.
	queue, _, _ := strings.Cut(codec.FairQueue("N"), "{N}")
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
			return err
		}
	}
	return nil
}

// bare takes off what a lock's other key has around its name.
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

// waited adds semaphores and latches that somebody waits for: their channels say so.
func (l *listing) waited(ctx context.Context, n *node, wanted like) error {
	before, after, _ := strings.Cut(codec.CountDownChannel("N"), "N")
	sc, _, _ := strings.Cut(codec.PermitChannel("N"), "{N}")
	for _, which := range []string{"CHANNELS", "SHARDCHANNELS"} {
		for _, around := range [][2]string{{before, after}, {sc, ""}} {
			channels, err := redis.Strings(n.do(ctx, "PUBSUB", which, around[0]+"*"+around[1]))
			if _, unreachable := err.(*exit); unreachable {
				return err
			}
			var found []string // none before Redis 7, or where it is not allowed
			for _, c := range channels {
				if name := bare(c, around[0], around[1]); wanted.matches(name) {
					found = append(found, name)
				}
			}
			by, err := l.r.by(ctx, slices.Values(found)) // who listens need not do it where the lock is
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
			l.progress(l.scanned, len(l.names))
		}
		if cursor == "0" || l.limit > 0 && len(l.names) >= l.limit {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Since(began)):
		}
	}
}

// hashes keeps those that are locks by their first fields.
func (l *listing) hashes(ctx context.Context, n *node, keys []string) error {
	for some := range slices.Chunk(keys, 100) {
		var ask []command
		for _, key := range some {
			ask = append(ask, command{"HSCAN", key, 0, "COUNT", 10})
		}
		replies, err := n.pipe(ctx, ask...)
		if err != nil {
			return err
		}
		for i, reply := range replies {
			values, err := redis.Values(reply, nil)
			if err != nil || len(values) != 2 {
				continue // it has gone, or become something else
			}
			fields, _ := redis.ByteSlices(values[1], nil)
			if _, holders, _ := lockHash(fields); len(holders) > 0 {
				l.names[some[i]] = n
			}
		}
	}
	return nil
}

// progress shows on a terminal how far it is, once a second has passed.
func progress() func(int, int) {
	if _, is := terminal(os.Stderr); !is {
		return nil
	}
	began, last := time.Now(), time.Now()
	return func(scanned, locks int) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(os.Stderr, "\x1b[K%d keys looked at, %d locks, %v\r", scanned, locks, time.Since(began).Round(time.Second))
		}
	}
}

// table writes a line for each.
func table(all []*state) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tHOLDER\tHOLDS\tTTL\tWAITING")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", visible(s.Name), s.title(), s.whose(), s.holds(), s.left(), s.waiters())
	}
	return w.Flush()
}

// complete gives names for the shell, in the time that somebody waits for them.
func (s *server) complete(begun string) (names []string) {
	r, err := s.reader()
	if err != nil {
		return nil
	}
	defer r.close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	l := &listing{r: r, match: literal(begun) + "*", limit: 50}
	_ = l.find(ctx) // what was found until then
	for name := range l.names {
		names = append(names, name)
	}
	return names
}
