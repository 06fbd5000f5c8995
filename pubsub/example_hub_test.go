package pubsub_test

import (
	"context"
	"errors"
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
	var flags []*pubsub.Flag
	for range 3 {
		flag := pubsub.NewFlag()
		defer hub.Subscribe("shared", flag).Close()
		flags = append(flags, flag)
	}
	for _, flag := range flags {
		<-flag.C() // each is told that it is subscribed
	}
	publish("shared", "to all")
	for _, flag := range flags {
		<-flag.C()
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
	flag := pubsub.NewFlag()
	sub := hub.Subscribe("briefly", flag)
	<-flag.C()
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
		defer hub.Subscribe(channel, pubsub.NewFlag()).Close()
	}
	fmt.Println(hub.Channels())
	// Output:
	// 2
}

// Why nobody hears anything right now.
func ExampleHub_Err() {
	away := errors.New("on holiday")
	hub := pubsub.New(func(context.Context) (redis.Conn, error) { return nil, away }, pubsub.Options{})
	defer hub.Close()
	fmt.Println(hub.Err())

	defer hub.Subscribe("news", pubsub.NewFlag()).Close()
	for hub.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(errors.Is(hub.Err(), away))
	// Output:
	// <nil>
	// true
}

// When Close is back no Waker is called any more.
func ExampleHub_Close() {
	hub := pubsub.New(dial, pubsub.Options{})
	flag := pubsub.NewFlag()
	hub.Subscribe("news", flag)
	<-flag.C()
	fmt.Println(hub.Close(), hub.Channels())
	publish("news", "to nobody")
	fmt.Println(len(flag.C()))
	// Output:
	// <nil> 0
	// 0
}

// The address leads to another server, whose messages are to be heard from now
// on.
func ExampleHub_Redial() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	flag := pubsub.NewFlag()
	defer hub.Subscribe("moving", flag).Close()
	<-flag.C() // subscribed

	hub.Redial()
	<-flag.C() // subscribed there: look now
	publish("moving", "from the new one")
	<-flag.C()
	fmt.Println("woken")
	// Output:
	// woken
}
