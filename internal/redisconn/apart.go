package redisconn

import "fmt"

// apart runs a caller's function on a new goroutine and waits for it. If the function
// panics or ends its goroutine, apart returns an error that names it as what.
func apart(what string, f func() error) error {
	ended := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s ended its goroutine", what)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s panicked: %v", what, p)
			}
			ended <- err
		}()
		err = f()
	}()
	return <-ended
}
