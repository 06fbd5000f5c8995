package simulation

// judgeToken judges that the tokens of a fenced lock rise: a hold's is higher than all that were
// seen before its call began.
func (p *play) judgeToken(c *call, h *hold) {
	o := h.o
	switch {
	case o.Kind != Fenced || h.life == nil || h.void != "" || o.lost.After(c.began): // the grant may be a former master's
		return
	case h.token < 1:
		p.violate("token: %s has none of %s", h.who, o.Name)
	case h.token <= c.token:
		p.violate("token: %s got %d of %s, and %d had been seen before its call", h.who, h.token, o.Name, c.token)
	}
	o.token = max(o.token, h.token)
}
