//go:build !linux

// Busy is for Linux: elsewhere a program cannot say on which CPU it runs.
package main

func main() {}
