package serve

import (
	"net/http"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/answer"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/repeat"
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

// answeredRun is what the report of a result says first, in the words of the form. id is what the
// result is called here.
func (s *Server) answeredRun(r *result.Result, id string) answered {
	command, _ := repeat.Run(r)
	shown := withSummary(report.RunAnswer(r), command) // which is for elsewhere
	shown.Answer = report.RunAnswerIn(r, setting.Label)
	shown.Next.Form = s.nextForm(r, id)
	return shown
}

// serveAnswer answers with what the report of a result says first.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if found := s.findResult(w, id); found != nil {
		answerJSON(w, http.StatusOK, s.answeredRun(found, id))
	}
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
