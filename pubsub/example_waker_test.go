package pubsub_test

import (
	"fmt"
	"sync/atomic"

	"github.com/rlock-go/redisson/pubsub"
)

// tap is a Waker that passes on what it hears. A Waker must not block, so its channel has room
// for all that the example sends.
type tap chan string

func (t tap) Confirmed()             { t <- "subscribed" }
func (t tap) Message(payload []byte) { t <- string(payload) } // a copy: payload is valid during the call only
func (t tap) Refused(err error)      { t <- err.Error() }

// flag is a Waker whose waiter waits in a select. However many wake-ups come while it does not
// look, it sees one.
type flag struct {
	c   chan struct{}
	err atomic.Pointer[error]
}

func newFlag() *flag { return &flag{c: make(chan struct{}, 1)} }

func (f *flag) C() <-chan struct{} { return f.c }

func (f *flag) Err() error {
	if p := f.err.Load(); p != nil {
		return *p
	}
	return nil
}

func (f *flag) Confirmed()     { f.raise() }
func (f *flag) Message([]byte) { f.raise() }

func (f *flag) Refused(err error) {
	f.err.Store(&err)
	f.raise()
}

func (f *flag) raise() {
	select {
	case f.c <- struct{}{}:
	default:
	}
}

// A Waker of one's own sees the messages.
func ExampleWaker() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	heard := make(tap, 10)
	defer hub.Subscribe("prices", heard).Close()

	fmt.Println(<-heard)
	publish("prices", "42")
	fmt.Println(<-heard)
	// Output:
	// subscribed
	// 42
}

// A Waker that keeps no message lets its waiter look beside other things.
func ExampleWaker_select() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	waiter, quit := newFlag(), make(chan struct{})
	defer hub.Subscribe("work", waiter).Close()
	for {
		select {
		case <-waiter.C():
			fmt.Println("looks for work")
			close(quit)
		case <-quit:
			fmt.Println("goes home")
			return
		}
	}
	// Output:
	// looks for work
	// goes home
}
