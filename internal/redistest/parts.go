package redistest

import (
	"sync"
	"testing"
)

// Parts are parts of a test that run beside each other, and at once: one that
// asks for t.Parallel comes after all tests that wait for their turn. The test
// waits for them by Wait.
type Parts struct{ sync.WaitGroup }

// Run begins a part.
func (p *Parts) Run(t *testing.T, name string, part func(t *testing.T)) {
	p.Go(func() { t.Run(name, part) })
}
