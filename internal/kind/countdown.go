package kind

import (
	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// CountDownLatch is Redisson's RCountDownLatch: a count, and a gate that is open when there is
// no count.
var CountDownLatch Kind = countDownLatch{}

type countDownLatch struct{ semaphore }

var countDownTraits = Traits{Label: LatchLabel, Family: "latch", Gate: true, KeyType: "string"}

func (countDownLatch) Traits() *Traits { return &countDownTraits }

func (countDownLatch) Names(key string) Names {
	return Names{keyName: key, channelName: codec.CountDownChannel(key), begunName: codec.Latch(key, "begun")}
}

// Wake wakes one waiter, whose look answers for all. A message says only that the count has
// changed.
func (countDownLatch) Wake([]byte) int { return 1 }

func (countDownLatch) Acquire(room []any, w *Want) Call {
	return Read("GET", append(room, w.Names[keyName])...)
}

func (countDownLatch) Granted(reply any) (Grant, error) {
	count, err := luasrc.DecodeNumber(reply)
	return Grant{OK: err == nil && count <= 0, TTL: luasrc.NoTTL}, err
}

// CountDown changes the count of a latch; how is luasrc.DownByOne or the like. The result is
// kept in w.Latch. [luasrc.DecodeExists] reads its reply.
func CountDown(w *Want, how string, n int64) Call {
	return kept(luasrc.CountDown(number(w, w.Latch), w.LatchTTL, how, n, w.known()).Since(w.Since), Always)
}
