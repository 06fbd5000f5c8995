package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// tryAll tries the defects in lanes, each with its own folder, and prints the line of each defect as it ends. The rows
// are in the order of the defects.
func (b bench) tryAll(defects []defect, lanes int, verbose bool) ([]row, error) {
	rows := make([]row, len(defects))
	err := inLanes(len(defects), lanes, func(lane, i int) error {
		own := bench{b.source, filepath.Join(b.temp, strconv.Itoa(lane))}
		if err := os.MkdirAll(own.temp, 0o755); err != nil {
			return err
		}
		started := time.Now()
		missed, err := own.try(defects[i], verbose)
		if err != nil {
			return fmt.Errorf("%s: %w", defects[i].what, err)
		}
		rows[i] = row{defects[i], missed, time.Since(started)}
		fmt.Fprintf(os.Stderr, "%s %s |\n", rows[i].head(), rows[i].seconds())
		return nil
	})
	return rows, err
}

// inLanes calls do once for each i below n, one call at a time in each lane. After an error it begins no other.
func inLanes(n, lanes int, do func(lane, i int) error) error {
	errs := make([]error, lanes)
	var next atomic.Int64
	var all sync.WaitGroup
	for lane := range lanes {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if errs[lane] = do(lane, i); errs[lane] != nil {
					next.Store(int64(n))
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
