package pubsub_test

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/pubsub"
)

// Any number of waiters share one connection, and those of one channel one
// subscription.
func ExampleHub_Subscribe() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	var flags []*flag
	for range 3 {
		waiter := newFlag()
		defer hub.Subscribe("shared", waiter).Close()
		flags = append(flags, waiter)
	}
	for _, waiter := range flags {
		<-waiter.C() // each is told that it is subscribed
	}
	publish("shared", "to all")
	for _, waiter := range flags {
		<-waiter.C()
	}
	fmt.Println("all were woken, channels:", hub.Channels())
	// Output:
	// all were woken, channels: 1
}

// A waiter that leaves takes its share along; the last one ends the
// subscription.
func ExampleSubscription_Close() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	waiter := newFlag()
	sub := hub.Subscribe("briefly", waiter)
	<-waiter.C()
	sub.Close()

	for hub.Channels() > 0 { // until the server has answered
		time.Sleep(time.Millisecond)
	}
	fmt.Println(redis.Strings(publisher().Do("PUBSUB", "CHANNELS", "briefly")))
	// Output:
	// [] <nil>
}

// Channels is for those who watch over the hub.
func ExampleHub_Channels() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	for _, channel := range []string{"a", "b", "b"} {
		defer hub.Subscribe(channel, newFlag()).Close()
	}
	fmt.Println(hub.Channels())
	// Output:
	// 2
}

// When Close is back no Waker is called any more.
func ExampleHub_Close() {
	hub := pubsub.New(dial, pubsub.Options{})
	waiter := newFlag()
	hub.Subscribe("news", waiter)
	<-waiter.C()
	fmt.Println(hub.Close(), hub.Channels())
	publish("news", "to nobody")
	fmt.Println(len(waiter.C()))
	// Output:
	// <nil> 0
	// 0
}

// The address leads to another server, whose messages are to be heard from now
// on.
func ExampleHub_Redial() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	waiter := newFlag()
	defer hub.Subscribe("moving", waiter).Close()
	<-waiter.C() // subscribed

	hub.Redial()
	<-waiter.C() // subscribed there: look now
	publish("moving", "from the new one")
	<-waiter.C()
	fmt.Println("woken")
	// Output:
	// woken
}
