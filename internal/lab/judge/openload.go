package judge

import "dyno/internal/result"

// IsOpen reports whether all runs that are compared had an open load.
func (u *Unpaired) IsOpen() bool {
	runs := 0
	for _, g := range u.Groups {
		for _, r := range g.Results() {
			if runs++; r.Model != result.OpenLoop {
				return false
			}
		}
	}
	return runs > 0
}
