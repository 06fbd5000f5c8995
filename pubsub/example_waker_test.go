package pubsub_test

import (
	"errors"
	"fmt"

	"github.com/rlock-go/redisson/pubsub"
)

// tap is a Waker that hands on what it hears. Its channel is large enough for
// what the example sends: a Waker must not block.
type tap chan string

func (t tap) Confirmed()             { t <- "subscribed" }
func (t tap) Message(payload []byte) { t <- string(payload) } // a copy: payload is lent
func (t tap) Refused(err error)      { t <- err.Error() }

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

// However often it is put up, a flag is seen once.
func ExampleNewFlag() {
	flag := pubsub.NewFlag()
	for range 3 {
		flag.Message(nil)
	}
	<-flag.C()
	fmt.Println("down:", len(flag.C()) == 0)
	// Output:
	// down: true
}

// A flag waits beside other things in a select.
func ExampleFlag_C() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	flag, quit := pubsub.NewFlag(), make(chan struct{})
	defer hub.Subscribe("work", flag).Close()
	for {
		select {
		case <-flag.C():
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

// A refusal puts the flag up too, so Err is asked after each wake-up.
func ExampleFlag_Err() {
	flag := pubsub.NewFlag()
	flag.Refused(errors.New("NOPERM no access to that channel"))
	<-flag.C()
	fmt.Println(flag.Err())
	// Output:
	// NOPERM no access to that channel
}

// The hub calls the three methods; a test may do so in its place.
func ExampleFlag_Confirmed() {
	flag := pubsub.NewFlag()
	flag.Confirmed()
	<-flag.C()
	fmt.Println("time to look")
	// Output:
	// time to look
}

// The payload is not kept: a flag says only that there is something to see.
func ExampleFlag_Message() {
	flag := pubsub.NewFlag()
	flag.Message([]byte("0"))
	<-flag.C()
	fmt.Println("time to look")
	// Output:
	// time to look
}

// The last call that a Waker gets.
func ExampleFlag_Refused() {
	flag := pubsub.NewFlag()
	flag.Refused(errors.New("WRONGPASS"))
	fmt.Println(flag.Err())
	// Output:
	// WRONGPASS
}
