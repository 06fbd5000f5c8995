package simulation

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
)

type reader struct{ *rand.Rand }

func (r reader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.Uint64())
	}
	return len(p), nil
}

// seedAll draws from the seed whatever the library draws by itself. The order of goroutines that are ready in one
// instant, of select and of maps is the runtime's choice; the command replay makes that repeatable.
func seedAll(t *testing.T, seed uint64) {
	cryptotest.SetGlobalRandom(t, seed)
	uuid.SetRand(reader{rand.New(rand.NewPCG(seed, 3))})
	r := rand.New(rand.NewPCG(seed, 4))
	clocksDrawn.Lock()
	clocksDrawn.rates = nil
	clocksDrawn.Unlock()
	clock.Override(func() clock.Clock { // each client's clock runs fast or slow by up to 0.9%
		clocksDrawn.Lock()
		defer clocksDrawn.Unlock()
		start, rate := time.Now(), slowest+0.018*r.Float64()
		clocksDrawn.rates = append(clocksDrawn.rates, rate)
		return clock.Func(func() time.Duration { return time.Duration(float64(time.Since(start)) * rate) })
	})
}

// slowest is the rate of the slowest clock.
const slowest = 0.991

// clocksDrawn has the rates of the clients' clocks, in the order in which they were opened.
var clocksDrawn struct {
	sync.Mutex
	rates []float64
}

// clocks returns a copy of them.
func clocks() []float64 {
	clocksDrawn.Lock()
	defer clocksDrawn.Unlock()
	return slices.Clone(clocksDrawn.rates)
}

func unseed() {
	uuid.SetRand(nil)
	clock.Override(nil)
}

func dialer(w *simnet.World, host string) rlock.Option { return rlock.WithDialer(w.Dialer(host)) }
