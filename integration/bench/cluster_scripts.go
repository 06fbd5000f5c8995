package main

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Ways to notify waiters, measured by scripts that are otherwise equal. "ask first" counts the subscribers of both
// kinds and publishes only if there are some; it sees only those of its own server.
var tellings = []struct{ name, lines string }{
	{"tell nobody", ""},
	{"SPUBLISH", "call('spublish', KEYS[2], ARGV[1])"},
	{"PUBLISH", "call('publish', KEYS[2], ARGV[1])"},
	{"both", "call('spublish', KEYS[2], ARGV[1]) call('publish', KEYS[2], ARGV[1])"},
	{"ask first", `if call('pubsub', 'shardnumsub', KEYS[2])[2] > 0 then call('spublish', KEYS[2], ARGV[1]) end
if call('pubsub', 'numsub', KEYS[2])[2] > 0 then call('publish', KEYS[2], ARGV[1]) end`},
}

const tellingUnlock = `local call = redis.call
if call('hexists', KEYS[1], ARGV[3]) == 0 then return nil end
if call('hincrby', KEYS[1], ARGV[3], -1) > 0 then call('pexpire', KEYS[1], ARGV[2]) return 0 end
call('del', KEYS[1])
%s
return 1`

// tellingDepth is how many pairs travel together.
const tellingDepth = 64

// tellingListeners are the numbers of connections that listen, each on both kinds of channel, as a client does.
var tellingListeners = []int{0, 16}

// clusterScripts sends pairs ahead to one master, on one connection. The time is that of all masters, since a PUBLISH
// is passed on to the others.
func (r *run) clusterScripts(c *clusterServers) (err error) {
	defer caught(&err)
	tag := 0
	for ; codec.Slot(fmt.Sprintf("{%d}", tag)) >= 16384/masters; tag++ {
	}
	conn := c.masters[0].conn
	must(conn.Do("SCRIPT", "LOAD", luasrc.LockScript.Source))
	for _, n := range tellingListeners {
		quit := must(listen(c.masters[0], n, tag))
		err = r.tell(c, tag, n)
		quit()
		check(err)
	}
	return nil
}

// tell measures each way to notify, with this many listeners.
func (r *run) tell(c *clusterServers, tag, listeners int) (err error) {
	defer caught(&err)
	conn := c.masters[0].conn
	at := fmt.Sprintf("%d at once, %d listen", tellingDepth, listeners)
	for i := range r.sizes.rounds {
		for k := range tellings {
			tell := tellings[(k+i)%len(tellings)]
			sha := must(redis.String(conn.Do("SCRIPT", "LOAD", fmt.Sprintf(tellingUnlock, tell.lines))))
			before := must(cpuOf(c.masters))
			pairs := 0
			for end := time.Now().Add(r.sizes.length); time.Now().Before(end); pairs += tellingDepth {
				check(tellOnce(conn, sha, tag))
			}
			after := must(cpuOf(c.masters))
			r.add("cluster scripts", tell.name, at, "server µs", (after-before).Seconds()*1e6/float64(pairs))
		}
	}
	return nil
}

// listen subscribes n connections of a master to all names of tellOnce.
func listen(s *server, n, tag int) (quit func(), err error) {
	defer caught(&err)
	var all []redis.Conn
	quit = func() {
		for _, c := range all {
			c.Close()
		}
	}
	for range n {
		conn := must(redis.Dial("tcp", s.addr))
		all = append(all, conn)
		for i := range tellingDepth {
			channel := codec.Channel(tellingName(tag, i))
			must(conn.Do("SUBSCRIBE", channel))
			must(conn.Do("SSUBSCRIBE", channel))
		}
		go func() {
			for err := error(nil); err == nil; _, err = redis.ReceiveWithTimeout(conn, 0) {
			}
		}()
	}
	return quit, nil
}

func tellingName(tag, i int) string { return fmt.Sprintf("{%d}:%d", tag, i) }

func tellOnce(conn redis.Conn, unlock string, tag int) (err error) {
	defer caught(&err)
	const owner = "00000000-0000-4000-8000-000000000000:1"
	for i := range tellingDepth {
		key := tellingName(tag, i)
		check(conn.Send("EVALSHA", luasrc.LockScript.SHA1, 1, key, lease.Milliseconds(), owner))
		check(conn.Send("EVALSHA", unlock, 2, key, codec.Channel(key), "0", lease.Milliseconds(), owner))
	}
	replies := must(redis.Values(conn.Do("")))
	for i, reply := range replies {
		if err, is := reply.(redis.Error); is {
			return err
		}
		if i%2 == 1 && reply != int64(1) {
			return fmt.Errorf("an unlock answered %v", reply)
		}
	}
	return nil
}
