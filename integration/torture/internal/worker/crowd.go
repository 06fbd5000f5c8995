package worker

import (
	"math/rand/v2"
	"sync"
)

// crowd is how many try one lock at once, each once. Where writes wait now and then, so many attempts at a long name would take
// seconds.
const crowd, tunnelled = 300, 30

// gather has a crowd try a lock. Whoever is granted it releases it.
func (w *worker) gather(lock int) {
	var all sync.WaitGroup
	n := crowd
	if w.Tunnel {
		n = tunnelled
	}
	for range n {
		rng := rand.New(rand.NewPCG(w.rng.Uint64(), 0))
		all.Go(func() {
			s := &stay{worker: &worker{process: w.process, number: w.number, rng: rng}, lock: lock, exact: true, tries: true}
			if s.acquire(noOwner) {
				s.release()
			}
		})
	}
	all.Wait()
}
