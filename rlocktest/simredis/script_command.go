package simredis

import "strings"

func init() {
	register(map[string]command{
		"EVAL": {2, 0, noKeys, nil, func(c *client, a []string) any {
			return c.script(a, func() (string, any) {
				id, err := load(a[0])
				if err != nil {
					return "", Error("ERR Error compiling script (new function): " + strings.ReplaceAll(err.Error(), "\n", " "))
				}
				c.s.loaded[id] = true
				return id, nil
			})
		}},
		"EVALSHA": {2, 0, noKeys, nil, func(c *client, a []string) any {
			return c.script(a, func() (string, any) {
				id := strings.ToLower(a[0])
				if !c.s.loaded[id] {
					return "", errNoScript
				}
				return id, nil
			})
		}},
		"SCRIPT|LOAD": {1, 1, noKeys, nil, func(c *client, a []string) any {
			id, err := load(a[0])
			if err != nil {
				return Error("ERR Error compiling script (new function): " + strings.ReplaceAll(err.Error(), "\n", " "))
			}
			c.s.loaded[id] = true
			return id
		}},
		"SCRIPT|EXISTS": {1, 0, noKeys, nil, func(c *client, a []string) any {
			all := []any{}
			for _, id := range a {
				all = append(all, bit(c.s.loaded[strings.ToLower(id)]))
			}
			return all
		}},
		"SCRIPT|FLUSH": {0, 1, noKeys, nil, func(c *client, _ []string) any {
			c.s.ForgetScripts()
			return Status("OK")
		}},
		"SCRIPT|KILL": {0, 0, noKeys | busy, nil, func(c *client, _ []string) any {
			if !c.s.Busy {
				return Error("NOTBUSY No scripts in execution right now.")
			}
			c.s.Busy = false
			return Status("OK")
		}},
	})
}

// script runs what EVAL or EVALSHA names.
func (c *client) script(a []string, loaded func() (string, any)) any {
	n, ok := integer(a[1])
	switch {
	case !ok:
		return errInt
	case n > int64(len(a)-2):
		return Error("ERR Number of keys can't be greater than number of args")
	case n < 0:
		return Error("ERR Number of keys can't be negative")
	}
	id, err := loaded()
	if err != nil {
		return err
	}
	return c.s.eval(id, a[2:2+n], a[2+n:])
}
