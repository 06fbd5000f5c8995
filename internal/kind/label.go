package kind

// Label names a kind for whoever counts.
type Label uint8

// All of them.
const (
	PlainLabel        Label = iota // Reentrant
	FairLabel                      // Fair
	FencedLabel                    // Fenced
	SpinLabel                      // Spin
	NonReentrantLabel              // NonReentrant
	ReadLabel                      // ReadLock
	WriteLabel                     // WriteLock
	SemaphoreLabel                 // Semaphore
	PermitsLabel                   // Permits
	LatchLabel                     // CountDownLatch
	Labels                         // how many there are
)

var labels = [Labels]string{"lock", "fair", "fenced", "spin", "nonreentrant", "read", "write", "semaphore", "permits", "latch"}

// String is the word for it.
func (l Label) String() string { return labels[l] }

// labelled are the traits of a kind that differs from another by its name.
func labelled(t Traits, l Label) Traits {
	t.Label = l
	return t
}
