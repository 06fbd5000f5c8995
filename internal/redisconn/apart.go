package redisconn

import "fmt"

// apart runs a caller's function on a goroutine of its own. A panic there, or the end of
// that goroutine, becomes an error, which says what it was.
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
