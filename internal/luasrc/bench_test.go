package luasrc

import (
	"fmt"
	"testing"

	"github.com/rlock-go/redisson/watchdog"
)

// Calls as the library makes them: arguments boxed once, in the request's memory.

func BenchmarkLockInPlace(b *testing.B) {
	var room [MaxArgs]any
	var key, owner, lease Arg = "order:4711", "owner", int64(30_000)
	b.ReportAllocs()
	for b.Loop() {
		sink = Lock(room[:0], key, owner, lease)
	}
}

func BenchmarkUnlockInPlace(b *testing.B) {
	var room [MaxArgs]any
	var key, ch, latchWord, owner, lease, ttl, publish Arg = "order:4711", channel, latch, "owner", int64(30_000), int64(16_000), Publish
	b.ReportAllocs()
	for b.Loop() {
		sink = Unlock(room[:0], key, ch, latchWord, owner, lease, ttl, publish)
	}
}

func BenchmarkUnlockToInPlace(b *testing.B) {
	var room [MaxArgs]any
	var key, ch, owner, lease, publish Arg = "order:4711", channel, "owner", int64(30_000), Publish
	b.ReportAllocs()
	for b.Loop() {
		sink = UnlockTo(room[:0], key, ch, owner, lease, Left{Least: 1}, publish)
	}
}

func BenchmarkRenewOfFullBatch(b *testing.B) {
	keys, owners := make([]Arg, watchdog.MaxBatch), make([]Arg, watchdog.MaxBatch)
	for i := range keys {
		keys[i], owners[i] = fmt.Sprint("order:", i), fmt.Sprint("owner:", i)
	}
	var lease Arg = int64(30_000)
	b.ReportAllocs()
	for b.Loop() {
		sink = Renew(nil, lease, len(keys), func(i int) (key, owner Arg) { return keys[i], owners[i] })
	}
}

func BenchmarkRenewOfOneInPlace(b *testing.B) {
	var room [MaxArgs]any
	var key, owner, lease Arg = "order:4711", "owner", int64(30_000)
	b.ReportAllocs()
	for b.Loop() {
		sink = Renew(room[:0], lease, 1, func(int) (Arg, Arg) { return key, owner })
	}
}

// What each acquire, release and renewal decodes. The results are kept, so that nothing is optimised away.
var (
	grantedSink bool
	releaseSink Release
	renewedSink []bool
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
