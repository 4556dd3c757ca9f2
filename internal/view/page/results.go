package page

import (
	"fmt"
	"io"

	"dyno/internal/capacity"
	"dyno/internal/result"
	"dyno/internal/view/chart"
	"dyno/internal/view/payload"
)

// Run writes what a run measured as one HTML file.
func Run(w io.Writer, r *result.Result) error { return WriteRun(w, payload.OfRun(r)) }

// WriteRun is Run of a payload, whose answer may be in the words of where it is shown.
func WriteRun(w io.Writer, p payload.Run) error {
	views := chart.Run(p)
	return document{p.Title(), p.Answer.Sentence, struct {
		payload.Run
		Figures chart.Set `json:"figures"`
	}{p, views}, views}.writeHTML(w)
}

// Search writes what a search for a rate found as one HTML file.
func Search(w io.Writer, s *capacity.Search) error { return writeCapacity(w, payload.OfSearch(s)) }

// Curve writes a sweep as one HTML file.
func Curve(w io.Writer, c *capacity.Curve) error { return writeCapacity(w, payload.OfCurve(c)) }

func writeCapacity(w io.Writer, p payload.Capacity) error {
	views := chart.Capacity(p)
	return document{"Capacity of " + p.Words.What, p.Words.Verdict, struct {
		payload.Capacity
		Figures chart.Set `json:"figures"`
	}{p, views}, views}.writeHTML(w)
}

// Experiment writes the page of the experiment whose folder is dir, with what earlier runs found
// whose folders lie in history ("": nowhere).
func Experiment(w io.Writer, dir, history string) error {
	p, err := payload.OfExperiment(dir, history)
	if err != nil {
		return fmt.Errorf("making the page of an experiment: %w", err)
	}
	views := chart.Experiment(p)
	return document{p.Words.Title, p.Answer.Sentence, struct {
		*payload.Experiment
		Figures chart.Set `json:"figures"`
	}{p, views}, views}.writeHTML(w)
}
