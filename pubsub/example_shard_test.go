package pubsub_test

import (
	"fmt"

	"github.com/rlock-go/redisson/pubsub"
)

// A sharded channel hears SPUBLISH. The plain one of the same name is another, on
// the same connection.
func ExampleHub_SubscribeSharded() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	sharded, plain := newFlag(), newFlag()
	defer hub.SubscribeSharded("orders", sharded).Close()
	defer hub.Subscribe("orders", plain).Close()
	<-sharded.C()
	<-plain.C()
	fmt.Println(publisher().Do("SPUBLISH", "orders", "to one of them"))
	<-sharded.C()
	fmt.Println("channels:", hub.Channels())
	// Output:
	// 1 <nil>
	// channels: 2
}
