package behaviour_test

import (
	"testing"
)

func TestLocalCrowdCostsOneAttemptPerAcquisition(t *testing.T) {
	const crowd = 1000
	r, _ := own(t)
	name := r.name()
	h := r.lock(r.open().NewLock(name))
	l := r.open().NewLock(name)
	r.unlock(r.lock(r.open().NewLock("warm"))) // the scripts are loaded
	before := r.calls()["EVALSHA"]
	served := make(chan error, crowd)
	for range crowd {
		go func() {
			h, err := l.Lock(t.Context())
			if err == nil {
				err = h.Unlock(t.Context())
			}
			served <- err
		}()
	}
	r.listeners(name, 1)
	r.unlock(h)
	for range crowd {
		if err := receive(r, "everybody's turn", served); err != nil {
			t.Fatal(err)
		}
	}
	// One unlock each, and the first holder's.
	attempts := r.calls()["EVALSHA"] - before - (crowd + 1)
	perAcquisition := float64(attempts) / crowd
	t.Logf("a crowd of 1,000 local waiters: %.3f acquire attempts per acquisition", perAcquisition)
	if perAcquisition < 1 || perAcquisition > 1.2 {
		t.Errorf("%d attempts for %d acquisitions", attempts, crowd)
	}
}
