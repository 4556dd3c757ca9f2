package main

import "testing"

// Of a percentile that only all trials together have, no more is said wrongly than the level
// allows, whatever makes requests slow, and a tail that differs is found.
func TestTailsWithinTheLevel(t *testing.T) {
	for _, s := range tailScenes {
		for _, rounds := range []int{6, 10} {
			if c := s.simulateTail(rounds, 75, few, 3); max(c.wrong, c.misses) > most {
				t.Errorf("%s, %d rounds: of %d, %d wrong, %d missed", s.name, rounds, few, c.wrong, c.misses)
			}
		}
	}
	c := tailScenes[0].simulateTail(10, 250, few, 3)
	if c.found < few*9/10 || c.missesOfLock > most {
		t.Errorf("a lock: found in %d of %d, its interval misses in %d", c.found, few, c.missesOfLock)
	}
}
