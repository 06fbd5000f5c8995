package kind

import "github.com/rlock-go/redisson/internal/luasrc"

// Resend says when a call may be sent again.
type Resend uint8

const (
	// Never: not known to have run is no reason either. The one who sent it decides
	// what becomes of it.
	Never Resend = iota

	// Reads: it changes nothing, so it is sent again whatever happened.
	Reads

	// Unrun: only where nothing of it has run. After a loss the one who sent it
	// decides.
	Unrun

	// Always: to run twice is as good as once. After a loss it is sent again behind
	// the kill barrier.
	Always
)

// Call is one command, ready to be sent. The zero Call is empty: nothing is to
// be sent.
type Call struct {
	Name   string         // of the command; EVALSHA with a Script
	Script *luasrc.Script // what an EVALSHA runs; nil for a plain command
	Args   []any          // what follows the name
	Resend Resend         // when it may be sent again
	Writes bool           // it changes the lock: where replicas count, WAIT follows it
}

// Empty tells whether there is nothing to send.
func (c *Call) Empty() bool { return c.Name == "" }

// Query is a call that reads something of a lock. The zero Query is empty.
type Query struct {
	Call                                   // is sent
	Answer func(reply any) (Answer, error) // reads its reply
}

// Run is the call of a script that changes the lock.
func Run(c luasrc.Call, resend Resend) Call {
	return Call{Name: "EVALSHA", Script: c.Script, Args: c.Args, Resend: resend, Writes: true}
}

// Read is a plain command that changes nothing.
func Read(name string, args ...any) Call { return Call{Name: name, Args: args, Resend: Reads} }

// Look is the call of a script that changes nothing.
func Look(c luasrc.Call) Call {
	return Call{Name: "EVALSHA", Script: c.Script, Args: c.Args, Resend: Reads}
}
