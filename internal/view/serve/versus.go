package serve

import (
	"context"
	"net/http"
	"strings"

	"dyno/internal/engine/loadplan"
)

// A browser may compare servers that run already, as dyno vs URL URL does. It names them by URL, so
// nothing is executed for it. Where the load may go is what the policy says of any load.

// serveVersusForm answers with the fields of the form.
func (s *Server) serveVersusForm(w http.ResponseWriter, r *http.Request) {
	fields := s.VersusForm
	if s.Versus == nil {
		fields = nil
	}
	answerJSON(w, http.StatusOK, struct {
		Fields []Field `json:"fields"`
	}{fields})
}

// beginVersus begins an experiment that compares the servers of a form.
func (s *Server) beginVersus(w http.ResponseWriter, r *http.Request) {
	if s.Versus == nil {
		answerError(w, http.StatusNotFound, "this dashboard begins no experiments; dyno serve does")
		return
	}
	form, err := readForm(r)
	if answeredTooLarge(w, err) {
		return
	}
	if err != nil {
		answerJSON(w, http.StatusUnprocessableEntity, formFaults{[]Fault{{Problem: err.Error()}}})
		return
	}
	next, faults := s.Versus(form)
	for _, t := range next.Targets {
		faults = append(faults, errorList(s.Targets.checkServer(r.Context(), t))...)
	}
	if len(faults) > 0 {
		answerJSON(w, http.StatusUnprocessableEntity, formFaults{faultsOf(faults, form)})
		return
	}
	s.answerBegun(w, r, next)
}

// checkServer reports why an experiment must not load a server. An experiment looks up its names
// itself, more than once. So a name counts only if it is allowed as a name: what it means now may
// be allowed, and a moment later not. localhost is this machine on any system.
func (p Policy) checkServer(ctx context.Context, t loadplan.Target) error {
	found, err := p.checkTarget(ctx, t)
	if err != nil || len(found) == 0 || t.Host == found[0].String() {
		return err
	}
	name := strings.TrimSuffix(strings.ToLower(t.Host), ".")
	if name == "localhost" || p.allowsAny(func(a pattern) bool { return matchesGlob(a.host, name) }) {
		return nil
	}
	return loadplan.Flaw{Setting: "URL", Problem: t.Host + ": an experiment looks a name up again " +
		"before each trial, and it may mean another machine then; write the address " +
		found[0].String() + ", or start the dashboard with --allow-target " + t.Host}
}
