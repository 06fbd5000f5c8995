package behaviour_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/monitor"
	"github.com/rlock-go/redisson/rlock"
)

func TestUncontendedPairIsTwoScripts(t *testing.T) {
	r, s := own(t)
	c := r.open()
	l := c.NewLock(r.name())
	other := c.NewLock(r.name())
	r.Unlock(r.Lock(l)) // loads the scripts
	tap := monitor.Tap(t, s.Addr())
	tap.Mark()
	for _, row := range []struct {
		behaviour string
		pair      func() error
	}{
		{"Lock", func() error {
			h, err := l.Lock(t.Context())
			if err != nil {
				return err
			}
			return h.Unlock(t.Context())
		}},
		{"TryLock with a lease", func() error {
			h, err := l.TryLock(t.Context(), rlock.Lease(patience))
			if err != nil {
				return err
			}
			return h.Unlock(t.Context())
		}},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			if err := row.pair(); err != nil {
				t.Fatal(err)
			}
			// What travels with the next batch, or by itself a little later, has had its time.
			r.Unlock(r.Lock(other))
			var sent []string
			for _, call := range monitor.Calls(tap.Mark()) {
				sent = append(sent, strings.ToUpper(call.Args[0]))
			}
			if want := []string{"EVALSHA", "EVALSHA", "EVALSHA", "EVALSHA"}; !slices.Equal(sent, want) {
				t.Errorf("sent %v, want %v: this pair and the one behind it", sent, want)
			}
		})
	}
	if n := r.Calls()["SUBSCRIBE"]; n != 0 {
		t.Errorf("%d SUBSCRIBE", n)
	}
}

func TestScriptsAreLoadedOnce(t *testing.T) {
	r, _ := own(t)
	first, second := r.open(), r.open()
	for range 3 {
		for _, c := range []*rlock.Client{first, second} {
			l := c.NewLock(r.name())
			h := r.Lock(l)
			inner := r.Lock(l, rlock.As(h.Owner()))
			r.Unlock(inner)
			r.Unlock(h)
		}
	}
	if n := r.Calls()["SCRIPT|LOAD"]; n != 2 {
		t.Errorf("%d loads, want one for the lock script and one for the unlock script", n)
	}
	t.Run("and again when the server forgot them", func(t *testing.T) {
		r.Do("SCRIPT", "FLUSH")
		r.Unlock(r.Lock(first.NewLock(r.name())))
		if n := r.Calls()["SCRIPT|LOAD"]; n != 4 {
			t.Errorf("%d loads", n)
		}
	})
}

func TestReentryIsOneScriptEach(t *testing.T) {
	r, _ := own(t)
	l := r.open().NewLock(r.name())
	outer := r.Lock(l)
	r.Unlock(r.Lock(l, rlock.As(outer.Owner())))
	before := r.Calls()
	inner := r.Lock(l, rlock.As(outer.Owner()))
	r.Unlock(inner)
	after := r.Calls()
	if n := after["EVALSHA"] - before["EVALSHA"]; n != 2 {
		t.Errorf("%d scripts", n)
	}
	if after["SUBSCRIBE"] != 0 {
		t.Error("it subscribed")
	}
	r.Unlock(outer)
}

// others lists the server's connections except this test's own. Of several servers
// it lists those of clients, by their name.
func (r *rig) others() []string {
	r.Helper()
	if redisserver.ChoosesSeveral() {
		return slices.DeleteFunc(strings.Split(r.Text("CLIENT", "LIST"), "\n"), func(line string) bool {
			return !strings.Contains(line, " name=rlock ")
		})
	}
	me := "id=" + itoa(r.Number("CLIENT", "ID")) + " "
	var lines []string
	for line := range strings.Lines(r.Text("CLIENT", "LIST")) {
		if !strings.HasPrefix(line, me) {
			lines = append(lines, line)
		}
	}
	return lines
}
