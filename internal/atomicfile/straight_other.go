//go:build !unix

package atomicfile

// plantedFlag is none: this system has no folder in which everybody makes links.
func plantedFlag(string) int { return 0 }

func isPlanted(error) bool { return false }
