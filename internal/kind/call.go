package kind

import (
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Resend says when a call may be sent again.
type Resend uint8

const (
	// Never: not sent again, not even if it is known not to have run, except to follow a
	// redirect. The sender decides what happens.
	Never Resend = iota

	// Reads: it changes nothing, so it is sent again in any case.
	Reads

	// Unrun: sent again only if none of it has run. After a loss the sender decides.
	Unrun

	// Always: running it twice has the effect of once. After a loss it is sent again behind the
	// kill barrier.
	Always
)

// Call is one command, ready to be sent. The zero Call is empty: there is nothing to send.
type Call struct {
	Name    string         // of the command; EVALSHA with a Script
	Script  *luasrc.Script // what an EVALSHA runs; nil for a plain command
	Args    []any          // the arguments after the name
	Resend  Resend         // when it may be sent again
	Writes  bool           // it changes the lock: WAIT follows it if replicas are awaited
	Receipt bool           // and its second key is a receipt that is found by nothing but a repetition of this call
	OneKey  bool           // its script can run with the first key alone, and the other names as its first arguments
	Ahead   Ahead          // what must be done before that where it lacks other keys; nil: nothing can be
	Absent  bool           // it is done if it answers 0
}

// Ahead makes the commands, each of one key, that do what the server of the first key can't do with
// keys that it lacks. args are those of the call, and which is what its script called these keys
// (redisconn.Refusal.Lacks). The script is sent with which as a further argument once they are done, late
// at most after they are made.
type Ahead func(args []any, which string, late time.Duration) []Call

// Again makes of the Acquire of a kind with Traits.Repeats one that may be sent where that may have
// run: afterwards the owner has this many holds. Gone reads its reply first.
func Again(acquire Call, holds int) Call {
	return Run(luasrc.Again(luasrc.Call{Script: acquire.Script, Args: acquire.Args}, holds), Unrun)
}

// Gone tells whether the script did nothing because what it relied on is gone: for an Again, the
// owner's other holds; for a change sent again, its object, which was deleted or made anew.
func Gone(reply any) bool { return reply == luasrc.Gone }

// Empty reports whether there is nothing to send.
func (c *Call) Empty() bool { return c.Name == "" }

// Query is a call that reads something of a lock. The zero Query is empty.
type Query struct {
	Call                                   // the command
	Answer func(reply any) (Answer, error) // reads its reply
}

// Run makes the call of a script that changes the lock.
func Run(c luasrc.Call, resend Resend) Call {
	return Call{Name: "EVALSHA", Script: c.Script, Args: c.Args, Resend: resend, Writes: true}
}

// Read makes a plain command that changes nothing.
func Read(name string, args ...any) Call { return Call{Name: name, Args: args, Resend: Reads} }

// Look makes the call of a script that only reads, or also takes back expired permits.
func Look(c luasrc.Call) Call {
	return Call{Name: "EVALSHA", Script: c.Script, Args: c.Args, Resend: Reads}
}
