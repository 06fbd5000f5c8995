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
