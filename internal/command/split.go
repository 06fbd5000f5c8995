package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// While a slot moves, its keys are in two places, and a server that the slot leaves makes no key.
// A script that can (Request.OneKey) is then sent with its first key alone, and the other names
// among its arguments. It runs where that key is, if that server may make the others.
//
// If it may not, a receipt (Request.Receipt) can be in another slot of that server. Nobody else
// finds it there, so it is for one send only: whether that one ran is asked by the receipt, which
// is deleted when that is known.
//
// Only a request that has not run is sent so, or one that needs no receipt. What it finds under the
// other names may be incomplete, since the slot's other server may have them.

// Fill makes call the command of r, in the form with all keys, which are in slot. With replicas, a call
// that writes is followed by WAIT.
func (r *Request) Fill(slot uint16, call kind.Call, replicas bool) {
	r.Slot, r.Wait = slot, call.Writes && replicas
	r.Wire.Command, r.Wire.Script, r.Wire.Args = call.Name, call.Script, call.Args
	r.OneKey, r.Receipt, r.ahead, r.lacks, r.whole, r.spare = call.OneKey, call.Receipt, call.Ahead, "", nil, ""
}

// mayHaveOneKey tells whether r may be sent with one key: it has not run, or finds what an earlier
// send has left without a receipt.
func (r *Request) mayHaveOneKey() bool {
	return r.OneKey && (r.First == 0 || r.Resend == kind.Always && !r.Receipt)
}

// switchForm changes the form of r, whose last send was refused. It reports whether r is to be
// sent again at once.
func (r *Request) switchForm(said redisconn.Refusal) bool {
	_, asks := said.Ask()
	switch {
	case asks: // the slot's other server runs it in the same form
	case r.whole == nil && r.mayHaveOneKey() && said.Split():
		r.whole = r.Wire.Args
		r.Wire.Args = r.alone()
		return true
	case r.whole != nil && r.ahead != nil && r.lacking(said):
		// What it lacks can be done ahead, before r is sent again.
	case r.whole != nil && r.spare == "" && r.Receipt && r.First == 0 && said.Split() && r.findSpare():
		r.Wire.Args = slices.Clone(r.Wire.Args)
		r.Wire.Args[3] = r.spare
		return true
	case r.whole != nil:
		r.Wire.Args, r.whole, r.spare = r.whole, nil, ""
	}
	return false
}

// alone returns the arguments with one key, and more.
func (r *Request) alone(more ...any) []any {
	args := append(slices.Clone(r.whole), more...)
	args[1] = 1
	return args
}

// lacking tells whether r's script lacked keys, and keeps which.
func (r *Request) lacking(said redisconn.Refusal) (ok bool) {
	r.lacks, ok = said.Lacks()
	return ok
}

// goAhead does what r's script can't do where it lacks keys. Then r goes with its first key alone. If that
// failed, it goes with all keys, and goAhead reports false.
func (x *Executor) goAhead(r *Request) bool {
	which := r.lacks
	if r.lacks = ""; which == "" {
		return true
	}
	for _, call := range r.ahead(r.whole, which, 2*x.o.Timeout) {
		q := &Request{Resend: call.Resend, Until: r.bound}
		q.Fill(r.Slot, call, false)
		if x.Do(q) != Answered || call.Absent && q.Wire.Reply != int64(0) {
			r.Wire.Args, r.whole = r.whole, nil
			return false
		}
	}
	r.Wire.Args = r.alone(which)
	return true
}

// findSpare finds a name for a receipt in another slot of the server that r was sent to. It
// begins as the receipts of r's own key do, since the account may have no other.
func (r *Request) findSpare() bool {
	key, _ := r.Wire.Args[2].(string)
	receipt, _ := r.Wire.Args[3].(string)
	key = strings.NewReplacer("{", "", "}", "").Replace(key)
	for range 1000 {
		name := codec.Latch(fmt.Sprintf("%s#%d", key, rand.IntN(1_000_000)), receipt[strings.LastIndexByte(receipt, ':')+1:])
		slot := codec.Slot(name)
		if n, err := r.x.top.Node(slot); err == nil && n == r.node && slot != r.Slot {
			r.spare = name
			return true
		}
	}
	return false
}

// Spare tells whether r was last sent with a receipt in another slot. If it was answered or lost,
// nothing in its own slot says that it ran.
func (r *Request) Spare() bool { return r.spare != "" }

// Settle asks whether r ran, which was lost, was sent with a receipt in another slot, and can't run
// any longer. If it did, it is answered by that receipt.
func (x *Executor) Settle(r *Request) (ran bool, err error) {
	ask := &Request{Resend: kind.Reads, Until: max(r.Until, x.o.Now()+10*x.o.Timeout), Slot: codec.Slot(r.spare)}
	ask.Wire.Command, ask.Wire.Args = "GET", []any{r.spare}
	if x.Do(ask) != Answered {
		return false, ask.Wire.Err
	}
	if ask.Wire.Reply == nil {
		return false, nil
	}
	x.Discard(ask.Slot, r.spare)
	n, err := redis.Int64(ask.Wire.Reply, nil)
	if err != nil {
		n = 1 // an acquire leaves no number
	}
	r.Wire.Reply, r.Wire.Err = n, nil
	return true, nil
}

// settleSpare is Settle for a request that is sent again after a loss. It reports false if nothing
// of it has run, or nothing had to be asked.
func (x *Executor) settleSpare(r *Request) (settled bool) {
	if r.spare == "" {
		return false
	}
	ran, err := false, error(nil)
	if !r.MayArrive {
		ran, err = x.Settle(r)
	}
	switch {
	case ran:
		r.Fate, r.settled = Answered, true
		return true
	case r.MayArrive || err != nil:
		return true // its fate stays Lost
	}
	r.Wire.Args, r.whole, r.spare, r.First = r.whole, nil, "", 0
	r.reach.Store(0)
	return false
}
