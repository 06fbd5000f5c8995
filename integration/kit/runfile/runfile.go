// Package runfile keeps what a run measured as a file of JSON, for the pages that are made of it.
package runfile

import (
	"encoding/json"
	"os"
)

// Save writes what a run measured.
func Save(path string, run any) error {
	text, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Read reads what Save wrote.
func Read[Run any](path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	run := new(Run)
	return run, json.Unmarshal(text, run)
}
