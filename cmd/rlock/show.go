package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	c := &cobra.Command{
		Use: "show NAME", Short: "Show who holds a lock, for how long, and who waits",
		Long: `show asks the lock's master for its kind, its owners with their counts, its TTL,
its fencing token, a fair lock's queue in order, and how many clients listen for
its release, on plain and on sharded channels. Nothing is changed.

An owner is the id of a client, which its log has as "client", and a number; in
Java redisson.getId() and a thread's id. The connections are those of CLIENT LIST
with "rlock" in their names, or an owner's id.`,
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
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
				return json.NewEncoder(os.Stdout).Encode(struct {
					*state
					Connections []connection `json:"connections,omitempty"`
				}{st, conns})
			}
			st.print(os.Stdout, conns)
			return nil
		})(c, args)
	}
	return oneName(s, c)
}

// connection is one of CLIENT LIST.
type connection struct {
	Name string `json:"name"`
	Addr string `json:"addr"`
	Age  string `json:"age_s"`
	Subs int    `json:"subscriptions"`
	Of   string `json:"of,omitempty"` // the owner, or the run of this lock, that it is of by its name
}

// clients reads the owners' places in the queue, who listens, and the
// connections that are named like this library's.
func (r *reader) clients(ctx context.Context, s *state) ([]connection, error) {
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
				c.Of = "owner " + h.Owner
			}
		}
		if strings.HasPrefix(c.Name, runName(s.Name)) {
			c.Of = "rlock run"
		}
		if c.Of != "" || strings.Contains(c.Name, "rlock") && c.Name != "rlock-cli" && !strings.HasPrefix(c.Name, runPrefix) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b connection) int { return strings.Compare(b.Of+a.Addr, a.Of+b.Addr) })
	return all, nil
}

const runPrefix = "rlock-run:"

// runName is what the connections of `rlock run` for a lock begin with.
func runName(lock string) string {
	name := url.QueryEscape(lock)
	return runPrefix + name[:min(len(name), 60)] + ":"
}

func (s *state) print(w io.Writer, conns []connection) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) { fmt.Fprintf(t, what+"\t"+format+"\n", args...) }
	defer t.Flush()
	line("name", "%s", visible(s.Name))
	line("kind", "%s", s.title())
	if s.node != nil {
		line("server", "%s", s.node.addr)
	}
	switch {
	case s.Found != "":
		line("holder", "none: the key is a %s that is no lock", s.Found)
	case !s.held():
		line("holder", "none")
	}
	for _, h := range s.Holders {
		line("holder", "%s", h)
	}
	if s.More > 0 {
		line("", "and %d more", s.More)
	}
	if s.Free != nil {
		line("free", "%d", *s.Free)
	}
	if s.TTL != nil {
		line("TTL", "%s", s.left())
	}
	if s.Token != nil {
		line("token", "%d", *s.Token)
	}
	for i, p := range s.Queue {
		line("queue", "%d. %s", i+1, p)
	}
	if s.Listening != nil && s.Kind != fair {
		line("listening", "%d on the plain channel, %d on the sharded one", s.Listening.Plain, s.Listening.Sharded)
	}
	if len(s.Unread) > 0 {
		line("not read", "%s: the account may not, see docs/security.md", strings.Join(s.Unread, ", "))
	}
	for _, c := range conns {
		of := "may be any client's"
		if c.Of != "" {
			of = "of " + c.Of
		}
		line("connection", "%s from %s, %s s old, subscriptions: %d, %s", c.Name, c.Addr, c.Age, c.Subs, of)
	}
}

// title is the kind for people.
func (s *state) title() string {
	switch {
	case s.Kind == number:
		return "semaphore, permits or latch"
	case s.Kind == "" && s.Found == "":
		return "none"
	case s.Kind == "":
		return "no lock"
	case s.Mode != "":
		return s.Kind + " (" + s.Mode + ")"
	}
	return s.Kind
}

// whose is one holder, and how many more there are.
func (s *state) whose() string {
	if !s.held() {
		return "-"
	}
	if n := int64(len(s.Holders)) - 1 + s.More; n > 0 {
		return fmt.Sprintf("%s and %d more", s.Holders[0].Owner, n)
	}
	return s.Holders[0].Owner
}

// holds is how many there are, of all owners.
func (s *state) holds() string {
	n := s.More
	for _, h := range s.Holders {
		n += h.Count
	}
	if s.Free != nil {
		return fmt.Sprintf("%d (%d free)", n, *s.Free)
	}
	return fmt.Sprint(n)
}

// left is the TTL.
func (s *state) left() string {
	switch {
	case s.TTL == nil || *s.TTL == -2:
		return "-"
	case *s.TTL < 0 && s.Free == nil:
		return "never expires"
	case *s.TTL < 0:
		return "-"
	}
	return milliseconds(*s.TTL)
}

func (s *state) waiters() string {
	if n := s.waiting(); n >= 0 {
		return fmt.Sprint(n)
	}
	return "?"
}

func milliseconds(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// String is an owner with its count, or a permit with its end.
func (h holder) String() string {
	text := h.Owner
	switch {
	case h.Expiry != nil:
		text += ", expires in " + milliseconds(*h.Expiry)
	case h.Count != 1:
		text += fmt.Sprintf(", %d holds", h.Count)
	}
	if h.Write {
		text += ", to write"
	}
	return text
}

// String is a waiter with what is left of its place.
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
