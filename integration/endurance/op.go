package main

import (
	"fmt"
	"strings"
	"time"
)

// An op is one call that a client is told to make; it can be written as a line to another process.
type op struct {
	Do      string        `json:"do"`
	As      string        `json:"as,omitempty"`    // an owner's string, "#3" for that of hold 3, or "" for a fresh one
	Lease   time.Duration `json:"lease,omitempty"` // of acquires; of Extend
	MaxHold time.Duration `json:"max,omitempty"`
	Wait    time.Duration `json:"wait,omitempty"` // of TryLockFor
	Ctx     time.Duration `json:"ctx,omitempty"`  // after which the call's context ends; negative: it has ended before
	Hold    int           `json:"hold,omitempty"`
	Open    *setting      `json:"open,omitempty"`
	Line    int           `json:"line,omitempty"` // pairs a line with its reply
}

// The calls.
const (
	doOpen     = "open"
	doMint     = "mint"
	doLock     = "Lock"
	doTry      = "TryLock"
	doTryFor   = "TryLockFor"
	doUnlock   = "Unlock"
	doExtend   = "Extend"
	doUnlockAs = "UnlockAs"
	doForce    = "ForceUnlock"
	doShow     = "Owner"
	doSurvey   = "survey"
	doShutdown = "Shutdown"
	doClose    = "Close"
)

func (o op) acquires() bool { return o.Do == doLock || o.Do == doTry || o.Do == doTryFor }

func (o op) String() string {
	var b strings.Builder
	b.WriteString(o.Do)
	if o.Hold != 0 {
		fmt.Fprintf(&b, " #%d", o.Hold)
	}
	if o.As != "" {
		fmt.Fprintf(&b, " As(%s)", short(o.As))
	}
	for what, d := range map[string]time.Duration{"lease": o.Lease, "maxHold": o.MaxHold, "wait": o.Wait, "ctx": o.Ctx} {
		if d != 0 {
			fmt.Fprintf(&b, " %s=%v", what, d)
		}
	}
	return b.String()
}

// short is enough of an owner to tell it from others.
func short(owner string) string {
	if len(owner) > 36 {
		return owner[:4] + ".." + owner[35:]
	}
	return owner
}

// A reply is what became of an op.
type reply struct {
	ID         int      `json:"id,omitempty"`
	Start, End int64    // of the call, on the shared clock
	Kinds      []string `json:",omitempty"` // which of rlock's errors it is
	Text       string   `json:",omitempty"`
	Hold       int      `json:",omitempty"`
	Owner      string   `json:",omitempty"`
	Until      int64    `json:",omitempty"`
	Forced     bool     `json:",omitempty"`
	Throughout bool     `json:",omitempty"` // its owner had a valid hold in this client before the call and after it
	Lent       int      `json:",omitempty"` // connections that a closed client did not return
	Sights     []sight  `json:",omitempty"`
}

func (r reply) failed() bool { return r.Text != "" }

func (r reply) is(kind string) bool {
	for _, k := range r.Kinds {
		if k == kind {
			return true
		}
	}
	return false
}

func (r reply) String() string {
	if r.failed() {
		return r.Text
	}
	if r.Hold != 0 {
		return fmt.Sprintf("ok #%d %s for %v", r.Hold, short(r.Owner), time.Duration(r.Until-r.End).Round(time.Millisecond))
	}
	return "ok"
}

// A sight is what a hold says of itself.
type sight struct {
	Hold  int
	Valid bool
	Until int64
	Text  string `json:",omitempty"` // why it is over
}
