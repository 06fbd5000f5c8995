package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

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
server: they are "lock", and so is a fair lock that nobody waits for.

On a terminal that is too narrow, owners are shortened: "rlock show NAME" and
-o json have them in full. With -o json, a name that is no UTF-8 is in
name_base64 too. The status is 74 if a part of a cluster can't be read.`,
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
				err = json.NewEncoder(os.Stdout).Encode(all)
			} else {
				size, _ := terminal(os.Stdout)
				_, err = io.WriteString(os.Stdout, table(all, size.columns))
			}
			return cmp.Or(err, r.gaps.err())
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
	progress func(string) // nil: silent
	limit    int          // the search ends at this many names; 0: no limit

	scanned, total int // keys, in all passes
	names          map[string]*node
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
			states, err := l.r.states(ctx, n, some...)
			if err != nil {
				return nil, err
			}
			if read += len(some); l.progress != nil {
				l.progress(fmt.Sprintf("%d of %d locks read", read, len(l.names)))
			}
			all = append(all, slices.DeleteFunc(states, func(s *state) bool {
				return !s.held() && s.waiting() <= 0 && !(l.numbers && s.Number != nil)
			})...)
		}
	}
	slices.SortFunc(all, func(a, b *state) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// states reads many names of one master. It adds those that it can't read to the gaps.
func (r *reader) states(ctx context.Context, n *node, names ...string) ([]*state, error) {
	all, err := r.read(ctx, n, names...)
	if err != nil {
		for _, name := range names {
			r.gaps.name(name, err)
		}
		return nil, r.missed(ctx, n, err)
	}
	return slices.DeleteFunc(all, func(s *state) bool {
		if s.err != nil {
			r.gaps.name(s.Name, s.err)
		}
		return s.err != nil
	}), nil
}

// find collects names that may be locks.
func (l *listing) find(ctx context.Context) error {
	l.names, l.r.gaps = map[string]*node{}, gaps{}
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
	token, _, _ := strings.Cut(codec.TokenKey("N"), "{N}")
	unlock, _, _ := strings.Cut(codec.Latch("N", ""), "{N}")
	named := func(n *node, prefix, suffix string) func(context.Context, []string) error {
		return func(_ context.Context, keys []string) error {
			for _, key := range keys {
				if name := bare(key, prefix, suffix); wanted.matches(name) && !strings.HasPrefix(name, token) && !strings.HasPrefix(name, unlock) && !strings.Contains(name, ":rwlock_timeout:") {
					l.names[name] = n
				}
			}
			return nil
		}
	}
	// The beginning or end that a lock's other keys have around its name.
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
	before, after, _ := strings.Cut(codec.CountDownChannel("N"), "N")
	sc, _, _ := strings.Cut(codec.PermitChannel("N"), "{N}")
	for _, which := range []string{"CHANNELS", "SHARDCHANNELS"} {
		for _, around := range [][2]string{{before, after}, {sc, ""}} {
			channels, err := redis.Strings(n.do(ctx, "PUBSUB", which, around[0]+"*"+around[1]))
			if _, unreachable := err.(*exit); unreachable {
				return err
			}
			var found []string // none before Redis 7, or if the account may not ask
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

// hashes keeps the keys whose first fields are those of a lock.
func (l *listing) hashes(ctx context.Context, n *node, keys []string) error {
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
			values, err := redis.Values(reply, nil)
			if err != nil || len(values) != 2 {
				continue // the key was deleted, or has become something else
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
	locks := fmt.Sprintf("%d locks", len(l.names))
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

// narrow says the same in fewer columns.
var narrow = strings.NewReplacer("read-write (read)", "read", "read-write (write)", "write", "read-write", "r/w", "never expires", "never")

// table returns a line for each lock. If columns is not 0, it shortens owners, kinds and
// names until the lines have that width.
func table(all []*state, columns int) string {
	say := strings.Clone
	lines := func(holder func(string) string, name int) string {
		var b strings.Builder
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tKIND\tTTL\tHOLDS\tWAITING\tHOLDER")
		for _, s := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", cut(visible(s.Name), name), say(s.title()), say(s.left()), s.holds(), s.waiters(), holder(s.whose()))
		}
		w.Flush()
		return b.String()
	}
	text := lines(strings.Clone, math.MaxInt)
	if columns == 0 || widest(text) <= columns {
		return text
	}
	text = lines(short, math.MaxInt)
	if widest(text) > columns {
		say = narrow.Replace
		text = lines(short, math.MaxInt)
	}
	if over := widest(text) - columns; over > 0 {
		longest := 0
		for _, s := range all {
			longest = max(longest, utf8.RuneCountInString(visible(s.Name)))
		}
		text = lines(short, max(longest-over, 10))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(cut(strings.TrimSuffix(line, "\n"), columns) + "\n")
	}
	return b.String()
}

// ids matches the ids of clients and permits.
var ids = regexp.MustCompile(`([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}|([0-9a-f]{8})[0-9a-f]{24}`)

// short shortens the ids in a text to their beginning, by which they can be found in logs.
func short(text string) string { return ids.ReplaceAllString(text, "$1$3…") }

func widest(text string) (columns int) {
	for line := range strings.Lines(text) {
		columns = max(columns, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
	}
	return columns
}

// cut shortens a text to this many characters.
func cut(text string, columns int) string {
	if r := []rune(text); len(r) > columns {
		return string(r[:max(columns-1, 0)]) + "…"
	}
	return text
}

// complete returns names for the shell's completion, for which a user waits at most two seconds.
func (s *server) complete(begun string) (names []string) {
	r, err := s.reader()
	if err != nil {
		return nil
	}
	defer r.close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	l := &listing{r: r, match: literal(begun) + "*", limit: 50}
	_ = l.find(ctx) // names that were found before an error count
	for name := range l.names {
		if typed(name) {
			names = append(names, name)
		}
	}
	return names
}

// typed reports whether a shell can show a name and a user can type it.
func typed(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
