package kind

import (
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Spin is Redisson's RSpinLock. Its state is a plain lock's, so the two exclude each other and
// may share owners. There is no channel: a waiter tries again after a pause that doubles.
var Spin Kind = spin{}

type spin struct{ reentrant }

var spinTraits = hashTraits(func(t *Traits) {
	t.Label, t.Queue, t.Silent = SpinLabel, "spin", true
	t.HandOffs = 16 // fewer than for a plain lock: other clients find it free by chance only
})

// These bound the pauses, as in Redisson.
const (
	firstSpin = time.Millisecond
	lastSpin  = 128 * time.Millisecond
)

func (spin) Traits() *Traits { return &spinTraits }

func (spin) Names(key string) Names { return Names{keyName: key} }

func (spin) Channel(*Names, Owner) string { return "" }

func (spin) Wake([]byte) int { return 0 }

func (spin) Release(room []any, w *Want) Call {
	switch {
	case w.Keep.Millis > 0:
		return Run(luasrc.UnlockKeep(room, w.Names[keyName], w.Latch, "", w.Owner, w.Lease, w.LatchTTL, w.Keep.Owner, w.Keep.Millis, w.Left, nil), Always)
	case w.Latch == nil:
		return Run(luasrc.UnlockTo(room, w.Names[keyName], "", w.Owner, w.Lease, w.Left, nil), Always)
	}
	return Run(luasrc.SpinUnlock(room, w.Names[keyName], w.Latch, w.Owner, w.Lease, w.LatchTTL), Always)
}

// Pause doubles with each attempt, from one millisecond to 128. Its random half separates
// clients that were refused together.
func (spin) Pause(tries int, _ Grant) (least, most time.Duration) {
	pause := lastSpin
	if doublings := max(tries-1, 0); doublings < 7 {
		pause = firstSpin << doublings
	}
	return max(pause/2, firstSpin), pause
}

func (spin) Force(w *Want) Call {
	return Run(luasrc.SpinForceUnlock(w.Names[keyName]), Never)
}
