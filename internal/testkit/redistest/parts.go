package redistest

import (
	"sync"
	"testing"
)

// Parts are parts of a test that run at the same time, and start at once: a subtest that
// calls t.Parallel would start only after other tests that wait. The test waits for its
// parts by Wait.
type Parts struct{ sync.WaitGroup }

// Run starts a part. It does not wait for its end.
func (p *Parts) Run(t *testing.T, name string, part func(t *testing.T)) {
	p.Go(func() { t.Run(name, part) })
}
