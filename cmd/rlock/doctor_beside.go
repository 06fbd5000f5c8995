package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// looks bounds the search for all locks, since a server may have many other keys.
const looks = 10 * time.Second

// beside looks for what lets two sides in that both believe to use the same lock, such as Java and Go with different
// databases. The server sees nothing wrong with it. There is one check for each cause.
func (d *doctor) beside(ctx context.Context, masters []*node) error {
	search, cancel := context.WithTimeout(ctx, looks)
	defer cancel()
	var all []*state
	waited, err := d.waited(search, masters)
	if err == nil {
		all, err = (&listing{r: d.r, match: "*"}).list(search)
	}
	if gaps := d.r.gaps.err(); err == nil && gaps != nil {
		d.say("warn", "locks", "not all could be compared: %v", gaps)
	}
	switch {
	case err != nil && ctx.Err() == nil && search.Err() != nil:
		d.say("warn", "locks", "they were not compared, because a look at all keys takes longer than %v. See ls", looks)
		return nil
	case err != nil && ctx.Err() == nil:
		d.say("warn", "locks", "they were not compared: %v", err)
		return nil
	case err != nil:
		return err
	}
	names := map[string]bool{} // true: it is held; false: it is only waited for
	for _, name := range waited {
		names[name] = false
	}
	for _, s := range all {
		names[s.Name] = s.held()
	}
	if err := d.databases(ctx, names); err != nil {
		return err
	}
	if err := d.owners(ctx, names); err != nil {
		return err
	}
	d.mappedQueues(all)
	d.mappedKeys(all)
	d.leases(all)
	return nil
}

// one says the first of some findings, and how many more there are, or that all is fine.
func (d *doctor) one(grade, about, fine string, found []string) {
	if len(found) == 0 {
		d.say("ok", about, "%s", fine)
		return
	}
	slices.Sort(found)
	more := ""
	if n := len(found) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	d.say(grade, about, "%s%s", found[0], more)
}

// waited returns the names that somebody waits for by Redisson's channels of locks. Channels belong to no database.
func (d *doctor) waited(ctx context.Context, masters []*node) (names []string, err error) {
	lock, _, _ := strings.Cut(codec.Channel("N"), "{N}")
	rw, _, _ := strings.Cut(codec.ReadWriteChannel("N"), "{N}")
	for _, n := range masters {
		for _, prefix := range []string{lock, rw} {
			channels, err := redis.Strings(n.do(ctx, "PUBSUB", "CHANNELS", prefix+"*"))
			if said, refused := err.(redis.Error); refused {
				d.say("warn", "channels", "PUBSUB CHANNELS is refused, so names that are only waited for were not compared: %v", said)
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			for _, c := range channels {
				// A waiter of a fair lock has a channel of its own, whose name ends with its owner.
				if at := strings.LastIndex(c, "}:"); at > 0 && strings.Count(c[at:], ":") == 2 {
					c = c[:at+1]
				}
				names = append(names, bare(c, prefix, ""))
			}
		}
	}
	return names, nil
}

// databases looks for the names in the server's other databases: those exclude nobody here, although their channels
// are the same.
func (d *doctor) databases(ctx context.Context, names map[string]bool) error {
	if d.r.parts.Cluster {
		return nil // it has one
	}
	masters, err := d.r.masters(ctx)
	if err != nil {
		return err
	}
	keyspace, err := info(ctx, masters[0])
	if err != nil || len(keyspace) == 0 {
		return err
	}
	own := d.r.parts.Target.Database
	var twice, elsewhere []string
	for db := range 1 << 14 { // more than any server has
		if _, used := keyspace[fmt.Sprintf("db%d", db)]; !used || db == own {
			continue
		}
		there, err := d.heldIn(ctx, masters[0].addr, db, names)
		if said, refused := err.(redis.Error); refused {
			d.say("warn", "databases", "database %d has keys too, and %d is yours, but they can't be compared: %v", db, own, said)
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range there {
			if names[name] {
				twice = append(twice, fmt.Sprintf("%s is held in database %d and in database %d at once, so two are inside. Give all programs one database: Java by setDatabase, Go by the path of the URL", visible(name), own, db))
			} else {
				elsewhere = append(elsewhere, fmt.Sprintf("%s is waited for, and is held in database %d, not in %d. If its waiters use %d, two get inside: give all programs one database, Java by setDatabase, Go by the path of the URL", visible(name), db, own, own))
			}
		}
	}
	if len(twice) == 0 {
		d.one("warn", "databases", "no lock is in two databases", elsewhere)
		return nil
	}
	d.one("todo", "databases", "", twice)
	return nil
}

// heldIn returns those names that are locks in another database.
func (d *doctor) heldIn(ctx context.Context, addr string, db int, names map[string]bool) (held []string, err error) {
	n, err := d.r.dial(ctx, d.r.parts.Target, addr)
	if err != nil {
		return nil, unreachableError(err)
	}
	defer n.conn.Close()
	if _, err := n.do(ctx, "SELECT", db); err != nil {
		return nil, err
	}
	err = d.fields(ctx, n, sorted(names), func(name string, fields [][]byte) {
		if _, holders, _ := lockHash(fields); len(holders) > 0 {
			held = append(held, name)
		}
	})
	return held, err
}

// fields calls fn with the first fields of each name that is a hash.
func (d *doctor) fields(ctx context.Context, n *node, names []string, fn func(name string, fields [][]byte)) error {
	for some := range slices.Chunk(names, 100) {
		var ask []command
		for _, name := range some {
			ask = append(ask, command{"HSCAN", name, 0, "COUNT", 10})
		}
		replies, err := d.r.ask(ctx, n, ask...)
		if err != nil {
			return err
		}
		for i, reply := range replies {
			values, err := redis.Values(reply, nil)
			if err != nil || len(values) != 2 {
				continue // it is of another type, or refused, which list has said
			}
			fields, _ := redis.ByteSlices(values[1], nil)
			fn(some[i], fields)
		}
	}
	return nil
}

func sorted(names map[string]bool) []string {
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// owners looks for owners that neither Redisson nor rlock writes.
func (d *doctor) owners(ctx context.Context, names map[string]bool) error {
	by, err := d.r.by(ctx, slices.Values(sorted(names)))
	if err != nil {
		return err
	}
	var found []string
	for n, some := range by {
		err := d.fields(ctx, n, some, func(name string, fields [][]byte) {
			for i := 0; i+1 < len(fields); i += 2 {
				owner, _ := strings.CutSuffix(string(fields[i]), ":write")
				if _, _, err := codec.ParseOwner(owner); err != nil && owner != "mode" {
					found = append(found, fmt.Sprintf("%s has the owner %s, which neither Redisson nor rlock writes: another library locks there, which may not exclude them. Find it, and give its locks other names", visible(name), visible(owner)))
					return
				}
			}
		})
		if err != nil {
			return err
		}
	}
	d.one("todo", "owners", "all are of Redisson's form", found)
	return nil
}

// older is what to do if a Redisson with a NameMapper makes other names than this client.
const older = "Update Redisson, or open Go with rlock.WithRedisson and its release. See docs/from-java.md"

// mappedQueues looks for a fair lock's queue that has another name than its lock: Redisson up to 3.51 makes the
// queue's name without the NameMapper.
func (d *doctor) mappedQueues(all []*state) {
	var found []string
	for _, s := range all {
		if s.Kind != fair || s.held() {
			continue
		}
		for _, o := range all {
			if o.held() && o.Name != s.Name && strings.HasSuffix(o.Name, s.Name) {
				found = append(found, fmt.Sprintf("the queue of %s has %d waiting and no holder, and %s is held. With a NameMapper, Redisson up to 3.51 queues there, so that waiters of the two languages are not in one queue. %s", visible(s.Name), len(s.Queue), visible(o.Name), older))
				break
			}
		}
	}
	d.one("todo", "fair queues", "each has the name of its lock", found)
}

// mappedKeys looks for pairs of locks that may be one, because one side maps names and the other does not, or maps
// them twice.
func (d *doctor) mappedKeys(all []*state) {
	by := map[string]*state{}
	for _, s := range all {
		if s.held() {
			by[s.Name] = s
		}
	}
	var twice, once []string
	for name, s := range by {
		for i := 1; i < len(name); i++ {
			o := by[name[i:]]
			if o == nil || sharesClient(s, o) {
				continue
			}
			switch prefix := name[:i]; {
			case s.Kind == readWrite && o.Kind == readWrite && strings.HasPrefix(o.Name, prefix):
				twice = append(twice, fmt.Sprintf("%s and %s are both held. With a NameMapper that puts %q before each name, Redisson up to 3.20.0 puts it twice before a read-write lock's, so that two writers may be inside. %s", visible(s.Name), visible(o.Name), prefix, older))
			case s.Kind == o.Kind && strings.ContainsAny(prefix[i-1:], ":./-_"):
				once = append(once, fmt.Sprintf("%s and %s are held by different clients. If one of them has a NameMapper that puts %q before each name, the other needs the same one, or two are inside", visible(s.Name), visible(o.Name), prefix))
			}
		}
	}
	if len(twice) > 0 {
		d.one("todo", "names", "", twice)
		return
	}
	d.one("warn", "names", "no two locks seem to be one, with a NameMapper and without", once)
}

// sharesClient tells whether one client holds both locks: then it means two.
func sharesClient(s, o *state) bool {
	return slices.ContainsFunc(s.Holders, func(a holder) bool {
		client, _, _ := strings.Cut(a.Owner, ":")
		return slices.ContainsFunc(o.Holders, func(b holder) bool { return strings.HasPrefix(b.Owner, client+":") })
	})
}

// leases looks for leases that no client with this watchdog timeout sets.
func (d *doctor) leases(all []*state) {
	var found []string
	for _, s := range all {
		if s.TTL == nil || !s.locked() || s.Kind == permits {
			continue
		}
		if *s.TTL == -1 {
			found = append(found, fmt.Sprintf("%s never expires, which no client leaves so: PERSIST, a write by hand or a restore without TTLs does. If its holder is dead, give it one by PEXPIRE", visible(s.Name)))
		}
		if !s.held() {
			continue
		}
		if ttl := time.Duration(*s.TTL) * time.Millisecond; ttl > d.watchdog {
			found = append(found, fmt.Sprintf("%s has %v left, more than --watchdog %v. Either its lease is fixed, or its client has a longer lockWatchdogTimeout. Give all clients the same, because a renewal of a read-write lock sets the lease of all its holders", visible(s.Name), ttl.Round(time.Second), d.watchdog))
		}
	}
	d.one("warn", "leases", fmt.Sprintf("none is longer than --watchdog %v", d.watchdog), found)
}
