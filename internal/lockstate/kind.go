package lockstate

import (
	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// kind is all that tells one lock object from another: its scripts, its names
// and which messages are worth waking up for. Whatever waits, sends, renews
// and undoes is written once and asks here.
type kind struct {
	channel func(key string) string
	wakes   func(payload []byte) bool
	acquire func(dst []any, key, owner, lease luasrc.Arg) luasrc.Call
	release func(dst []any, key, channel, latch, owner, lease, latchTTL, publish luasrc.Arg) luasrc.Call
	force   func(key, channel, publish string) luasrc.Call
}

// reentrant is Redisson's RLock.
var reentrant = &kind{
	channel: codec.Channel,
	wakes:   codec.IsUnlock,
	acquire: luasrc.Lock,
	release: luasrc.Unlock,
	force:   luasrc.ForceUnlock,
}
