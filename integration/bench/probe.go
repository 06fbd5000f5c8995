package main

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// probe is an unrelated client that sends a PING after each 0.5 to 1.5 ms. It shows how the load affects other clients.
// The pauses are random, so that they don't keep step with the load.
type probe struct {
	stop chan struct{}
	wg   sync.WaitGroup
	err  error // read after wg.Wait

	seconds [][]float64 // µs, by the second in which the PING was sent; read after wg.Wait
}

func startProbe(addr string) (*probe, error) {
	conn, err := redis.Dial("tcp", addr, redis.DialReadTimeout(grace))
	if err != nil {
		return nil, err
	}
	p := &probe{stop: make(chan struct{})}
	p.wg.Go(func() {
		defer conn.Close()
		for began := time.Now(); ; {
			select {
			case <-p.stop:
				return
			default:
			}
			nap(500*time.Microsecond + rand.N(time.Millisecond))
			asked := time.Now()
			if _, p.err = conn.Do("PING"); p.err != nil {
				return
			}
			second := int(asked.Sub(began) / time.Second)
			for len(p.seconds) <= second {
				p.seconds = append(p.seconds, nil)
			}
			p.seconds[second] = append(p.seconds[second], float64(time.Since(asked).Microseconds()))
		}
	})
	return p, nil
}

// end returns the p99 of all PINGs and of the worst second, in µs.
func (p *probe) end() (all, worst float64, err error) {
	close(p.stop)
	p.wg.Wait()
	var every []float64
	for _, s := range p.seconds {
		every = append(every, s...)
		if len(s) >= 100 {
			worst = max(worst, quantile.Of(s, 0.99))
		}
	}
	return quantile.Of(every, 0.99), worst, p.err
}
