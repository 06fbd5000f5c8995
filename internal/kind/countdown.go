package kind

import (
	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// CountDownLatch is Redisson's RCountDownLatch: a count, and a gate that is open without one.
var CountDownLatch Kind = countDownLatch{}

type countDownLatch struct{ semaphore }

var countDownTraits = Traits{Label: LatchLabel, Family: "latch", Gate: true, KeyType: "string"}

func (countDownLatch) Traits() *Traits { return &countDownTraits }

func (countDownLatch) Names(key string) Names {
	return Names{keyName: key, channelName: codec.CountDownChannel(key)}
}

// Wake has one look for all. A message says that the count has changed, and no more.
func (countDownLatch) Wake([]byte) int { return 1 }

func (countDownLatch) Acquire(room []any, w *Want) Call {
	return Read("GET", append(room, w.Names[keyName])...)
}

func (countDownLatch) Granted(reply any) (Grant, error) {
	count, err := codec.DecodeNumber(reply)
	return Grant{OK: err == nil && count <= 0, TTL: codec.NoTTL}, err
}

// CountDown changes the count of a latch, by luasrc.DownByOne or the like, and keeps the
// result in w.Latch. Its reply is read by [codec.DecodeExists].
func CountDown(w *Want, how string, n int64) Call {
	return Run(luasrc.CountDown(number(w, w.Latch), w.LatchTTL, how, n), Always)
}
