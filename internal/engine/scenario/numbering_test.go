package scenario

import "testing"

// Iterations of workers that have consecutive blocks have numbers that differ; those of the window
// are 1, 2, 3 and so on if their number is given.
func TestNumbering(t *testing.T) {
	for _, counted := range []bool{true, false} {
		seen, places := map[int64]bool{}, map[int64]bool{}
		first, user := int64(0), int64(0)
		for _, block := range []struct{ users, iterations int64 }{{1, 7}, {3, 1}, {1 << 21, 5}, {2, 0x100}} {
			s := Share{FirstUser: user, Users: block.users}
			if counted {
				s.FirstIteration, s.Iterations = first, block.iterations
			}
			n := NewNumbering(s)
			for i := range block.iterations + 5 {
				place, number := n.Next(i < 5)
				if seen[number] || number < 1 {
					t.Fatalf("counted %v: number %d again", counted, number)
				}
				seen[number] = true
				if counted && i >= 5 {
					if number != place+1 || places[place] || place >= 7+1+5+0x100 {
						t.Fatalf("place %d has number %d", place, number)
					}
					places[place] = true
				}
			}
			first, user = first+block.iterations, user+block.users
		}
	}
}
