package waitqueue

// Rules are what one sort of lock asks of its queue. They are set before anybody
// joins.
type Rules struct {
	// Width is how many may have the name at the same time; 0 means any number.
	// Where more than one may, a grant is no reason for the others to wait: the
	// next one tries, as long as the wake-up has attempts left.
	Width int

	// Silent says that there is no channel. Nothing is subscribed to; the caller
	// reports with a refusal for how long to pause.
	Silent bool

	// HandOff lets the head's acquire follow this client's unlock.
	HandOff bool

	// PassOn has a refused attempt leave its wake-up to the waiter behind it.
	PassOn bool

	// Gate says that one grant ends all waits of the queue.
	Gate bool
}

// Exclusive are the rules of a lock that one owner has at a time.
var Exclusive = Rules{Width: 1, HandOff: true}

// All is a message for every waiter.
const All = 1 << 29

// Follow has the queue go by other rules. Nobody waits in it.
func (q *Queue) Follow(r Rules) { q.rules = r }

// widest is how many attempts a wake-up can be good for.
func (q *Queue) widest() int {
	if q.rules.Width == 0 {
		return All
	}
	return q.rules.Width
}

// wake asks for so many attempts. Where one owner has the name at a time, ten
// wake-ups are one (P3).
func (q *Queue) wake(n int) { q.wakes = min(q.wakes+min(n, All), q.widest()) }

// wakeUp is what is left of a wake-up that is good for several attempts, while
// one of them is under way.
type wakeUp struct {
	left int     // attempts after that one
	next *Waiter // where refusals are passed on: who stands behind it; nil: nobody, or the head is next
}

// candidate is who tries next.
func (q *Queue) candidate() *Waiter {
	if q.current.next != nil {
		return q.current.next
	}
	return q.waiting.head
}

// use takes w's attempt off the wake-up. An attempt that none asked for is made
// because the name may be free, so it stands for as many as there is room for.
func (q *Queue) use(w *Waiter) {
	if q.wakes == 0 {
		q.wakes = q.widest()
	}
	q.current = wakeUp{left: q.wakes - 1}
	if q.rules.PassOn {
		q.current.next = w.next
	}
	q.wakes = 0
}

// afterGrant goes on with the wake-up behind whoever was granted. If another
// came meanwhile, all begins with the head again.
func (q *Queue) afterGrant() {
	switch {
	case q.wakes > 0 || q.current.left == 0:
		q.current.next = nil
	case q.rules.PassOn && q.current.next == nil:
		return // the others were refused just before
	}
	q.wake(q.current.left)
}

// afterRefusal drops the wake-up: whoever stands behind is refused as well,
// unless it may want less.
func (q *Queue) afterRefusal() {
	if q.wakes > 0 {
		q.current.next = nil
	} else if q.current.next != nil {
		q.wake(q.current.left + 1)
	}
}

// behind notes that w came behind whoever tries.
func (q *Queue) behind(w *Waiter) {
	if q.rules.PassOn && q.leading != nil && q.current.next == nil {
		q.current.next = w
	}
}

// unqueue takes w, which waits in the queue, out of it.
func (q *Queue) unqueue(w *Waiter) {
	if q.current.next == w {
		q.current.next = w.next
	}
	q.waiting.remove(w)
}

// openGate ends all waits of the queue: the way is free.
func (q *Queue) openGate() {
	q.waiting.each(func(w *Waiter) bool {
		q.settle(w, Granted, nil)
		return true
	})
}
