package serve

import (
	"net/http"

	"dyno/internal/lab/judge"
	"dyno/internal/view/answer"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/report"
)

// An answered is what a card says of a result, an experiment or a comparison: the beginning of its
// report.
type answered struct {
	answer.Answer
	Summary string `json:"summary"` // Markdown, to paste
}

// withSummary is an answer with its summary; command repeats what it is of.
func withSummary(a answer.Answer, command string) answered {
	return answered{a, a.Markdown(command, answer.Limits{})}
}

// serveAnswer answers with what the report of a result says first.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request) {
	found := s.findResult(w, r.PathValue("id"))
	if found == nil {
		return
	}
	a := report.RunAnswer(found)
	answerJSON(w, http.StatusOK, withSummary(a, report.RunSentences(found).Command))
}

// serveLabAnswer answers with what the report of an experiment says first, so far.
func (s *Server) serveLabAnswer(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.labs.findFolder(w, r.PathValue("id"))
	if !ok {
		return
	}
	record, err := judge.Open(dir)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	a := labanswer.Of(record)
	answerJSON(w, http.StatusOK, withSummary(a, labreport.ExperimentWordsOf(record).Command))
}
