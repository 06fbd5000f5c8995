package pubsub

// signal wakes the one goroutine that receives from c, now or when it next
// receives.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
