package wire

import (
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// scenario is one thing that both sides do with the lock called name. A side returns errUntimely to be played again.
type scenario struct {
	name     string
	kind     javapeer.Kind
	watchdog time.Duration // 0 is quiet
	firstUse bool          // the server knows no script
	several  bool          // it is about locks that are renewed together
	java     func(s *javaSide, name string) error
	golang   func(s *goSide, name string) error
	lock     string // the lock's name, else lockName
}

func (sc scenario) key() string {
	if sc.lock == "" {
		return lockName
	}
	return sc.lock
}

// lockName is that of a lock whose name the scenario is not about; taggedName has all that begin with it in one slot.
const lockName, taggedName = "order:17", "{order}:17"

func (sc scenario) lease() time.Duration {
	if sc.watchdog == 0 {
		return quiet
	}
	return sc.watchdog
}

const (
	// quiet is a watchdog timeout that no recording lasts a third of. What Redisson still holds from one scenario is not
	// renewed in the next.
	quiet = 10 * time.Minute
	// byDefault is both sides' own.
	byDefault = 30 * time.Second
	// ticking is short enough to see renewals, and long enough for a machine that stands still for a while.
	ticking = 3 * time.Second
	// long is a fixed lease.
	long = time.Minute
)

// dog is Redisson's call without a lease.
const dog = javapeer.Watchdog

var plain = slicesOf(acquiring, waiting, releasing, renewing, asking, naming())

var scenarios = slicesOf(plain, spinning, fenced, nonReentrant)

func slicesOf(parts ...[]scenario) (all []scenario) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
