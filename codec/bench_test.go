package codec

import (
	"testing"

	"github.com/google/uuid"
)

// The results are kept, so that nothing is optimised away.
var textSink string

func BenchmarkOwner(b *testing.B) {
	id := uuid.New()
	b.ReportAllocs()
	for b.Loop() {
		textSink = Owner(id, 123_456_789)
	}
}

func BenchmarkFreshLatch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		textSink = FreshLatch("order:4711")
	}
}
