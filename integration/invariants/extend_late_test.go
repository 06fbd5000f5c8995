package invariants

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// An extension that is answered after the lease it had found has ended comes too late: the hold is over, and the error
// says so as it does wherever a hold was lost.
func TestExtensionAnsweredAfterTheLease(t *testing.T) {
	proxy := faultproxy.Start(t, redisserver.Local(t).Addr())
	client, err := rlock.Open(t.Context(), "redis://"+proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("orders").Lock(t.Context(), rlock.Lease(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	late := proxy.Add(faultproxy.Rule{Match: faultproxy.Command("EVALSHA"), Times: 1, Do: faultproxy.HoldReply})
	done := hold.Done()
	go func() {
		<-done
		late.Release()
	}()
	err = hold.Extend(t.Context(), 10*time.Second)
	if !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("Extend: %v, want ErrLeaseLost and ErrNotHeld", err)
	}
	if err := hold.Unlock(t.Context()); !errors.Is(err, rlock.ErrLeaseLost) {
		t.Errorf("Unlock: %v", err)
	}
}
