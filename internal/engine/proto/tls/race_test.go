//go:build race

package tls

// racing: under the race detector sync.Pool forgets on purpose, and allocates.
const racing = true
