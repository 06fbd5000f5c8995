package wire

import "strings"

// lockSHA is what every Redisson from 3.19 on calls its lock script, and so do we.
const lockSHA = "149c5a8bf18676fd99e9e6e24923bd64d9b62f94"

// twoBranches is the text before, which Redisson's spin lock has kept.
const twoBranches = "dad0f8d619e548e04f21fb48d50be5034df3adae"

// lockSHAs are those of all releases. The shape does not tell a lock script from an old renewal.
var lockSHAs = map[string]bool{
	lockSHA:     true,
	twoBranches: true, // 3.12.3 – 3.18
	"9401052d872adfd0179ef8c8e8c028512707629a": true, // before
}

// oldSpinUnlock is the spin lock's unlock before there were latches. Its shape, too, is an old renewal's.
const oldSpinUnlock = "5b9e58d1bcb8498e14aa1d5b49a1ca5b90748946"

// reacquired is the last argument of a non-reentrant lock's script, which its own owner is told.
const reacquired = "NON_REENTRANT_REACQUIRE"

// tokenScript is that of Redisson's two lock scripts of a fenced lock which answers a token.
const (
	tokenScript = "49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45"
	tokenOnly   = " and token"
)

// shape is the role of a script by its KEYS and ARGV, and by its SHA-1 where they do not tell; empty for none known.
func (c cmd) shape() string {
	switch n, m := len(c.keys), len(c.argv); {
	case lockSHAs[c.sha] || n == 1 && m == 3 && c.argv[2] == reacquired || n == 2 && m == 2 && c.keys[1] == tokens(c.keys[0]):
		return "lock"
	case c.publishes() && m >= 3 && c.argv[1] != "SPUBLISH":
		return "unlock"
	case n == 2 && m == 3 && c.latch() != "" || c.sha == oldSpinUnlock:
		return "unlock" // of a spin lock, which tells nobody
	case c.publishes() || n == 1 && m == 0:
		return "force"
	case n >= 1 && m == n+1:
		return "renew"
	}
	return ""
}

// publishes tells a script about one lock from a renewal of two or three.
func (c cmd) publishes() bool {
	n := len(c.keys)
	return (n == 2 || n == 3) && c.keys[1] == channel(c.keys[0])
}

// tokens is Redisson's name for the key in which a fenced lock counts its grants.
func tokens(name string) string {
	return strings.Replace(channel(name), "redisson_lock__channel:", "redisson_lock_token:", 1)
}

// latch is the key of an unlock's latch, empty if it has none.
func (c cmd) latch() string {
	if n := len(c.keys); n > 1 && latchForm.MatchString(c.keys[n-1]) {
		return c.keys[n-1]
	}
	return ""
}

// shard is shardedMark for a subscription to a shard's channel.
func (c cmd) shard() string {
	if c.is("SSUBSCRIBE") || c.is("SUNSUBSCRIBE") {
		return shardedMark
	}
	return ""
}
