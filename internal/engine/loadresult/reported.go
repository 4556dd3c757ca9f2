package loadresult

import (
	"slices"
	"strings"
)

// ReportedKinds is how many kinds of failures a process reports to another; detailMax is how many
// bytes of each detail, and detailsMax how many of all.
const (
	ReportedKinds = 1 << 10
	detailMax     = 2 << 10
	detailsMax    = 128 << 10
)

// Reported returns failures within the limits of what a process reports to another.
func Reported(all []Failure) []Failure {
	all = slices.Clone(Fewer(all, ReportedKinds))
	for i := range all {
		d := all[i].Detail
		all[i].Detail = strings.ToValidUTF8(d[:min(len(d), detailMax, detailsMax/len(all))], "")
	}
	return all
}
