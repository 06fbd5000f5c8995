package hostile

import "testing"

func TestAnHonestServerServesTheSession(t *testing.T) {
	s := serve(t, func(*peer, []string) bool { return false })
	for call, err := range live(t, s.addr) {
		if (err != nil) != (call == "TryLockFor of a taken one" || call == "Lock of a taken one") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestEveryCallEndsWithAnErrorWhateverTheServerDoes(t *testing.T) {
	for _, p := range places {
		t.Run(p.where, func(t *testing.T) {
			t.Parallel()
			for _, m := range misdeeds {
				t.Run(m.what, func(t *testing.T) {
					t.Parallel()
					misbehaves(t, p, m, p.fails(m))
				})
			}
		})
	}
}

// misbehaves leads a client to the place, lets the server misbehave there and checks the calls' errors.
func misbehaves(t *testing.T, at place, m misdeed, fails bool) {
	s := serve(t, func(p *peer, cmd []string) bool {
		if !at.at(cmd) {
			return false
		}
		p.s.hits.Add(1)
		m.do(p, m.text)
		return true
	})
	// If the machine stalls, an earlier call may time out; then the client never sends the command, and another one tries.
	var errs map[string]error
	for tries := 1; ; tries++ {
		errs = live(t, s.addr)
		err, called := errs[at.victim]
		if s.hits.Load() > 0 && (called || at.victim == "") {
			if fails && err == nil {
				t.Errorf("%s succeeded: %v", at.victim, errs)
			}
			break
		}
		if tries == 100 {
			t.Fatalf("of %d clients none came to the place: %v", tries, errs)
		}
	}
	if err := errs["Close"]; err != nil {
		t.Error(err)
	}
	for call, err := range errs {
		if err != nil && len(err.Error()) > 2<<16 {
			t.Errorf("%s: an error of %d bytes", call, len(err.Error()))
		}
	}
	if m.sort == wrong {
		return // the client cannot know that the server lies about the lock
	}
	for _, call := range []string{"TryLockFor of a taken one", "Lock of a taken one"} {
		if err, called := errs[call]; called && err == nil {
			t.Errorf("%s: got it", call)
		}
	}
}
