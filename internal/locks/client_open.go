package locks

import "sync"

// openClients are the states of this process that are not closed, by their ids.
var openClients sync.Map

// TakenAway ends the holds that this process's clients have of a name on one server. It is for tests with a
// server that takes a lock away and tells nobody.
func TakenAway(server, from string) {
	openClients.Range(func(_, client any) bool {
		if c := client.(*Client); c.top.String() == server {
			c.eachName(func(n *nameState) {
				for _, st := range n.ownerStates() {
					if n.lock.name == from {
						st.lose(nil, errForced)
					}
				}
			})
		}
		return true
	})
}

// UnderWay tells how many timers are set or running, and how many commands that change
// something are under way, without those of Unlock and UnlockAs.
func (c *Client) UnderWay() (timers, commands int) {
	return c.timers.Live(), int(c.work.Count() + c.leaving.Count())
}
