package clock

import (
	"testing"
	"time"
)

func BenchmarkSystem(b *testing.B) {
	c := System()
	for b.Loop() {
		c.Now()
	}
}

func BenchmarkTimeNow(b *testing.B) {
	for b.Loop() {
		time.Now()
	}
}
