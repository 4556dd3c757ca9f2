// Package failure names what goes wrong with connections and requests, and counts it. Workers call
// it only when something has failed.
//
//	counts.go         how often each kind failed, at each address
//	errno_unix.go     words for errors of the system; errno_windows.go
//	failure.go        which failures are counted as the same
//	health.go         what failed in an interval, and how busy its worker was
//	words.go          words for an error, and what a user can do about it
package failure

import (
	"fmt"

	"dyno/internal/engine/loadresult"
)

// A Kind is what failures, and samples of them, are counted by.
type Kind struct {
	Phase  loadresult.Phase
	Name   string // such as "refused"; of Check: the name of the check
	Status uint16 // of Expect: answers of different status are counted apart
}

// OfStatus is the kind of an answer that is an error by its status, which is its Detail.
func OfStatus(status uint16) Kind {
	return Kind{Phase: loadresult.Expect, Name: "status", Status: status}
}

// OfCheck is the kind of an answer that did not pass the check of that name.
func OfCheck(name string) Kind { return Kind{Phase: loadresult.Check, Name: name} }

// OfStream is the kind of a stream of events that is an error, because of a stream.Broken.
func OfStream(reason error) Kind { return Kind{Phase: loadresult.Stream, Name: NameOf(reason)} }

// Of is the kind of a failure of a connection, or of a request without a complete answer.
func Of(phase loadresult.Phase, err error) Kind { return Kind{Phase: phase, Name: NameOf(err)} }

// AnswerDetail is the Detail of a complete answer of that status that is an error.
func (k Kind) AnswerDetail(status uint16) string {
	if k.Phase == loadresult.Check {
		return fmt.Sprintf("the answer, of status %03d, did not pass the check", status)
	}
	return fmt.Sprintf("%03d", k.Status)
}
