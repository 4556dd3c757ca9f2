package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"dyno/internal/lab"
)

// An Offer is an experiment that the page may begin. An experiment is commands that are run,
// so a browser says which one, and whether quickly, and nothing else of it: no path, no text.
type Offer struct {
	ID       string   `json:"id"`
	From     string   `json:"from"`               // where it is, in words
	Plan     string   `json:"plan,omitempty"`     // what it would do
	Quick    string   `json:"quick,omitempty"`    // what it would do quickly
	Problems []string `json:"problems,omitempty"` // why it cannot be begun
}

// A Conducting is an experiment that is to begin, in another process.
type Conducting struct {
	Name string
	Dir  string                      // its folder, which is not there yet
	Run  func(context.Context) error // until its end; the error is what it ended with, if badly
}

// A conducted experiment is one that this dashboard began.
type conducted struct {
	ended   chan struct{} // closed at the end
	problem string        // that it ended with
}

// running reports whether it goes on; of none that was begun here it does not.
func (c *conducted) running() bool {
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

// offers are the experiments that may be begun.
func (s *Server) offers(w http.ResponseWriter, r *http.Request) {
	all := []Offer{}
	if s.Conduct != nil {
		all = s.Offers()
	}
	answer(w, http.StatusOK, all)
}

// An order is what a browser says of an experiment that it wants begun.
type order struct {
	Experiment string `json:"experiment"` // the ID of an Offer
	Quick      bool   `json:"quick"`
}

// beginLab begins an experiment, and answers when it can be watched.
func (s *Server) beginLab(w http.ResponseWriter, r *http.Request) {
	var o order
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(&o); tooLarge(w, err) {
		return
	} else if err != nil {
		answer(w, http.StatusUnprocessableEntity, faulty{[]Fault{{Problem: err.Error()}}})
		return
	}
	offered := func(one Offer) bool { return one.ID == o.Experiment }
	if s.Conduct == nil || !slices.ContainsFunc(s.Offers(), offered) {
		refuse(w, http.StatusNotFound, fmt.Sprintf("no experiment %q may be begun here", o.Experiment))
		return
	}
	next, faults := s.Conduct(o.Experiment, o.Quick)
	if len(faults) > 0 {
		answer(w, http.StatusUnprocessableEntity, faulty{faultsOf(faults, nil)})
		return
	}
	begun, err := s.conduct(next)
	if err != nil {
		refuse(w, http.StatusConflict, err.Error())
		return
	}
	if !s.appears(r.Context(), next.Dir, begun) {
		if begun.running() { // but nobody waits for the answer
			return
		}
		answer(w, http.StatusUnprocessableEntity, faulty{[]Fault{{Problem: begun.problem}}})
		return
	}
	id, err := s.labs.id(next.Dir)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, http.StatusCreated, struct {
		ID string `json:"id"`
	}{id})
}

// conduct begins an experiment, unless something runs.
func (s *Server) conduct(next Conducting) (*conducted, error) {
	ctx, stop := context.WithCancel(context.Background())
	l := &s.loads
	l.mu.Lock()
	err := l.take("the experiment "+next.Name, next.Dir, stop)
	l.mu.Unlock()
	if err != nil {
		stop()
		return nil, err
	}
	begun := &conducted{ended: make(chan struct{})}
	s.labs.own(next.Dir, begun)
	go func() {
		defer stop()
		if err := next.Run(ctx); err != nil {
			begun.problem = err.Error()
		}
		close(begun.ended)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leave()
	}()
	return begun, nil
}

// appearing is between two looks for a folder that is about to be there.
const appearing = 20 * time.Millisecond

// appears waits until the folder of an experiment is there; false if there will be none, or
// nobody waits any more.
func (s *Server) appears(ctx context.Context, dir string, begun *conducted) bool {
	tick := time.NewTicker(appearing)
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

// stopLab stops an experiment that was begun here.
func (s *Server) stopLab(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.labs.find(w, r.PathValue("id"))
	if !ok {
		return
	}
	if !s.loads.halt(dir) {
		refuse(w, http.StatusConflict, "it has ended, or was not begun here: then Ctrl-C where it was "+
			"begun stops it")
		return
	}
	answer(w, http.StatusAccepted, struct{}{})
}
