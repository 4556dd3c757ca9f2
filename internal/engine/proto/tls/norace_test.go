//go:build !race

package tls

const racing = false
