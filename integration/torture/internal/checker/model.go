package checker

// Model is what a kind of lock promises beside a plain lock's promises. The zero Model is a plain lock.
type Model struct {
	Shared bool // those who read may be inside together
	Once   bool // who is inside is refused
	Tokens bool // grants are numbered
	Order  bool // who was in the queue first enters first
}

// together tells whether two windows may have a moment in common.
func (m Model) together(a, b Window) bool {
	if a.Owner == b.Owner {
		return !m.Once
	}
	return m.Shared && a.Read && b.Read
}
