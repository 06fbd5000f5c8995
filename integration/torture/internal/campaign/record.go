package campaign

import (
	"encoding/json"
	"os"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// record is a file of what was judged: acquisitions, voids, and what the server showed, each a line of JSON.
type record struct {
	file *os.File // nil: none was asked for
	out  *json.Encoder
	err  error
}

func newRecord(name string) (*record, error) {
	if name == "" {
		return &record{}, nil
	}
	f, err := os.Create(name)
	return &record{file: f, out: json.NewEncoder(f)}, err
}

func (r *record) add(c history.Chapter) {
	if r.file == nil {
		return
	}
	add(r, "acquisition", c.Acquisitions)
	add(r, "void", c.Voids)
	add(r, "sighting", c.Sightings)
	add(r, "queue", c.Queues)
}

func add[T any](r *record, what string, all []T) {
	for _, x := range all {
		if r.err == nil {
			r.err = r.out.Encode(map[string]T{what: x})
		}
	}
}

func (r *record) end() error {
	if r.file == nil {
		return nil
	}
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}
