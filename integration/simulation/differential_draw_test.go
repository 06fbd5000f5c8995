package simulation

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
)

var keys = []string{"k1", "k2", "k3", "k4", "k5", "latch1-0123456789ab", "latch2-0123456789ab"}
var owners = []string{"aa:1", "aa:2", "bb:1"}

// otherKeys are those of the scripts that only some kinds have.
var otherKeys = []string{
	"q", "times", "tokens", "n1", "begun", "free", "ptimes", "keeper",
	"{k3}:aa:1:rwlock_timeout:1", "{k3}:aa:1:rwlock_timeout:2", "{k3}:bb:1:rwlock_timeout:1", "{k3}:aa:2:rwlock_timeout:1",
	"{k3}:bb:1:rwlock_timeout:2", "{k3}:aa:2:rwlock_timeout:2",
	"{k3}:aa:1:rwlock_timeout:3", "{k3}:bb:1:rwlock_timeout:3", "{k3}:aa:2:rwlock_timeout:3",
	"{k3}:aa:1:rwlock_timeout:4", "{k3}:bb:1:rwlock_timeout:4", "{k3}:aa:2:rwlock_timeout:4",
}

// mistakes are arguments that nobody would send. Keys are among them.
var mistakes = []string{"", "0", "-1", "abc", "2e4", "1.5", "9223372036854775808", "nan", "inf", " 1"}

// drawing makes commands. short says that a lease of a millisecond was drawn.
type drawing struct {
	r     *rand.Rand
	old   bool
	short bool
}

func pick[T any](d *drawing, all ...T) T { return all[d.r.IntN(len(all))] }

func (d *drawing) key() string   { return pick(d, keys...) }
func (d *drawing) owner() string { return pick(d, owners...) }

func (d *drawing) ms() any {
	ms := pick(d, 20000, 25000, 30000, 100000, 1, 60000)
	d.short = d.short || ms == 1
	return ms
}

func (d *drawing) publish() string {
	if d.old {
		return luasrc.Publish
	}
	return pick(d, luasrc.Publish, luasrc.SPublish, luasrc.Both)
}

func (d *drawing) ids() []string {
	return []string{"id1id1id1id1id1i", "id2id2id2id2id2i", "id3"}[d.r.IntN(2) : 2+d.r.IntN(2)]
}

// command draws one.
func (d *drawing) command() []string {
	if d.r.IntN(6) == 0 {
		return d.plain()
	}
	call, args := d.script(), []string{"EVALSHA"}
	for _, a := range call.Args {
		args = append(args, text(a))
	}
	if d.r.IntN(12) == 0 { // an argument that nobody would send
		i := 3 + d.r.IntN(len(args)-3)
		args[i] = pick(d, append([]string{d.key(), d.owner()}, mistakes...)...)
		if n, err := strconv.ParseFloat(args[i], 64); err == nil && n > 1e9 && strings.Contains(call.Script.Name, "read") {
			args[i] = "-1" // a read lock's scripts count up to some of their arguments
		}
		d.short = d.short || args[i] == " 1" // a number to Lua, and then a lease
	}
	return args
}

// text is an argument as the client sends it.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case redis.Argument:
		return text(v.RedisArg())
	}
	return fmt.Sprint(v)
}

// script draws one with its arguments.
func (d *drawing) script() luasrc.Call {
	k, o, ms, pub, r := d.key, d.owner, d.ms, d.publish, d.r
	n := func() any { return pick(d, 0, 1, 2, 3, -1, 10) }
	lock, latch := keys[r.IntN(2)], keys[5+r.IntN(2)]
	maybe := pick[any](d, latch, nil)
	left := func() luasrc.Left { return luasrc.Left{Least: r.IntN(4), Exact: r.IntN(2) == 0} }
	num := luasrc.Number{Key: "n1", Receipt: latch, Begun: "begun", Channel: "chan", Publish: pub()}
	per := luasrc.Permits{Free: "free", Times: "ptimes", Channel: "chan", Publish: pub()}
	mine := func(int) (luasrc.Arg, []string, luasrc.Arg) {
		return "k3", []string{"{k3}:aa:1:rwlock_timeout:1", "{k3}:aa:1:rwlock_timeout:2"}[:1+r.IntN(2)], "aa:1"
	}
	switch r.IntN(46) {
	case 0, 1:
		return luasrc.Lock(nil, k(), o(), ms())
	case 2, 3:
		return luasrc.Unlock(nil, lock, "chan", latch, o(), ms(), ms(), pub())
	case 4, 5:
		return luasrc.UnlockTo(nil, k(), "chan", o(), ms(), left(), pub())
	case 6:
		return luasrc.UnlockTo(nil, k(), "", o(), ms(), left(), nil)
	case 7:
		return luasrc.UnlockKeep(nil, lock, maybe, "chan", o(), ms(), ms(), "keeper", ms(), left(), pub())
	case 8:
		return pick(d, luasrc.ForceUnlock(k(), "chan", pub()), luasrc.ForceUnlockAlone(k(), "chan", pub()), luasrc.SpinForceUnlock(k()))
	case 9:
		return luasrc.Renew(nil, ms(), 3, func(i int) (luasrc.Arg, luasrc.Arg) { return keys[i], owners[i%2] })
	case 10, 11, 12:
		return luasrc.FairLock(nil, "k1", "q", "times", "chan", o(), ms(), ms(), r.IntN(2), pub())
	case 13, 14:
		return luasrc.FairUnlock(nil, "k1", "q", "times", maybe, "chan", o(), ms(), ms(), left(), pub())
	case 15:
		return luasrc.FairKeep(nil, "k1", "q", "times", maybe, "chan", o(), ms(), ms(), "keeper", ms(), left(), pub())
	case 16:
		return luasrc.FairLeave("k1", "q", "times", "chan", pub(), 2, func(i int) (luasrc.Arg, luasrc.Arg) { return owners[i], 25000 })
	case 17:
		return luasrc.FairForce("k1", "q", "times", "chan", pub())
	case 18:
		return luasrc.FencedLock(nil, lock, "tokens", o(), ms())
	case 19:
		return luasrc.Info(nil, k())
	case 20:
		return luasrc.NonReentrantLock(nil, lock, o(), ms())
	case 21, 22:
		return luasrc.SemaphoreAcquire(nil, num, r.IntN(3)+1, ms(), r.IntN(2))
	case 23:
		return luasrc.SemaphoreUndo(num, r.IntN(3)+1)
	case 24, 25:
		return luasrc.SemaphoreChange(num, ms(), pick(d, "release", "existing", "first", "more", "drain", "delete"), n(), pick[any](d, 0, 25000), r.IntN(2))
	case 26:
		return luasrc.CountDown(num, ms(), pick(d, "set", "down", "delete"), n(), r.IntN(2))
	case 27, 28:
		return luasrc.PermitAcquire(nil, per, ms(), d.ids())
	case 29:
		return luasrc.PermitRelease(nil, per, d.ids())
	case 30:
		return luasrc.PermitReleaseIDs(per, latch, ms(), d.ids())
	case 31:
		return luasrc.PermitRenew(nil, ms(), 1, func(int) (luasrc.Arg, []string) { return "ptimes", []string{"id1id1id1id1id1i", "id2id2id2id2id2i"} })
	case 32:
		return luasrc.PermitCount(per)
	case 33:
		return luasrc.PermitLeft(per, d.ids()[0], pick[any](d, 0, 25000))
	case 34:
		return luasrc.PermitSet(per, latch, ms(), pick(d, "first", "total", "more"), r.IntN(5)-1, int64(r.IntN(2)*25000))
	case 35:
		return luasrc.PermitDelete(per)
	case 36, 37:
		return luasrc.ReadLock(nil, "k3", "chan", "{k3}", o(), ms())
	case 38:
		return luasrc.WriteLock(nil, "k3", o(), ms())
	case 39, 40:
		return luasrc.ReadUnlock(nil, "k3", "chan", "{k3}", maybe, o(), ms(), ms(), left(), pub())
	case 41:
		return luasrc.WriteUnlock(nil, "k3", "chan", "{k3}", maybe, o(), pick[any](d, 0, 25000), ms(), left(), pub())
	case 42:
		return luasrc.ReadRenew(nil, ms(), 1, mine)
	case 43:
		return luasrc.ReadWriteForce("k3", "chan", "{k3}", pick(d, "read", "write"), "0", pub())
	case 44:
		return luasrc.ReadWriteInfo(nil, "k3", pick(d, "read", "write"))
	}
	return luasrc.SpinUnlock(nil, lock, latch, o(), ms(), ms())
}

// plain draws a command that is no script: values of wrong types, what another client sends, mistakes.
func (d *drawing) plain() []string {
	k, o := d.key, d.owner
	all := []string{
		"SET k text", "SET k 5 PX 25000", "SET k 5 NX", "SET k 1 PX 0", "SET k 1 PX", "SET k 1 XX PY", "DEL k", "DEL k k", "EXISTS k k", "TYPE k", "PTTL k", "GET k", "HGET k o",
		"HSET k o x", "HINCRBY k o 1", "HINCRBY k o x", "PEXPIRE k 30000", "PEXPIRE k x", "PEXPIREAT k 1", "PERSIST k", "RPUSH k o", "LSET k 0 y", "LSET k 9 y", "LSET k x y",
		"LREM k 0 o", "LREM k -1 o", "LREM k 1 o", "LPOP k", "LINDEX k 0", "LINDEX k -1", "LINDEX k x", "LRANGE k 0 -1", "LRANGE k 1 x", "LLEN k", "HLEN k", "HKEYS k", "HEXISTS k o",
		"ZADD k 1.5 o", "ZADD k x o", "ZADD k 10000000000 o", "ZADD k 0.1 o", "ZADD k -0.00000012 o", "ZADD k 1e300 o", "ZADD k 123456789012345678 o", "ZRANGE k 0 -1 WITHSCORES", "ZADD times 1 o", "ZINCRBY times 10 o", "ZINCRBY k x o", "ZREM k o", "ZSCORE k o", "ZSCORE times o", "ZCARD k", "ZRANGE times 0 -1 WITHSCORES",
		"ZRANGE k 0 0", "ZRANGEBYSCORE times -inf +inf LIMIT 0 1", "ZRANGEBYSCORE times 0 x", "ZCOUNT times 0 +inf", "ZCOUNT times (1 5", "DEL q", "SET n1 nonsense", "DEL n1",
		"SET free -0", "DEL free", "SET free 3", "SET n1 2", "HSET k3 mode odd", "INCR k", "DECR k", "INCRBY k 5", "DECRBY k x", "SET tokens 9223372036854775807", "DEL tokens", "INCR tokens",
		"DECRBY n1 -9223372036854775808", "PUBLISH chan m", "HDEL k o", "HGETALL k", "PEXPIRE k -1", "EXPIRE k 30", "NOSUCH", "NOSUCH a b", "GET", "HSET k f", "EVALSHA 00 0", "PUBSUB NUMSUB chan x",
		"EVAL return x", "EVAL return(1) 1", "EVAL return(1) -1", "EVALSHA", "SCRIPT", "SCRIPT NOSUCH", "SCRIPT EXISTS 00", "CLIENT", "CLIENT NOSUCH", "CLIENT KILL ID 99999 ADDR 1.1.1.1:1",
		"CLIENT KILL ID 0", "CLIENT KILL ID 1 ADDR", "CLIENT SETNAME a", "CLIENT CACHING", "CLIENT TRACKING", "PING", "PING x", "PING x y", "ECHO x", "WAIT 0 0", "WAIT 0 x", "WAIT x 0",
		"WAIT 0 -1", "TIME x", "ROLE x", "SELECT 0", "SELECT x", "SELECT 99", "CLUSTER SLOTS", "ASKING", "PUBSUB", "HELLO 9", "HELLO x", "AUTH x", "SUBSCRIBE", "TTL nokey", "CLIENT LIST ID x",
		"REPLICAOF x", "SCRIPT LOAD return(1)",
	}
	line := pick(d, all...)
	if d.old && line == "CLIENT KILL ID 0" { // which kills all
		line = "PING"
	}
	args := strings.Fields(line)
	for i, a := range args {
		if i == 0 {
			continue
		}
		switch a {
		case "k":
			args[i] = k()
		case "o":
			args[i] = o()
		}
	}
	return args
}
