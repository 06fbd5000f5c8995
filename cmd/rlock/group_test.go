package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A multi-lock of a group, as Redisson 4.7.0 writes it, is a hash in which owners are values. It keeps Go's lock of its name out,
// and neither the tool nor the library unlocks it.
func TestGroupOfJavasLocksIsNoLock(t *testing.T) {
	t.Parallel()
	const owner = "50cb2e4b-b55b-4456-821f-956223b8c99b:1"
	s := redistest.Start(t)
	c := s.Dial(t)
	for _, value := range []string{"qgEodwQI5mFesj19Jg1v8Q", "EB0z3mlDR/TEulWKYYizcw"} {
		if _, err := c.Do("HSET", "group", value, owner, value+":"+owner+":expire_time", 9999999999999, value+":"+owner+":lock_count", 1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Do("PEXPIRE", "group", 30000); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, 0, s.URL(), "show", "group"); !strings.Contains(out, "the key is a hash that is no lock") {
		t.Error(out)
	}
	if out := ended(t, usage, s.URL(), "unlock", "--force", "--yes", "group"); !strings.Contains(out, "can't be unlocked") {
		t.Error(out)
	}
	l := open(t, s.URL()).NewLock("group")
	if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("Go's lock of that name: %v", err)
	}
	if i, err := l.Info(t.Context()); err == nil || !strings.Contains(err.Error(), "a hash that is no lock") {
		t.Errorf("%+v, %v", i, err)
	}
}
