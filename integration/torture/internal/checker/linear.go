package checker

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// step is a begin or an end of a window, as an operation of a re-entrant lock that takes no time.
type step struct {
	lock  int
	owner string
	leave bool
}

// inside is the lock's state.
type inside struct {
	owner string
	depth int
}

// model is a re-entrant lock, parted by lock.
var model = porcupine.Model{
	Partition: func(steps []porcupine.Operation) [][]porcupine.Operation {
		byLock := map[int][]porcupine.Operation{}
		for _, s := range steps {
			lock := s.Input.(step).lock
			byLock[lock] = append(byLock[lock], s)
		}
		var parts [][]porcupine.Operation
		for _, part := range byLock {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return inside{} },
	Step: func(state, input, _ any) (bool, any) {
		is, s := state.(inside), input.(step)
		switch {
		case s.leave && (is.owner != s.owner || is.depth == 0):
			return false, is
		case s.leave && is.depth == 1:
			return true, inside{}
		case s.leave:
			return true, inside{is.owner, is.depth - 1}
		case is.depth > 0 && is.owner != s.owner:
			return false, is
		}
		return true, inside{s.owner, is.depth + 1}
	},
	DescribeOperation: func(input, _ any) string {
		s := input.(step)
		if s.leave {
			return fmt.Sprintf("%s leaves %d", s.owner, s.lock)
		}
		return fmt.Sprintf("%s enters %d", s.owner, s.lock)
	},
}

// Linearizable asks porcupine whether the windows are a run of re-entrant locks. Instants that are equal may come in
// either order. An error: it did not decide in time.
func Linearizable(windows []Window) (bool, error) {
	var steps []porcupine.Operation
	for _, w := range windows {
		if w.To <= w.From {
			continue
		}
		steps = append(steps,
			porcupine.Operation{Input: step{w.Lock, w.Owner, false}, Call: w.From, Return: w.From},
			porcupine.Operation{Input: step{w.Lock, w.Owner, true}, Call: w.To, Return: w.To})
	}
	const patience = 2 * time.Minute
	switch porcupine.CheckOperationsTimeout(model, steps, patience) {
	case porcupine.Ok:
		return true, nil
	case porcupine.Illegal:
		return false, nil
	}
	return false, fmt.Errorf("porcupine did not decide on %d steps within %v", len(steps), patience)
}
