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
