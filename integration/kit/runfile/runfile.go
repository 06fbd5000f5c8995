// Package runfile stores a run's measurements in a JSON file, from which pages are generated.
package runfile

import (
	"encoding/json"
	"os"
)

// Save writes a run's measurements to path.
func Save(path string, run any) error {
	text, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Read reads a file that Save wrote.
func Read[Run any](path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	run := new(Run)
	return run, json.Unmarshal(text, run)
}
