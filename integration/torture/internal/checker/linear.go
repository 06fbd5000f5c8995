package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// step is a begin or an end of a window, as an operation of a lock that takes no time.
type step struct {
	Window
	leave bool
}

// inside is who is in the lock: the owners, sorted, each as often as it entered, to read or not, and with how many permits.
type inside string

func (s step) who() string { return fmt.Sprintf("%s %t %d\n", s.Owner, s.Read, s.Permits) }

// next is the state behind a step, if the lock allows that.
func (m Model) next(is inside, s step) (bool, inside) {
	all := slices.Collect(strings.Lines(string(is)))
	at, found := slices.BinarySearch(all, s.who())
	if s.leave {
		if !found {
			return false, is
		}
		return true, inside(strings.Join(slices.Delete(all, at, at+1), ""))
	}
	taken := 0
	for _, line := range all {
		var x Window
		fmt.Sscan(line, &x.Owner, &x.Read, &x.Permits)
		if taken += x.Permits; !m.together(x, s.Window) {
			return false, is
		}
	}
	if !m.fits(s.Window, taken) {
		return false, is
	}
	return true, inside(strings.Join(slices.Insert(all, at, s.who()), ""))
}

// porcupine is the lock as that library asks for it, parted by lock.
func (m Model) porcupine() porcupine.Model {
	return porcupine.Model{
		Partition: func(steps []porcupine.Operation) [][]porcupine.Operation {
			byLock := map[int][]porcupine.Operation{}
			for _, s := range steps {
				lock := s.Input.(step).Lock
				byLock[lock] = append(byLock[lock], s)
			}
			return slices.Collect(maps.Values(byLock))
		},
		Init: func() any { return inside("") },
		Step: func(state, input, _ any) (bool, any) { return m.next(state.(inside), input.(step)) },
	}
}

// Linearizable asks porcupine whether the windows are a run of such locks. Instants that are equal may come in
// either order. An error: it did not decide in time.
func (m Model) Linearizable(windows []Window) (bool, error) {
	var steps []porcupine.Operation
	for _, w := range windows {
		if w.To <= w.From {
			continue
		}
		steps = append(steps,
			porcupine.Operation{Input: step{w, false}, Call: w.From, Return: w.From})
		if w.To < forever {
			steps = append(steps, porcupine.Operation{Input: step{w, true}, Call: w.To, Return: w.To})
		}
	}
	return decided(porcupine.CheckOperationsTimeout(m.porcupine(), steps, patience), len(steps))
}

// patience is how long porcupine may take.
const patience = 2 * time.Minute

// decided is what porcupine says of so many steps.
func decided(r porcupine.CheckResult, steps int) (bool, error) {
	switch r {
	case porcupine.Ok:
		return true, nil
	case porcupine.Illegal:
		return false, nil
	}
	return false, fmt.Errorf("porcupine did not decide on %d steps within %v", steps, patience)
}
