package javakinds

import (
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/redisson/alike"
)

// Other tests of fair locks are in order_test.go.
var fair = Kind{
	Name: "fair", of: javapeer.Fair, tolerance: 1500 * time.Millisecond,
	scenes: []scene{
		{name: "free lock", script: `
			a lock 1m
			a unlock
			b trylock
			b unlock`},
		{name: "queue of three in order", script: `
			a lock 1m
			b& lock
			c& trylockfor 40s
			d& lock
			a unlock; b ends
			b unlock; c ends
			c unlock; d ends
			d unlock`},
		{name: "waiter between others whose time is over", script: `
			a lock 1m
			b& trylockfor 100s
			c& trylockfor 3s
			d& trylockfor 100s
			c ends = false
			a unlock; b ends
			b unlock; d ends
			d unlock`},
		{name: "head whose time is over", script: `
			a lock 1m
			b& trylockfor 3s
			c& lock
			b ends = false
			a unlock; c ends
			c unlock`},
		{name: "one attempt beside a queue", script: `
			a lock 1m
			b& lock
			c trylock = false
			c trylockfor 0s = false  # by which Java queues, and gives up
			a unlock; b ends
			b unlock`},
		{name: "re-entry with a queue", script: `
			a lock
			b& lock
			a lock
			a unlock
			a unlock; b ends
			b unlock`},
		{name: "unlock by a stranger", script: `
			a lock 1m
			! RPUSH $Q OTHER; ! ZADD $T +200000 OTHER; b unlock = not held`},
		{name: "unlock of a lock that is gone", script: `
			a lock 1m
			! RPUSH $Q OTHER; ! ZADD $T +200000 OTHER; ! DEL $N; a unlock = not held|~`},
		{name: "force with a queue", script: `
			a lock 1m
			! RPUSH $Q OTHER; ! ZADD $T +200000 OTHER; x forceunlock = true
			x forceunlock = false`},
		{name: "dead heads with old times", script: `
			! RPUSH $Q OTHER; ! ZADD $T -10000 OTHER; a lock 1m
			! RPUSH $Q OTHER; ! ZADD $T -20000 OTHER; b& lock
			a unlock; b ends
			b unlock`},
		{name: "head without a time", script: `
			! RPUSH $Q OTHER
			3.37+ a trylock = false
			3.37- a trylock = false|error`,
			differs: []alike.Differs{{Step: "a trylock = false", Has: "go only: redisson_lock__channel:{doc10}:OWNER1 says 0",
				Why: "whoever finds the lock free tells the head"}}},
		{name: "lock without a TTL", script: `
			a lock 1m
			! PERSIST $N; b& trylockfor 60s
			a unlock; b ends
			b unlock`},
		{name: "times of those who have no place", script: `
			! ZADD $T +900000 OTHER; a lock 1m
			a unlock`},
	},
}
