package behaviour_test

import (
	"testing"

	"github.com/rlock-go/redisson/rlock"
)

type prefixed string

func (p prefixed) Map(name string) string { return string(p) + name }

func TestNameMapper(t *testing.T) {
	r := start(t)
	c := r.open(rlock.WithNameMapper(prefixed("app:")))
	name := r.name()
	mapped := "app:" + name
	l := c.NewLock(name)
	h := r.Lock(l)
	if l.Name() != name || h.Name() != name {
		t.Errorf("names %s, %s", l.Name(), h.Name())
	}
	if r.Number("EXISTS", name) != 0 || r.Text("HGET", mapped, h.Owner()) != "1" {
		t.Error("the key is not the mapped name")
	}
	waiter := r.enter(l)
	r.Listeners(mapped, 1)
	_, err := r.open().NewLock(mapped).TryLock(t.Context())
	wants(t, err, rlock.ErrLocked)
	// Somebody without a mapper wakes who has one.
	if forced, err := r.open().NewLock(mapped).ForceUnlock(t.Context()); !forced || err != nil {
		t.Fatal(forced, err)
	}
	r.Unlock(r.Entered(waiter).Hold)
	r.Unlock(r.Lock(c.NewLock("n" + name)))
}
