package invariants

import (
	"testing"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// A forced unlock whose script had to be loaded was sent twice. What the second send may have deleted was granted between
// the two.
func TestH3GrantBeforeAForcedUnlockThatWasLoadedAndLostIsNotTrusted(t *testing.T) {
	t.Parallel()
	forces := testbed.Forces
	for what, row := range map[string]struct {
		do    faultproxy.Action
		reply string
		err   error // of the forced unlock
		kept  bool  // the key is known to be there
	}{
		"it ran, and its reply was lost":        {do: faultproxy.CutAfter, err: rlock.ErrUncertain},
		"it did not run, and nobody knows":      {do: faultproxy.CutBefore, err: rlock.ErrUncertain},
		"it ran, and its end was an error":      {do: faultproxy.Replace, reply: "-ERR The user may not access one of the channels\r\n"},
		"the server says that it would not run": {do: faultproxy.Answer, reply: "-LOADING wait\r\n", kept: true},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			l := r.openSlow().NewLock(name)
			unlock(t, lock(t, l)) // the connection stands
			r.Do("SCRIPT", "FLUSH")
			for _, s := range acquireScripts() {
				r.Do("SCRIPT", "LOAD", s.Source)
			}
			unknown := r.Proxy.Add(faultproxy.Rule{Match: forces, Times: 1, Do: faultproxy.HoldReply})
			r.Proxy.Add(faultproxy.Rule{Match: forces, Times: 1, Do: row.do, Reply: []byte(row.reply)})
			forced := make(chan error, 1)
			go func() {
				_, err := l.ForceUnlock(t.Context())
				forced <- err
			}()
			testbed.Receive(t, "the forced unlock is sent", unknown.Hit())
			got := testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLock(t.Context()) })
			r.Becomes("granted behind it", func() bool { return !r.Free(name) })
			unknown.Release()
			h := granted(t, got)
			err := testbed.Receive(t, "ForceUnlock returns", forced)
			if err == nil || row.err != nil {
				want(t, err, row.err)
			}
			if row.kept {
				if err := h.Err(); err != nil {
					t.Errorf("nothing was deleted: %v", err)
				}
				unlock(t, h)
				return
			}
			want(t, h.Err(), rlock.ErrLeaseLost)
			want(t, h.Unlock(t.Context()), rlock.ErrLeaseLost)
			r.Gone(name)
		})
	}
}
