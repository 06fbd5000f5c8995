//go:build !unix

package redistest

import "errors"

func (p *process) pause() error { return errors.ErrUnsupported }

func (p *process) resume() error { return nil }
