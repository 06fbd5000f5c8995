package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/locks/release"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/topology"
)

// nodeChanged tells the observer that slots have another server. Slots without a server before
// had no locks, so they are left out.
func (c *Client) nodeChanged(change topology.Change) {
	if change.From == nil || change.From == change.To && !change.NewMaster {
		return
	}
	e := observe.Event{Of: observe.NodeChanged, From: change.FormerAddr, To: change.Addr}
	if change.From != change.To {
		e.From, e.To = change.From.Server(), change.To.Server()
	}
	c.post(e)
}

// sent tells the observer of a command, as part of the call that it was made for if there is
// one.
func (c *Client) sent(r *command.Request) {
	took := max(c.Clock.Now()-r.Wire.Sent, 0)
	cmd := observe.Command{
		Name: r.Wire.Command, Server: r.Server(), Start: time.Now().Add(-took), Duration: took, Err: r.Wire.Err,
	}
	if r.Wire.Script != nil {
		cmd.Script = r.Wire.Script.Name
	}
	var by *observe.Call
	switch h := r.Handler.(type) {
	case *attempt:
		by = h.w.call.seen
	case *releasing:
		by, cmd.Undo = h.seen, h.Why == release.Undo
	case *renewal:
		cmd.Leases = len(h.subs)
	}
	if by != nil && by.Sent(cmd) {
		return
	}
	c.post(observe.Event{Of: observe.CommandSent, Ctx: by.Context(), Command: cmd})
}

// post tells the observer on the queue's goroutine. There is one.
func (c *Client) post(e observe.Event) { c.events.Add(func() { c.Observer.Tell(e) }) }
