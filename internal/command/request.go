package command

import (
	"time"

	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/topology"
)

// Resend says when a request may be sent again.
type Resend uint8

const (
	// Never: not known to have run is no reason either. The handler decides.
	Never Resend = iota

	// Read: it changes nothing, so it is sent again whatever happened.
	Read

	// Unrun: only where nothing of it has run. After a loss the handler decides.
	Unrun

	// Always: its script is idempotent. After a loss it is sent again behind the
	// kill barrier.
	Always
)

// Handler is told what becomes of a request. Its methods are called without
// any lock held, on a goroutine that must not be blocked; they may queue
// further requests.
type Handler interface {
	// Unanswered follows the loss of the request's connection: it may have
	// run, or may yet run. Paused or Done follows when the kill barrier is
	// settled.
	Unanswered(*Request)

	// Paused says that nothing of the request is under way and that it is to be
	// sent again after d, by Executor.Again. Before that the handler may send
	// others.
	Paused(r *Request, d time.Duration)

	// Done says that the request has its fate.
	Done(*Request)
}

// DoneFunc is a Handler for requests that are never sent again.
type DoneFunc func(*Request)

// Unanswered does nothing: Done follows.
func (f DoneFunc) Unanswered(*Request) {}

// Paused never happens.
func (f DoneFunc) Paused(*Request, time.Duration) {}

// Done calls f.
func (f DoneFunc) Done(r *Request) { f(r) }

// Request is one command on its way, and all its repetitions. The maker sets
// the exported fields and gives it a command by Script or Command;
// the rest is the executor's until the request is done.
type Request struct {
	Handler Handler       // is told what becomes of it
	Resend  Resend        // when it may be sent again
	Until   time.Duration // not sent again after this reading of the clock
	Wait    bool          // followed by WAIT for all connected replicas
	Slot    uint16        // of its keys, codec.Slot; any where it has none
	Several bool          // locks: they may be in different places, see Scattered

	wire   pipeline.Request
	x      *Executor
	node   *topology.Node // that it was last sent to
	fate   Fate
	pause  time.Duration // before it was last sent again for a refusal; 0: never
	open   bool          // an earlier send may still arrive
	first  time.Duration // when it was first written and not known to be without effect; 0: not yet
	failed error         // the last trouble

	moved     bool          // it was sent to another node, or later than it was queued
	redirects int           // since it was queued
	bound     time.Duration // not redirected after this; 0: not redirected so far
	parked    *parking      // waits to be redirected
}

// Room is for the arguments of a short command: append to it.
func (r *Request) Room() []any { return r.wire.ArgBuffer[:0] }

// Script makes r a request for a script.
func (r *Request) Script(c luasrc.Call) { r.wire.Call(c) }

// Call makes r a request for a command, which runs a script if one is given.
func (r *Request) Call(name string, script *luasrc.Script, args []any) {
	r.wire.Command, r.wire.Args, r.wire.Script = name, args, script
}

// Command makes r a request for a plain command.
func (r *Request) Command(name string, args ...any) {
	r.wire.Command, r.wire.Args, r.wire.Script = name, args, nil
}

// Fate is what became of r; Open before it is done.
func (r *Request) Fate() Fate { return r.fate }

// Reply is the server's reply as redigo decodes it. It is set where the fate is
// Answered.
func (r *Request) Reply() any { return r.wire.Reply }

// Err is nil where the fate is Answered. Else it says what the server said, or
// why there was no answer.
func (r *Request) Err() error { return r.wire.Err }

// Sent is the reading of the clock from before the last send.
func (r *Request) Sent() time.Duration { return r.wire.Sent }

// First is the reading from before the first send that may have run, 0 if
// there was none.
func (r *Request) First() time.Duration { return r.first }

// Replicas is how many replicas WAIT was asked for; 0 where none was sent.
func (r *Request) Replicas() int { return r.wire.Replicas }

// Begun tells whether r was ever queued.
func (r *Request) Begun() bool { return r.x != nil }

// OutOfOrder tells whether r may have run behind what had been queued after it:
// it was redirected, or its script was loaded first.
func (r *Request) OutOfOrder() bool { return r.moved || r.wire.Resent() }

// MayArrive tells whether an earlier send of r may still run: the connection it
// was lost on could not be killed.
func (r *Request) MayArrive() bool { return r.open }

// MayHaveRun tells whether the server has run the last send, or a part of it,
// or may have.
func (r *Request) MayHaveRun() bool { return mayHaveRun(r.wire.Err) }

// Passing tells whether a later send may be answered better: nothing of this
// one ran.
func (r *Request) Passing() bool {
	if r.fate == NotSent {
		return true
	}
	said, _ := refusal.Of(r.refusal())
	return said.Passing()
}

// Scattered tells that nothing of r ran because not all of its several locks are
// where it was sent. Each may be asked for alone.
func (r *Request) Scattered() bool {
	said, _ := refusal.Of(r.wire.Err)
	return r.Several && said.Scatters()
}

// Transient tells a server's refusal that passes by itself, and soon.
func (r *Request) Transient() bool {
	said, _ := refusal.Of(r.refusal())
	return said.Transient()
}

// Permanent tells that r was not sent and that connecting again would meet the
// same refusal.
func (r *Request) Permanent() bool { return r.fate == NotSent && r.x.o.Permanent(r.wire.Err) }

// Unreplicated tells that no replica acknowledged what r did, although some were
// asked.
func (r *Request) Unreplicated() bool { return r.wire.Replicas > 0 && r.wire.Acked == 0 }

// refusal is the server's error that r ended with, or nil.
func (r *Request) refusal() error {
	if r.fate == Refused {
		return r.wire.Err
	}
	return nil
}
