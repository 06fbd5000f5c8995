package checker

// Model says how the promises of a kind of lock differ from a plain lock's. The zero Model is a plain lock.
type Model struct {
	Shared bool // readers may be inside together
	Once   bool // an owner that is inside is refused
	Common bool // several clients use the same owners
	Tokens bool // grants are numbered
	Order  bool // the first in the queue enters first
	// Several: some locks are acquired together, and each has an acquisition in the history.
	Several bool
	// Permits is the number of a semaphore's permits; 0: this is no semaphore.
	Permits int
}

// together reports whether two windows may overlap.
func (m Model) together(a, b Window) bool {
	if m.Permits > 0 {
		return true // fits counts the permits
	}
	if a.Owner == b.Owner {
		return !m.Once
	}
	return m.Shared && a.Read && b.Read
}

// fits reports whether the permits of w are free when others have taken as many as inside.
func (m Model) fits(w Window, inside int) bool {
	return m.Permits == 0 || inside+w.Permits <= m.Permits
}
