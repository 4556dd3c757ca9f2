package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
)

// An Offer is an experiment that the page may begin. An experiment is commands that are run,
// so a browser says which one, and whether quickly, and nothing else of it: no path, no text. What
// runs no commands is in versus.go.
type Offer struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`               // its own; of a file that is none, the file's
	From     string   `json:"from"`               // where it is, in words
	Plan     string   `json:"plan,omitempty"`     // what it would do
	Quick    string   `json:"quick,omitempty"`    // what it would do quickly
	Problems []string `json:"problems,omitempty"` // why it cannot be begun
}

// A Conducting is an experiment that is to begin, in another process.
type Conducting struct {
	Name string
	Dir  string                      // its folder; before a new one begins it is not there
	Run  func(context.Context) error // until its end; the error is what it ended with, if badly

	Targets []loadplan.Target // that a browser's form names, to be judged before it begins
}

// A begunLab experiment is one that this dashboard began.
type begunLab struct {
	ended   chan struct{} // closed at the end
	problem string        // that it ended with
	stopped bool          // that is that it was stopped, and can go on
}

// A Stopped is the error of an experiment that was stopped, and can go on.
type Stopped struct{ Err error }

// Error is how it can go on.
func (s Stopped) Error() string { return s.Err.Error() }

// isRunning reports whether it goes on; of none that was begun here it does not.
func (c *begunLab) isRunning() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// serveOffers answers with the experiments that may be begun.
func (s *Server) serveOffers(w http.ResponseWriter, r *http.Request) {
	all := []Offer{}
	if s.Conduct != nil {
		all = s.Offers()
	}
	answerJSON(w, http.StatusOK, all)
}

// A labRequest is what a browser says of an experiment that it wants begun.
type labRequest struct {
	Experiment string `json:"experiment"` // the ID of an Offer
	Quick      bool   `json:"quick"`
}

// beginLab begins an experiment, and answers when it can be watched.
func (s *Server) beginLab(w http.ResponseWriter, r *http.Request) {
	var o labRequest
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(&o); answeredTooLarge(w, err) {
		return
	} else if err != nil {
		answerJSON(w, http.StatusUnprocessableEntity, formFaults{[]Fault{{Problem: err.Error()}}})
		return
	}
	offered := func(one Offer) bool { return one.ID == o.Experiment }
	if s.Conduct == nil || !slices.ContainsFunc(s.Offers(), offered) {
		answerError(w, http.StatusNotFound, fmt.Sprintf("no experiment %q may be begun here",
			o.Experiment))
		return
	}
	next, faults := s.Conduct(o.Experiment, o.Quick)
	if len(faults) > 0 {
		answerJSON(w, http.StatusUnprocessableEntity, formFaults{faultsOf(faults, nil)})
		return
	}
	s.answerBegun(w, r, next)
}

// answerBegun begins an experiment, and answers with its ID when it can be watched.
func (s *Server) answerBegun(w http.ResponseWriter, r *http.Request, next Conducting) {
	begun, err := s.startConducted(next)
	if err != nil {
		answerError(w, http.StatusConflict, err.Error())
		return
	}
	if !s.waitForFolder(r.Context(), next.Dir, begun) {
		if begun.isRunning() { // but nobody waits for the answer
			return
		}
		answerJSON(w, http.StatusUnprocessableEntity, formFaults{[]Fault{{Problem: begun.problem}}})
		return
	}
	id, err := s.labs.folderID(next.Dir)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	answerJSON(w, http.StatusCreated, struct {
		ID string `json:"id"`
	}{id})
}

// startConducted begins an experiment, unless something runs.
func (s *Server) startConducted(next Conducting) (*begunLab, error) {
	ctx, stop := context.WithCancel(context.Background())
	l := &s.loads
	l.mu.Lock()
	err := l.claim("the experiment "+next.Name, next.Dir, stop)
	l.mu.Unlock()
	if err != nil {
		stop()
		return nil, err
	}
	begun := &begunLab{ended: make(chan struct{})}
	s.labs.addBegun(next.Dir, begun)
	go func() {
		defer stop()
		if err := next.Run(ctx); err != nil {
			begun.problem = err.Error()
			_, begun.stopped = errors.AsType[Stopped](err)
		}
		l.mu.Lock()
		l.release()
		l.mu.Unlock()
		close(begun.ended) // last: who learns of it may begin the next at once
	}()
	return begun, nil
}

// folderPoll is between two looks for a folder that is about to be there.
const folderPoll = 20 * time.Millisecond

// waitForFolder waits until the folder of an experiment is there; false if there will be none, or
// nobody waits any more.
func (s *Server) waitForFolder(ctx context.Context, dir string, begun *begunLab) bool {
	tick := time.NewTicker(folderPoll)
	defer tick.Stop()
	for !lab.IsExperiment(dir) {
		select {
		case <-tick.C:
		case <-begun.ended:
			return lab.IsExperiment(dir)
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// resumeLab has an experiment go on that this dashboard began, so that it executes and loads what
// was allowed then. A folder that a terminal began, or that was imported, could have any command.
func (s *Server) resumeLab(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.labs.findFolder(w, r.PathValue("id"))
	if !ok {
		return
	}
	h, err := lab.ReadHeading(dir)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	if !s.labs.mayResume(dir, h.State) {
		answerError(w, http.StatusConflict, "only an experiment that this dashboard began, and that "+
			"was stopped, can go on from here; dyno lab run --resume does it for others")
		return
	}
	if _, err := s.startConducted(s.Resume(dir)); err != nil {
		answerError(w, http.StatusConflict, err.Error())
		return
	}
	answerJSON(w, http.StatusAccepted, struct{}{})
}

// stopLab stops an experiment that was begun here.
func (s *Server) stopLab(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.labs.findFolder(w, r.PathValue("id"))
	if !ok {
		return
	}
	if !s.loads.stopRunning(dir) {
		answerError(w, http.StatusConflict, "it has ended, or was not begun here: then Ctrl-C where "+
			"it was begun stops it")
		return
	}
	answerJSON(w, http.StatusAccepted, struct{}{})
}
