package pubsub

import (
	"slices"

	"github.com/rlock-go/redisson/codec"
)

// commandKind is which command was sent.
type commandKind uint8

const (
	subscribe commandKind = iota
	unsubscribe
	ping      // are you there
	finalPing // a PING after which nothing more is sent or read
	ssubscribe
	sunsubscribe
)

func (k commandKind) String() string {
	return [...]string{"SUBSCRIBE", "UNSUBSCRIBE", "PING", "PING", "SSUBSCRIBE", "SUNSUBSCRIBE"}[k]
}

// leaves tells whether the command gives channels up.
func (k commandKind) leaves() bool { return k == unsubscribe || k == sunsubscribe }

// command is one command that was sent, or is about to be, and not fully answered.
type command struct {
	kind     commandKind
	channels []*channel // of what is no PING, in the order sent
	answered int        // how many of channels; the server answers for each
}

// shardCommands are commands for sharded channels, one for each slot and sort.
type shardCommands struct {
	at   map[shardSlot]int // in cmds
	cmds []command
}

type shardSlot struct {
	slot uint16
	want bool
}

// add has a channel subscribed, or given up.
func (s *shardCommands) add(ch *channel, want bool) {
	to := shardSlot{codec.Slot(ch.name), want}
	i, ok := s.at[to]
	if !ok || ch.alone {
		kind := sunsubscribe
		if want {
			kind = ssubscribe
		}
		i = len(s.cmds)
		s.cmds = append(s.cmds, command{kind: kind})
		if s.at == nil {
			s.at = map[shardSlot]int{}
		}
		if !ch.alone {
			s.at[to] = i
		}
	}
	s.cmds[i].channels = append(s.cmds[i].channels, ch)
}

// all are the commands. Those that give up come first, as for plain channels.
func (s *shardCommands) all() []command {
	slices.SortStableFunc(s.cmds, func(a, b command) int { return int(b.kind) - int(a.kind) })
	return s.cmds
}
