package behaviour_test

import (
	"errors"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// isServerError checks that the server's own words can be taken out of an error.
func isServerError(t testing.TB, err error) redis.Error {
	t.Helper()
	var words redis.Error
	if !errors.As(err, &words) {
		t.Errorf("no redis.Error in %v", err)
	}
	return words
}
