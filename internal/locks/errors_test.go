package locks

import (
	"errors"
	"testing"

	"github.com/rlock-go/redisson/internal/command"
)

// What some replicas have but not all, is unreplicated where all must have it.
func TestUnreplicatedSaysHowManyReplicasHaveIt(t *testing.T) {
	r := new(command.Request)
	r.Wire.Acked, r.Wire.Replicas = 1, 2
	const want = "only 1 of 2 replicas acknowledged it; all must, because no lease would correct the count"
	if err := unreplicated(r); !errors.Is(err, ErrUnreplicated) || err.Error() != want {
		t.Errorf("\n%v, want\n%s", err, want)
	}
}
