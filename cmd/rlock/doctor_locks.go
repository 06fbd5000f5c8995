package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// needs has the commands of each use, for ACL DRYRUN: k is the lock's key, q the queue,
// t its times, f the token, z the permits' times, c the channel.
var needs = []struct{ use, commands string }{
	{"locks", "ping;evalsha 0 0;script load x;exists k;hexists k f;hget k f;hincrby k f 1;pexpire k 1;pttl k;type k;get k;set k v;del k;publish c m;subscribe c;unsubscribe c"},
	{"Info", "hlen k;hgetall k;pubsub numsub c"},
	{"ls, show and watch", "scan 0;dbsize;type k;pttl k;hlen k;strlen k;get k;hscan k 0;lrange q 0 0;zrange t 0 0;zcard z;zrange z 0 0;pubsub numsub c;pubsub shardnumsub c;pubsub channels x;pubsub shardchannels x;time;client list"},
	{"fair locks", "hset k f v;lindex q 0;llen q;lpop q;lrange q 0 0;lrem q 0 v;lset q 0 v;rpush q v;time;zadd t 1 m;zincrby t 1 m;zrange t 0 0;zrem t m;zscore t m"},
	{"read-write locks", "hset k f v;hdel k f;hlen k;hgetall k"},
	{"fenced locks", "incr f"},
	{"permits", "decrby k 1;incrby k 1;time;zadd z 1 m;zcard z;zcount z 0 1;zrange z 0 0;zrangebyscore z 0 1;zrem z m;zscore z m"},
	{"semaphores and latches", "decr k;decrby k 1;incrby k 1;persist k"},
}

// account asks what the account may do, if the server can say that.
func (d *doctor) account(ctx context.Context, n *node, name string) error {
	user, err := redis.String(n.do(ctx, "ACL", "WHOAMI"))
	if err == nil {
		_, err = n.do(ctx, "ACL", "DRYRUN", user, "PING")
	}
	if said, refused := err.(redis.Error); refused {
		d.say("warn", "account", "ACL DRYRUN can't be asked, so only what is tried below is known: %v", said)
		return nil
	}
	if err != nil {
		return err
	}
	words := map[string]string{"k": name, "q": codec.FairQueue(name), "t": codec.FairTimes(name), "f": codec.TokenKey(name), "z": codec.PermitTimes(name), "c": codec.Channel(name)}
	for i, need := range needs {
		var lacks []string
		for text := range strings.SplitSeq(need.commands, ";") {
			parts := strings.Fields(text)
			ask := command{"ACL", "DRYRUN", user}
			for j, p := range parts {
				// A word of one letter in this place stands for a key or a channel.
				if full, ok := words[p]; ok && j == 1 {
					p = full
				}
				ask = append(ask, p)
			}
			reply, err := n.do(ctx, ask[0].(string), ask[1:]...)
			if _, refused := err.(redis.Error); err != nil && !refused {
				return err
			}
			if text := fmt.Sprintf("%s", reply); err == nil && text != "OK" {
				lacks = append(lacks, lacking(parts, text))
			}
		}
		grade, hint := "warn", ""
		if i == 0 {
			grade, hint = "todo", d.elsewhere(strings.Join(lacks, ", "))
		}
		d.graded(len(lacks) == 0, grade, "account", "account "+user+" may use "+need.use,
			fmt.Sprintf("account %s may not use %s: it lacks %s. See docs/security.md%s", user, need.use, strings.Join(slices.Compact(lacks), ", "), hint))
	}
	return nil
}

// elsewhere says how to look at an account that may only use some names, if that is what it was refused for.
func (d *doctor) elsewhere(refused string) string {
	if !strings.Contains(refused, " key") && !strings.Contains(refused, " channel") {
		return ""
	}
	return ". If it may use only some names, say how they begin by --prefix, which is " + d.prefix + " now"
}

// lacking returns what an account lacks by ACL DRYRUN's reply: a command, a key or a channel.
func lacking(command []string, said string) string {
	if _, what, ok := strings.Cut(said, "access the "); ok {
		return strings.ReplaceAll(strings.Trim(what, " ."), "'", "") // such as 'a' key
	}
	switch command[0] {
	case "client", "pubsub", "script":
		return command[0] + "|" + command[1]
	}
	return command[0]
}

// locks takes a lock, lets another client wait, and frees the lock, to see whether
// scripts, messages and the wake-up work.
func (d *doctor) locks(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, 4*d.r.timeout)
	defer cancel()
	var clients [2]*rlock.Client
	for i := range clients {
		c, err := d.r.open(ctx, rlock.WithWatchdogTimeout(d.watchdog), rlock.WithConnectionName("rlock-cli"), rlock.WithCourtesy(false))
		if err != nil {
			d.say("todo", "client", "%s", told(err))
			return
		}
		defer c.Close()
		clients[i] = c
	}
	// If doctor is killed, the lease frees the lock.
	held, err := clients[0].NewLock(name).TryLock(ctx, rlock.Lease(4*d.r.timeout))
	if err != nil {
		d.say("todo", "scripts", "no lock can be taken: %s%s", told(err), d.elsewhere(err.Error()))
		return
	}
	d.say("ok", "scripts", "a lock was taken")
	type entry struct {
		hold *rlock.Hold
		err  error
		at   time.Time
	}
	entered := make(chan entry, 1)
	go func() {
		h, err := clients[1].NewLock(name).Lock(ctx, rlock.Lease(4*d.r.timeout))
		entered <- entry{h, err, time.Now()}
	}()
	listens := func() bool {
		s, err := d.r.one(ctx, name)
		return err != nil || s.waiting() != 0
	}
	for until := time.Now().Add(d.r.timeout); !listens() && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	if err := held.Unlock(ctx); err != nil {
		d.say("todo", "scripts", "the lock could not be freed: %v", err)
	}
	e := <-entered
	switch took := e.at.Sub(began); {
	case errors.Is(e.err, context.DeadlineExceeded):
		d.say("todo", "messages", "a waiter was not woken: allow publish, subscribe and the channel %s", codec.Channel(name))
	case e.err != nil:
		d.say("todo", "messages", "a waiter failed: %v", e.err)
	default:
		text := fmt.Sprintf("a waiter was woken after %v", took.Round(10*time.Microsecond))
		d.graded(took < d.r.timeout/2, "todo", "messages", text, fmt.Sprintf("%s: no message came. Allow publish, subscribe and the channel %s", text, codec.Channel(name)))
		if err := e.hold.Unlock(ctx); err != nil {
			d.say("todo", "scripts", "the lock could not be freed: %v", err)
		}
	}
}

func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(took)
	return took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond)
}
