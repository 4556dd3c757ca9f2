//go:build !linux

package server

// Give does nothing where processes cannot be started as another user.
func (d *RunDir) Give(string) error { return nil }
