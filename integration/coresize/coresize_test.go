package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/internal/typecheck"
)

func TestEachKindThatNeedsTheCoreHasItsLinesThere(t *testing.T) {
	packages, err := typecheck.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	m, err := read(packages)
	if err != nil {
		t.Fatal(err)
	}
	each, err := m.sizes()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		of := slices.Compact(slices.Sorted(maps.Values(each[i])))
		want, needs := map[string]string{ // a function that a kind has lines in
			"spin":             "lockstate.Lock).countListeners",
			"fair":             "lockstate.waitQueue).listenFor",
			"read-write":       "waitqueue.Queue).tryTogether",
			"fenced":           "lockstate.Hold).Token",
			"permits":          "lockstate.Lock).Change",
			"semaphore, latch": "lockstate.attempt).taken",
		}[row.name]
		if needs != slices.ContainsFunc(of, func(name string) bool { return strings.HasSuffix(name, want) }) {
			t.Errorf("%s has lines in %q; want %q", row.name, of, want)
		}
	}
	if delete(m.asked, "Gate"); m.unread() == nil {
		t.Error("a trait that is not understood is no error")
	}
}
