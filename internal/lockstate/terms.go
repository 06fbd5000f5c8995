package lockstate

import "time"

// Terms are what one acquisition asks for.
type Terms struct {
	Lease    time.Duration // fixed; 0: the watchdog extends it
	MaxHold  time.Duration // 0: no bound
	Wait     time.Duration // how long the call may wait; 0 with HasWait: it makes one attempt
	Owner    Owner         // who acquires, with As; else a new owner does
	As       bool          // Owner is given
	HasLease bool          // Lease is given
	HasMax   bool          // MaxHold is given
	HasWait  bool          // Wait is given; else the call waits as long as its context
}
