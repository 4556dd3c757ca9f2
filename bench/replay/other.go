//go:build !linux

// Replay runs on Linux only, whose kernel notes when it received what.
package main

func main() {}
