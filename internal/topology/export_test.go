package topology

import "time"

// OnlyLookWhenTold has the Sentinels asked for no reason but their own. It is
// called before the first use.
func (t *Sentinel) OnlyLookWhenTold() { t.lookAtLeast = 24 * time.Hour }
