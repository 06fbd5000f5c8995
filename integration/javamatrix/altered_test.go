package javamatrix

import (
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/wire"
)

// TestAChangedByteTurnsTheMatrixRed plays scenarios with the unlock script changed in one byte, with the newest release
// and with one whose unlock has no latch, and wants the call that is wrong to be named.
func TestAChangedByteTurnsTheMatrixRed(t *testing.T) {
	s := server{Name: own, Version: "Redis"}
	for _, version := range []string{javapeer.Newest, javapeer.Oldest} {
		t.Run(version, func(t *testing.T) {
			p := play(t, version, s, part{
				scenarios: []string{"first acquire", "final unlock"},
				altered:   []wire.Altered{changedByte(t)},
			})
			r := &run{Servers: []server{s}, Pairs: []*pair{p}}
			page := r.page()
			if !r.red() {
				t.Error("the matrix is not red")
			}
			for _, want := range []string{
				"| " + version + " | **RED** |\n",
				"### " + version + " on Redis\n",
				"In the scenario \"final unlock\":\n\n```\nJava's call 2 and Go's call 2, unlock of order:17, differ:\n",
				"    go only:       hincrby order:17 OWNER1 -2",
			} {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q:\n%s", want, page)
				}
			}
			if strings.Contains(page, "In the scenario \"first acquire\"") {
				t.Errorf("what is right is told to differ:\n%s", page)
			}
		})
	}
}
