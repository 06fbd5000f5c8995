package pubsub

import (
	"slices"

	"github.com/rlock-go/redisson/codec"
)

// commandKind says which command was sent.
type commandKind uint8

const (
	unsubscribe commandKind = iota
	subscribe
	ping
)

// command is a command that was sent or is about to be, and is not fully answered.
type command struct {
	kind     commandKind
	sharded  bool
	channels []*channel // in the order sent; empty for PING
	answered int        // how many of channels were answered; the server answers for each
}

// name is the command's name on the wire.
func (c command) name() string {
	name := [...]string{"UNSUBSCRIBE", "SUBSCRIBE", "PING"}[c.kind]
	if c.sharded {
		name = "S" + name
	}
	return name
}

// commandsFor returns the commands that subscribe or unsubscribe channels as wanted:
// one for each sort, and for sharded channels one for each slot. Those that
// unsubscribe come first.
func commandsFor(channels []*channel) (cmds []command) {
	type sort struct {
		kind    commandKind
		sharded bool
		slot    uint16
	}
	at := map[sort]int{} // in cmds
	for _, ch := range channels {
		want := ch.live > 0
		if want == ch.sent || want && ch.elsewhere {
			continue // it changed and changed back, or waits for the next check
		}
		s := sort{sharded: ch.sharded}
		if want {
			s.kind = subscribe
		}
		if ch.sharded {
			s.slot = codec.Slot(ch.name)
		}
		i, ok := at[s]
		if !ok || ch.alone {
			i = len(cmds)
			cmds = append(cmds, command{kind: s.kind, sharded: s.sharded})
			if !ch.alone {
				at[s] = i
			}
		}
		cmds[i].channels = append(cmds[i].channels, ch)
		ch.sent, ch.confirmed = want, false
		ch.unanswered++
	}
	slices.SortStableFunc(cmds, func(a, b command) int { return int(a.kind) - int(b.kind) })
	return cmds
}
