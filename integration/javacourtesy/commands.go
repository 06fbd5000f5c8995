package main

import "github.com/rlock-go/redisson/integration/internal/commandstats"

// commands is how often each kind of command ran, calls from inside scripts included.
type commands map[string]int64

func (s *stage) commands() commands {
	s.t.Helper()
	calls, err := commandstats.Read(s.redis)
	if err != nil {
		s.t.Fatal(err)
	}
	return calls
}

func (c commands) since(before commands) commands {
	d := commands{}
	for kind, n := range c {
		d[kind] = n - before[kind]
	}
	return d
}

// shown are the kinds that a lock sends, or could.
var shown = []string{"evalsha", "publish", "del", "subscribe", "unsubscribe", "pubsub|numsub"}

// total is what the clients caused, without what scripts called: EVALSHA and the rest that only clients send, and DEL
// less the one in each final unlock.
func (c commands) total(acquisitions int64) (n int64) {
	for kind, calls := range c {
		switch kind {
		case "evalsha", "eval", "script|load", "subscribe", "unsubscribe", "pubsub|numsub", "ping":
			n += calls
		case "del":
			n += calls - acquisitions
		}
	}
	return n
}
