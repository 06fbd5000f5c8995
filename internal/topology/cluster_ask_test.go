package topology

import (
	"testing"
	"testing/synctest"
	"time"
)

// Each lost server is asked, and says nothing.
func TestServerThatWorksIsSoonFoundAmongManyThatAreLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		servers := make([]bool, 43)
		servers[42] = true
		err := askEach(t.Context(), servers, func(works bool, answers chan<- error) {
			if works {
				answers <- nil
			}
		}, func(error) bool { return false })
		if d := time.Since(began); err != nil || d > 6*hedgeAfter {
			t.Errorf("%v after %v", err, d)
		}
	})
}
