package lockstate

import (
	"fmt"

	"github.com/rlock-go/redisson/codec"
)

// Scattered tells which of the names that belong to the lock a cluster would keep
// on another server than the lock itself, if there is one: it could be locked
// there, and never unlocked. It is nil where all of them are together, and on one
// server.
func (l *Lock) Scattered() error {
	key := l.key
	if l.c.spansSlots || codec.SlotSafe(key) {
		return nil
	}
	const put = "put what the slot is to be made of in braces, such as {order:17}:a"
	if slot := codec.Slot(codec.Channel(key)); slot != l.slot {
		return fmt.Errorf("in a cluster the lock would be in slot %d, its channel in slot %d; %s", l.slot, slot, put)
	}
	return fmt.Errorf("in a cluster the lock would be in slot %d, each of its latches in another; %s", l.slot, put)
}
