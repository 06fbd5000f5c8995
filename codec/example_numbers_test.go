package codec_test

import (
	"fmt"

	"github.com/rlock-go/redisson/codec"
)

// The channel on which an open latch is announced. Braces are added whatever the key is.
func ExampleCountDownChannel() {
	fmt.Println(codec.CountDownChannel("ready"))
	// Output:
	// redisson_countdownlatch__channel__{ready}
}

// The reply of GET for a semaphore's key.
func ExampleDecodeNumber() {
	free, err := codec.DecodeNumber([]byte("-2"))
	fmt.Println(free, err)
	// Output:
	// -2 <nil>
}
