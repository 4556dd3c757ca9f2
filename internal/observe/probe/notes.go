package probe

import "fmt"

// maxNotes is how many reasons are kept: beyond, they would only repeat themselves
// for more processes.
const maxNotes = 100

// notes are the reasons why numbers are absent, each once.
type notes struct {
	said map[string]bool
	all  []string
	more int
}

func newNotes() *notes { return &notes{said: map[string]bool{}} }

// addNote says that what is absent, and why.
func (n *notes) addNote(what string, why error) {
	switch {
	case n.said[what]:
	case len(n.said) == maxNotes:
		n.more++
	default:
		n.said[what] = true
		n.all = append(n.all, what+": "+why.Error())
	}
}

func (n *notes) sortedNotes() []string {
	if n.more > 0 {
		return append(n.all, fmt.Sprintf("and %d more absences", n.more))
	}
	return n.all
}
