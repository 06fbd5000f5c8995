package javapeer

import "sync"

const stderrKept = 32 << 10

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu    sync.Mutex // guards bytes
	bytes []byte
}

func (l *lastBytes) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes = append(l.bytes, b...)
	if extra := len(l.bytes) - stderrKept; extra > 0 {
		l.bytes = append(l.bytes[:0], l.bytes[extra:]...)
	}
	return len(b), nil
}

func (l *lastBytes) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.bytes)
}
