package codec

import (
	"testing"

	"github.com/google/uuid"
)

// What each acquire, release and renewal decodes and builds. The results are kept, so that nothing is optimised away.
var (
	grantedSink bool
	releaseSink Release
	renewedSink []bool
	textSink    string
)

func BenchmarkDecodeAcquireGranted(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		grantedSink, _, _ = DecodeAcquire(nil)
	}
}

func BenchmarkDecodeAcquireRefused(b *testing.B) {
	var reply any = int64(29_999)
	b.ReportAllocs()
	for b.Loop() {
		grantedSink, _, _ = DecodeAcquire(reply)
	}
}

func BenchmarkDecodeRelease(b *testing.B) {
	var reply any = int64(1)
	b.ReportAllocs()
	for b.Loop() {
		releaseSink, _ = DecodeRelease(reply)
	}
}

func BenchmarkDecodeRenewOfHundred(b *testing.B) {
	elems := make([]any, 100)
	for i := range elems {
		elems[i] = int64(1)
	}
	var reply any = elems
	b.ReportAllocs()
	for b.Loop() {
		renewedSink, _ = DecodeRenew(reply, len(elems))
	}
}

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
