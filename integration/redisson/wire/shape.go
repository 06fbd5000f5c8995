package wire

import "strings"

// lockSHA is the SHA-1 of the lock script of every Redisson from 3.19 on, and of ours.
const lockSHA = "149c5a8bf18676fd99e9e6e24923bd64d9b62f94"

// twoBranches is that of the text before, which Redisson's spin lock has kept.
const twoBranches = "dad0f8d619e548e04f21fb48d50be5034df3adae"

// lockSHAs are those of all releases. A lock script has the shape of an old renewal.
var lockSHAs = map[string]bool{
	lockSHA:     true,
	twoBranches: true, // 3.12.3 – 3.18
	"9401052d872adfd0179ef8c8e8c028512707629a": true, // before
}

// oldSpinUnlock is the spin lock's unlock before there were latches. Its shape, too, is an old renewal's.
const oldSpinUnlock = "5b9e58d1bcb8498e14aa1d5b49a1ca5b90748946"

// reacquired is the last argument of a non-reentrant lock's script, and its reply to the lock's own owner.
const reacquired = "NON_REENTRANT_REACQUIRE"

// tokenScript is the one of Redisson's two lock scripts of a fenced lock that returns a token.
const (
	tokenScript = "49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45"
	tokenOnly   = " and token"
)

// shape returns a script's role by its KEYS and ARGV, or by its SHA-1 where these are ambiguous; empty if it is unknown.
func (c cmd) shape() string {
	switch n, m := len(c.keys), len(c.argv); {
	case lockSHAs[c.sha] || n == 1 && m == 3 && c.argv[2] == reacquired || n == 2 && m == 2 && c.keys[1] == tokens(c.keys[0]):
		return "lock"
	case c.publishes() && m >= 3 && c.argv[1] != "SPUBLISH":
		return "unlock"
	case n == 2 && m == 3 && c.latch() != "" || c.sha == oldSpinUnlock:
		return "unlock" // of a spin lock, which publishes nothing
	case c.publishes() || n == 1 && m == 0:
		return "force"
	case n >= 1 && m == n+1:
		return "renew"
	}
	return ""
}

// publishes distinguishes a script about one lock from a renewal of two or three.
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
