package serve

import (
	"net/http"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/answer"
	"dyno/internal/view/document"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/repeat"
	"dyno/internal/view/report"
)

// An answered is what a card says of a result, an experiment or a comparison: the beginning of its
// report.
type answered struct {
	answer.Answer
	Summary string         `json:"summary"` // Markdown, to paste
	Card    []document.Row `json:"card"`    // three lines of it
	More    []document.Row `json:"more"`    // below them
}

// withSummary is an answer with its summary; command repeats what it is of.
func withSummary(a answer.Answer, command string) answered {
	return cardOf(a, a.Markdown(command, answer.Limits{}))
}

func cardOf(a answer.Answer, summary string) answered {
	lines, more := a.Card()
	return answered{a.OnPage(), summary, lines, more}
}

// answeredRun is what the report of a result says first, in the words of the form. id is what the
// result is called here.
func (s *Server) answeredRun(r *result.Result, id string) answered {
	command, _ := repeat.Run(r)
	summary := report.RunAnswer(r).Markdown(command, answer.Limits{}) // which is for elsewhere
	shown := cardOf(report.RunAnswerIn(r, setting.Label), summary)
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
