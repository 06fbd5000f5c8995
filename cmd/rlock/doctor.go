package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func doctorCommand(s *server) *cobra.Command {
	d := &doctor{}
	c := &cobra.Command{
		Use: "doctor", Short: "Check servers, account and settings", Args: cobra.NoArgs,
		Long: `doctor asks every master what the library needs of it. Each line begins with
ok, warn (it works, but see) or todo (what to do about it). Unless --read-only
says no, it takes and frees a lock of its own, whose name is --prefix and a
random id. The status is 1 if there is something to do. It looks at all other
locks, for some seconds at most, and says what may let two sides in, such as Java
and Go in different databases, or never ends. With -o json each line is an object
with grade, about and text.`,
	}
	c.Flags().StringVar(&d.prefix, "prefix", "rlock-doctor:", "what lock names begin with, where the account is limited to some")
	c.Flags().DurationVar(&d.watchdog, "watchdog", 30*time.Second, "the watchdog timeout of the clients")
	c.Flags().BoolVar(&s.readOnly, "read-only", false, "write nothing, not even a lock of its own, and ask a replica while its master can't be asked")
	c.Flags().StringVarP(&d.output, "output", "o", "text", "text or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if d.output != "text" && d.output != "json" {
			return wrong("-o is text or json")
		}
		return serving(s, func(ctx context.Context, r *reader, _ []string) error { d.r = r; return d.examine(ctx) })(c, args)
	}
	return c
}

// doctor is one examination.
type doctor struct {
	r        *reader
	prefix   string
	watchdog time.Duration
	todos    int
	output   string // text or json
}

func (d *doctor) say(grade, about, format string, args ...any) {
	if grade == "todo" {
		d.todos++
	}
	if d.output == "json" {
		_ = json.NewEncoder(os.Stdout).Encode(struct {
			Grade string `json:"grade"`
			About string `json:"about"`
			Text  string `json:"text"`
		}{grade, about, fmt.Sprintf(format, args...)})
		return
	}
	size, _ := terminal(os.Stdout)
	fmt.Printf("%-4s  %-12s  %s\n", grade, about, wrapped(fmt.Sprintf(format, args...), 20, size.columns))
}

// graded says fine if good, otherwise what is wrong and what to do.
func (d *doctor) graded(good bool, grade, about, fine, otherwise string) {
	if good {
		grade, otherwise = "ok", fine
	}
	d.say(grade, about, "%s", otherwise)
}

func (d *doctor) examine(ctx context.Context) error {
	if d.r.parts.Master != "" {
		d.sentinels(ctx)
	}
	masters, err := d.r.masters(ctx)
	if err != nil {
		return err
	}
	for _, n := range masters {
		switch stale := n.stale(); {
		case stale != "":
			d.say("todo", "master", "%s", stale)
		case len(masters) > 1:
			d.say("ok", "master", "%s", n.addr)
		}
		if err := d.node(ctx, n); err != nil {
			if err = d.r.missed(ctx, n, err); err != nil {
				return err
			}
		}
	}
	for _, addr := range slices.Sorted(maps.Keys(d.r.gaps.masters)) {
		m := d.r.gaps.masters[addr]
		d.say("todo", "master", "%s with %d of %d slots: %v. Nobody gets a lock there", addr, m.slots, slotCount, m.err)
	}
	if d.r.parts.Cluster {
		d.cluster(ctx, masters[0])
	}
	if err := d.beside(ctx, masters); err != nil {
		return err
	}
	var name string
	var n *node
	for range 1000 { // until the master of one answers
		name = d.prefix + uuid.NewString()
		if n, err = d.r.of(ctx, name); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := d.account(ctx, n, name); err != nil {
		return err
	}
	if !d.r.readOnly {
		d.locks(ctx, name)
	}
	if d.todos > 0 {
		return &exit{1, nil}
	}
	return nil
}

// info returns the lines of INFO, or none if the account may not send it.
func info(ctx context.Context, n *node) (map[string]string, error) {
	text, err := redis.String(n.do(ctx, "INFO"))
	if _, refused := err.(redis.Error); err != nil && !refused {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		all[key] = value
	}
	return all, nil
}

// node examines one master.
func (d *doctor) node(ctx context.Context, n *node) error {
	i, err := info(ctx, n)
	if err != nil {
		return err
	}
	if len(i) == 0 {
		d.say("warn", "server", "INFO is refused, so doctor can't judge versions, replicas and settings")
	} else {
		d.settings(i)
	}
	if err := d.roundTrips(ctx, n); err != nil {
		return err
	}
	if err := d.commands(ctx, n); err != nil {
		return err
	}
	if err := d.barrier(ctx, n); err != nil {
		return err
	}
	reply, err := n.do(ctx, "CLIENT", "TRACKING", "ON")
	d.graded(reply == "OK", "warn", "tracking", "CLIENT TRACKING works",
		fmt.Sprintf("CLIENT TRACKING is refused, so a loss is noticed at the next renewal: %v", err))
	if err == nil {
		_, err = n.do(ctx, "CLIENT", "TRACKING", "OFF")
	}
	if _, lost := err.(*exit); lost {
		return err
	}
	if n.instead != nil {
		return nil
	}
	return d.replicas(ctx, n, i)
}

func (d *doctor) settings(i map[string]string) {
	version, product := i["redis_version"], "Redis"
	if v := i["valkey_version"]; v != "" {
		version, product = v, "Valkey"
	}
	var major, minor int
	fmt.Sscanf(version, "%d.%d", &major, &minor)
	d.graded(major > 6 || major == 6 && minor >= 2, "warn", "version",
		product+" "+version, product+" "+version+" is older than what was proven: 6.2, 7.0, 8.0, Valkey 8")
	policy := i["maxmemory_policy"]
	d.graded(policy == "noeviction", "todo", "memory", "maxmemory-policy noeviction: locks are not evicted",
		fmt.Sprintf("a full server deletes locks: set maxmemory-policy to noeviction, not %s (it uses %s, maxmemory is %s)", policy, i["used_memory_human"], i["maxmemory_human"]))
	used, _ := strconv.Atoi(i["connected_clients"])
	limit, _ := strconv.Atoi(i["maxclients"])
	if limit > 0 {
		of := fmt.Sprintf("%d of %d connections", used, limit)
		d.graded(used*10 < limit*8, "todo", "clients", of, of+": raise maxclients, or find who opens so many")
	}
	if i["cluster_enabled"] != "1" && i["connected_slaves"] == "0" && i["role"] != "slave" {
		d.graded(i["aof_enabled"] == "1", "warn", "persistence", "appendonly yes",
			"appendonly no, and no replica: a restart frees all locks, and two may be inside")
	}
	if n, _ := strconv.Atoi(i["evicted_keys"]); n > 0 {
		d.say("warn", "evictions", "%s evicted since the start: locks may have been among them", plural(int64(n), "key"))
	}
}

// roundTrips measures PING, and how far the clocks differ.
func (d *doctor) roundTrips(ctx context.Context, n *node) error {
	var took []time.Duration
	for range 200 {
		began := time.Now()
		if _, err := n.do(ctx, "PING"); err != nil {
			if _, lost := err.(*exit); lost {
				return err
			}
			d.say("todo", "PING", "allow it: %v", err)
			return nil
		}
		took = append(took, time.Since(began))
	}
	p50, p99 := percentiles(took)
	trips := fmt.Sprintf("p50 %v, p99 %v", p50, p99)
	d.graded(p99 < d.r.timeout/10, "warn", "round trip", trips,
		fmt.Sprintf("%s: slow for a command timeout of %v. See SLOWLOG GET and LATENCY LATEST, and the network", trips, d.r.timeout))
	replies, err := n.pipe(ctx, command{"TIME"})
	if err != nil {
		return err
	}
	if _, refused := replies[0].(redis.Error); !refused {
		off := time.Until(time.UnixMilli(serverTime(replies[0]))).Round(time.Millisecond)
		text := fmt.Sprintf("%v from this machine's", off)
		d.graded(off.Abs() < time.Second+p99, "warn", "clock", text,
			text+": Java's fair locks and permits expire by the clients' clocks. Have a time service slew both")
	}
	return nil
}

// barrier tries CLIENT KILL on a connection made for that.
func (d *doctor) barrier(ctx context.Context, n *node) error {
	other, err := d.r.dial(ctx, d.r.parts.Target, n.addr)
	if err != nil {
		return unreachableError(err)
	}
	defer other.conn.Close()
	id, err := other.do(ctx, "CLIENT", "ID")
	var killed any
	if err == nil {
		killed, err = n.do(ctx, "CLIENT", "KILL", "ID", id)
	}
	if _, lost := err.(*exit); lost {
		return err
	}
	if err == nil && killed != int64(1) {
		err = fmt.Errorf("it ended %v connections", killed)
	}
	d.graded(err == nil, "warn", "CLIENT KILL", "the kill barrier works",
		fmt.Sprintf("refused, so a lost acquire is undone again and again for one lease. Allow CLIENT ID, INFO and KILL: %v", err))
	return nil
}

// replicas checks whether there are replicas, and whether they acknowledge.
func (d *doctor) replicas(ctx context.Context, n *node, i map[string]string) error {
	count, _ := strconv.Atoi(i["connected_slaves"])
	several := d.r.parts.Master != "" || d.r.parts.Cluster || d.r.parts.Replicated
	if count == 0 {
		if several && len(i) > 0 {
			d.say("todo", "replicas", "none is connected: nothing can take over. Start one")
		}
		return nil
	}
	for k := range count {
		if state := i["slave"+strconv.Itoa(k)]; !strings.Contains(state, "state=online") {
			d.say("warn", "replicas", "one is not online: %s. See its log", state)
		}
	}
	conn, err := d.r.dial(ctx, d.r.parts.Target, n.addr) // WAIT blocks it
	if err != nil {
		return unreachableError(err)
	}
	defer conn.conn.Close()
	// WAIT covers all writes up to the connection's last command, so PING comes first.
	const patience = time.Second
	replies, err := conn.pipe(ctx, command{"PING"}, command{"WAIT", count, min(patience, d.r.timeout/2).Milliseconds()})
	if err != nil {
		return err
	}
	acknowledged, err := redis.Int(replies[1], nil)
	switch {
	case err != nil:
		d.say("warn", "WAIT", "refused, so grants are not acknowledged. Allow WAIT: %v", err)
	case acknowledged == 0:
		d.say("todo", "WAIT", "none of %s acknowledges within %v: nobody gets a lock. See INFO replication", plural(int64(count), "replica"), patience)
	case acknowledged < count:
		d.say("warn", "WAIT", "%d of %d replicas acknowledge within %v: each lock waits for the rest. See INFO replication", acknowledged, count, patience)
	default:
		d.say("ok", "WAIT", "acknowledged by %s", plural(int64(count), "replica"))
	}
	return nil
}

// cluster checks the state of the whole cluster.
func (d *doctor) cluster(ctx context.Context, n *node) {
	text, err := redis.String(n.do(ctx, "CLUSTER", "INFO"))
	if err != nil {
		d.say("warn", "cluster", "CLUSTER INFO: %v", err)
		return
	}
	words := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		words[key] = value
	}
	d.graded(words["cluster_state"] == "ok", "todo", "cluster", "state ok", "state "+words["cluster_state"]+": see CLUSTER NODES")
	d.graded(words["cluster_slots_ok"] == "16384", "todo", "slots", "all are served", words["cluster_slots_ok"]+" of 16384 are served: see CLUSTER SLOTS")
}

// elects is how long a failover takes once the master counts as down.
const elects = 2 * time.Second

// sentinels compares the Sentinels' settings with the leases.
func (d *doctor) sentinels(ctx context.Context) {
	for _, addr := range d.r.parts.Servers {
		s, err := d.r.dial(ctx, d.r.sentinels, addr)
		var words map[string]string
		if err == nil {
			words, err = redis.StringMap(s.do(ctx, "SENTINEL", "MASTER", d.r.parts.Master))
			s.conn.Close()
		}
		if err != nil {
			d.say("todo", "Sentinel", "%s: %v", addr, err)
			continue
		}
		ms, _ := strconv.Atoi(words["down-after-milliseconds"])
		after, allowed := time.Duration(ms)*time.Millisecond, max(d.watchdog*13/20-elects, 0)
		text := fmt.Sprintf("%s: down-after %v, at most %v for leases of %v", addr, after, allowed.Round(100*time.Millisecond), d.watchdog)
		remedy := fmt.Sprintf("SENTINEL SET %s down-after-milliseconds %d", d.r.parts.Master, min(5*time.Second, allowed).Milliseconds())
		if allowed < time.Second {
			remedy = "no failover is so quick, so use a longer watchdog timeout"
		}
		d.graded(after <= allowed, "todo", "Sentinel", text, text+": "+remedy)
		quorum, _ := strconv.Atoi(words["quorum"])
		others, _ := strconv.Atoi(words["num-other-sentinels"])
		text = fmt.Sprintf("%d, of which %d decide", others+1, quorum)
		d.graded(others+1 >= max(quorum, 3), "warn", "Sentinels", text, text+": with fewer than three, one that is down stops failovers. Start more")
		if flags := words["flags"]; flags != "master" {
			d.say("warn", "Sentinel", "%s calls the master %s", addr, flags)
		}
	}
}

// wrapped breaks a text at columns, unless that is 0. Later lines begin at indent.
func wrapped(text string, indent, columns int) string {
	if columns == 0 {
		return text
	}
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		n := width(word)
		switch {
		case i == 0:
		case at+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
