//go:build !linux

package server

import (
	"testing"
	"time"
)

// nothingLeft cannot look into processes here.
func nothingLeft(*testing.T, string, time.Duration) {}
