package history

// Sighting is what the server showed of a lock at one moment, to somebody who only looks.
type Sighting struct {
	At    int64
	Lock  int
	Owner string
	Count string
	TTL   int64 // in ms
}

// Saw keeps a sighting for whoever has to explain a violation. It proves nothing: it comes late, and not at all while
// the server is away.
func (b *Book) Saw(s Sighting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sightings = append(b.sightings, s)
}

// Queue is what the server showed of those who wait for a fair lock, at one moment between two instants.
type Queue struct {
	Asked, Answered int64
	Lock            int
	Places          []Place // the first is next
}

// Place is one owner's in a queue.
type Place struct {
	Owner string
	Until int64 // when its time is over as the server then had it
}

// SawQueue keeps one.
func (b *Book) SawQueue(q Queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues = append(b.queues, q)
}
