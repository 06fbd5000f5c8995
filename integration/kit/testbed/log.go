package testbed

import (
	"bytes"
	"sync"
)

// Log is the text that log handlers write. The zero Log is empty.
type Log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write adds to the text.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is the text so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Take is the text so far, and empties the log.
func (l *Log) Take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}
