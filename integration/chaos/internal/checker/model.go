package checker

// Model is what a kind of lock promises beside a plain lock's promises. The zero Model is a plain lock.
type Model struct {
	Shared bool // those who read may be inside together
	Once   bool // who is inside is refused
	Common bool // several clients use some owners
	Tokens bool // grants are numbered
	Order  bool // who was in the queue first enters first
	// Several: some locks are acquired together, and each has an acquisition in the history.
	Several bool
	// Permits is how many there are of a semaphore; 0: it is none.
	Permits int
}

// together tells whether two windows may have a moment in common.
func (m Model) together(a, b Window) bool {
	if m.Permits > 0 {
		return true // together with others; see fits
	}
	if a.Owner == b.Owner {
		return !m.Once
	}
	return m.Shared && a.Read && b.Read
}

// fits tells whether one who enters has enough permits beside those who are inside.
func (m Model) fits(w Window, inside int) bool {
	return m.Permits == 0 || inside+w.Permits <= m.Permits
}
