package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/codec"
)

func showCommand(s *server) *cobra.Command {
	var output string
	var more bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Show who holds a lock, when its lease ends, and who waits",
		Long: `show asks the lock's master for its kind, its owners with their counts, its TTL,
its fencing token, a fair lock's queue in order, and how many clients wait for
its release. Other locks have no queue: whoever comes first is next. Nothing is
changed.

An owner is the id of a client, which its log has as "client", and a number; in
Java redisson.getId() and a thread's id. "holds" marks a connection in CLIENT LIST
with an owner's id in its name, as a Go service has it by WithConnectionName, and
"waits" that of an "rlock run" for this lock: rlock-run:NAME:HOST:PID. It is "uses"
where the server can't tell: for permits, whose ids name no client, and if nobody
is known to wait, as when one that was stopped has lost the lock. Others hold and wait under any name. -v has all connections of
a process, those of other clients with "rlock" in their names, and on which
channels clients listen.

The TTL is that of the lease, which most holders renew each third of it. Since
when a lock is held no server knows: a connection's age is a hint, watch sees what
begins after it. If the server refuses a command, "not read" names it, and the
status is 74.`,
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	c.Flags().BoolVarP(&more, "verbose", "v", false, "also channels, and connections of other clients")
	c.RunE = func(c *cobra.Command, args []string) error {
		if output != "text" && output != "json" {
			return wrong("-o is text or json")
		}
		return serving(s, func(ctx context.Context, r *reader, args []string) error {
			st, err := r.one(ctx, args[0])
			if err != nil {
				return err
			}
			conns, err := r.clients(ctx, st)
			if err != nil {
				return err
			}
			if output == "json" {
				err = json.NewEncoder(os.Stdout).Encode(struct {
					*state
					Connections []connection `json:"connections,omitempty"`
				}{st, conns})
			} else {
				size, _ := terminal(os.Stdout)
				st.print(os.Stdout, conns, more, size.columns)
			}
			if err == nil && st.partly() != nil {
				err = fmt.Errorf("not all could be read: %w", st.partly())
			}
			return err
		})(c, args)
	}
	s.fromReplicas(c.Flags())
	return oneName(s, c)
}

// connection is one of CLIENT LIST.
type connection struct {
	Name string `json:"name"`
	Addr string `json:"addr"`
	Age  string `json:"age_s"`
	Subs int    `json:"subscriptions"`
	Of   string `json:"of,omitempty"`   // the owner in its name, or an "rlock run" that waits for this lock
	Does string `json:"does,omitempty"` // holds, waits, or uses where that is not known
}

// clients reads how many clients are subscribed for each place in the queue, and the
// connections that are named like this library's.
func (r *reader) clients(ctx context.Context, s *state) ([]connection, error) {
	if s.Replica != "" {
		return nil, nil // they are the master's
	}
	ask := []command{{"CLIENT", "LIST"}}
	for _, p := range s.Queue {
		ch := codec.FairChannel(s.Name, p.Owner)
		ask = append(ask, command{"PUBSUB", "NUMSUB", ch}, command{"PUBSUB", "SHARDNUMSUB", ch})
	}
	replies, err := s.node.pipe(ctx, ask...)
	if err != nil {
		return nil, err
	}
	for i := range s.Queue {
		var n int64
		for _, reply := range replies[1+2*i : 3+2*i] {
			if v, err := redis.Values(reply, nil); err == nil && len(v) == 2 {
				of, _ := redis.Int64(v[1], nil)
				n = max(n, of)
			}
		}
		s.Queue[i].Listening = &n
	}
	s.unread(ask[0], replies[0])
	list, _ := redis.String(replies[0], nil)
	var all []connection
	for line := range strings.Lines(list) {
		c := connection{}
		for _, word := range strings.Fields(line) {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "name":
				c.Name = value
			case "addr":
				c.Addr = value
			case "age":
				c.Age = value
			case "sub", "ssub", "psub":
				var n int
				fmt.Sscan(value, &n)
				c.Subs += n
			}
		}
		for _, h := range s.Holders {
			if id, _, _ := strings.Cut(h.Owner, ":"); strings.Contains(c.Name, id) {
				c.Of, c.Does = "owner "+h.Owner, "holds"
			}
		}
		if c.Of == "" && strings.HasPrefix(c.Name, runName(s.Name)) {
			if c.Of, c.Does = "rlock run", "waits"; s.Kind == permits || s.waiting() == 0 {
				c.Does = "uses" // a permit's id names no client; and who has lost the lock may not know it yet
			}
		}
		if c.Of != "" || strings.Contains(c.Name, "rlock") && c.Name != "rlock-cli" && !strings.HasPrefix(c.Name, runPrefix) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b connection) int { // those that hold first, then those that wait
		return cmp.Or(cmp.Compare(cmp.Or(a.Does, "~"), cmp.Or(b.Does, "~")), cmp.Compare(a.Addr, b.Addr))
	})
	return all, nil
}

const runPrefix = "rlock-run:"

// runName is the beginning of the names of `rlock run`'s connections for a lock.
func runName(lock string) string {
	name := url.QueryEscape(lock)
	return runPrefix + name[:min(len(name), 60)] + ":"
}

// print writes a line for each thing that is known, and breaks it at columns, unless that is 0.
func (s *state) print(w io.Writer, conns []connection, more bool, columns int) {
	var text strings.Builder
	s.lines(&text, conns, more)
	first, _, _ := strings.Cut(text.String(), "\n")
	indent := len(first) - len(strings.TrimLeft(strings.TrimPrefix(first, "name"), " "))
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSuffix(line, "\n"); columns > 0 && widest(line) > columns {
			at := min(indent, len(line)) // a name may begin with spaces
			line = line[:at] + wrapped(line[at:], at, columns)
		}
		fmt.Fprintln(w, line)
	}
}

func (s *state) lines(w io.Writer, conns []connection, more bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) { fmt.Fprintf(t, what+"\t"+format+"\n", args...) }
	defer t.Flush()
	line("name", "%s", visible(s.Name))
	if line("kind", "%s", s.title()); s.Kind == number {
		line("", "it may be a semaphore's, permits' or a latch's")
	}
	if s.node != nil {
		line("server", "%s", cmp.Or(s.node.stale(), s.node.addr))
	}
	switch {
	case s.Found != "":
		line("holder", "none: the key is a %s that is no lock", s.Found)
	case s.hidden() || s.More > 0 && !s.held():
		line("holder", "not known")
	case s.Kind == semaphore || s.Kind == latch || s.Kind == number: // nobody owns what they count
	case s.Kind == permits && !s.held():
		line("holder", "none")
	case s.KeptBy != "":
		line("holder", "none: it was %s until its AtLeast is over", s.whose())
	case !s.held():
		line("holder", "none: it is free")
	}
	for _, h := range s.Holders {
		line("holder", "%s", h)
	}
	if s.More > 0 {
		line("", "and %d more", s.More)
	}
	if s.Expired > 0 {
		line("expired", "%d: the next acquire frees them", s.Expired)
	}
	if s.Number != nil {
		line(s.numberIs(), "%d", s.free())
	}
	if s.TTL != nil {
		text := s.left()
		if s.Kind == permits && text != "-" {
			text += ", of the permit that expires first"
		}
		line("TTL", "%s", text)
	}
	if s.Token != nil {
		line("token", "%d", *s.Token)
	}
	for i, p := range s.Queue {
		line("queue", "%d. %s", i+1, p)
	}
	switch n := s.waiting(); {
	case s.Kind == fair || n < 0:
	case n == 0:
		line("waiting", "nobody")
	default:
		line("waiting", "%s", plural(n, "client"))
	}
	if more && s.Listening != nil {
		line("listening", "%d on the plain channel, %d on the sharded one", s.Listening.Plain, s.Listening.Sharded)
	}
	if len(s.Unread) > 0 {
		line("not read", "%s", strings.Join(s.Unread, ", "))
	}
	named := map[string]bool{}
	for _, c := range conns {
		switch {
		case more && c.Of == "":
			line("connection", "%s from %s, %ss old, subscriptions: %d, may be any client's", c.Name, c.Addr, c.Age, c.Subs)
		case more && c.Of == "rlock run":
			line("connection", "%s from %s, %s, %ss old, subscriptions: %d, made by rlock run", c.Name, c.Addr, c.Does, c.Age, c.Subs)
		case more:
			line("connection", "%s from %s, %s, %ss old, subscriptions: %d, of %s", c.Name, c.Addr, c.Does, c.Age, c.Subs, c.Of)
		case c.Of != "" && !named[c.Name]: // once for each process
			named[c.Name] = true
			name := c.Name
			if strings.HasPrefix(name, runPrefix) {
				name = name[:strings.LastIndexByte(name, ':')] // without the client's id
			}
			line(c.Does, "%s from %s, connected for %ss", name, c.Addr, c.Age)
		}
	}
}

// title returns the kind for people.
func (s *state) title() string {
	switch {
	case s.Kind == "" && s.Found == "":
		return "none"
	case s.Kind == "":
		return "no lock"
	case s.Mode != "":
		return s.Kind + " (" + s.Mode + ")"
	}
	return s.Kind
}

// noun returns what the key is, within a sentence.
func (s *state) noun() string {
	switch {
	case s.Found != "":
		return "a " + s.Found
	case s.Mode == "read":
		return "a read-write lock, held by readers"
	case s.Mode == "write":
		return "a read-write lock, held by a writer"
	case s.Kind == plain:
		return "a lock"
	case s.Kind == permits:
		return "a permit semaphore"
	case s.Kind == semaphore, s.Kind == latch:
		return "a " + s.Kind
	case s.Kind == number:
		return "a number, such as a semaphore's or a latch's"
	}
	return "a " + s.Kind + " lock"
}

// whose names one holder, and how many more there are.
func (s *state) whose() string {
	switch {
	case s.KeptBy != "":
		return "released, kept by " + s.KeptBy
	case !s.held():
		return "-"
	}
	owner := s.Holders[0].Owner
	if n := int64(len(s.Holders)) - 1 + s.More; n > 0 {
		return fmt.Sprintf("%s and %d more", owner, n)
	}
	return owner
}

// holds returns the number of holds of all owners.
func (s *state) holds() string {
	n := s.holdCount()
	switch {
	case s.Number == nil:
		return fmt.Sprint(n)
	case s.Kind == permits:
		return fmt.Sprintf("%d (%d free)", n, s.free())
	}
	return fmt.Sprintf("- (%s %d)", s.numberIs(), *s.Number)
}

// left returns the TTL for people: of permits, that of the first that expires.
func (s *state) left() string {
	switch ends := s.ends(); {
	case s.TTL == nil || *s.TTL == -2:
		return "-"
	case ends < math.MaxInt64:
		return milliseconds(ends)
	case s.Number == nil:
		return "never expires"
	}
	return "-"
}

// lasts says within a sentence when the lease ends.
func (s *state) lasts() string {
	if text := s.left(); text == "never expires" {
		return text
	}
	return "TTL " + s.left()
}

func (s *state) waiters() string {
	if n := s.waiting(); n >= 0 {
		return fmt.Sprint(n)
	}
	return "?"
}

// milliseconds has as many digits at each look, so that a screen's columns stay.
func milliseconds(ms int64) string {
	if ms < time.Minute.Milliseconds() {
		return fmt.Sprintf("%.1fs", float64(ms/100)/10)
	}
	return (time.Duration(ms) * time.Millisecond).Truncate(time.Second).String()
}

// String returns an owner with its count, or a permit with the time to its end.
func (h holder) String() string {
	text := h.Owner
	switch {
	case h.Expiry != nil:
		text += ", expires in " + milliseconds(*h.Expiry)
	case h.permit:
		text += ", never expires"
	case h.Count != 1:
		text += ", " + plural(h.Count, "hold")
	}
	if h.Write {
		text += ", to write"
	}
	return text
}

// String returns a waiter with the time left to its place.
func (p place) String() string {
	text := p.Owner
	switch {
	case p.Left == nil:
		text += ", without a time"
	case *p.Left <= 0:
		text += ", its time is over"
	default:
		text += ", keeps its place for " + milliseconds(*p.Left)
	}
	if p.Listening != nil && *p.Listening == 0 {
		text += ", not listening"
	}
	return text
}
