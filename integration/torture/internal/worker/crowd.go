package worker

import (
	"math/rand/v2"
	"sync"
)

// crowd is how many try one lock at once, each once.
const crowd = 300

// gather has a crowd try a lock. Whoever is granted it releases it.
func (w *worker) gather(lock int) {
	var all sync.WaitGroup
	for range crowd {
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
