package main

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLanesTakeEachDefectOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var done []int
		busy := make([]sync.Mutex, 3)
		began := time.Now()
		err := inLanes(9, 3, func(lane, i int) error {
			if !busy[lane].TryLock() {
				t.Errorf("two at a time in lane %d", lane)
				return nil
			}
			defer busy[lane].Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			done = append(done, i)
			return nil
		})
		if took := time.Since(began); err != nil || took != 3*time.Second {
			t.Errorf("9 of a second each took %v in 3 lanes: %v", took, err)
		}
		if slices.Sort(done); !slices.Equal(done, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
			t.Errorf("done: %v", done)
		}
	})
}

func TestLanesStopAtAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var begun []int
		err := inLanes(9, 2, func(_, i int) error {
			mu.Lock()
			begun = append(begun, i)
			mu.Unlock()
			time.Sleep(time.Duration(1+i) * time.Second)
			if i < 2 {
				return errors.New([]string{"first", "second"}[i])
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "first") || !strings.Contains(err.Error(), "second") {
			t.Errorf("an error is missing: %v", err)
		}
		if slices.Sort(begun); !slices.Equal(begun, []int{0, 1}) {
			t.Errorf("begun: %v", begun)
		}
	})
}
