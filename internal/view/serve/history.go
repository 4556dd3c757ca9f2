package serve

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/store"
	"dyno/internal/view/chart"
	"dyno/internal/view/historytext"
	"dyno/internal/view/payload"
	"dyno/internal/view/report"
)

// A past is the history as a browser draws it.
type past struct {
	Metric   string       `json:"metric"`
	Measures []measure    `json:"measures"` // that can be chosen
	Machine  string       `json:"machine"`  // its fingerprint, or allMachines
	Machines []machine    `json:"machines"`
	Series   []series     `json:"series"` // that with the newest result first
	Labs     []experiment `json:"experiments"`
	Problems []string     `json:"problems"` // files that cannot be read, changes that are not kept
}

type measure struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better int    `json:"better"` // 1: more is; -1: less is
}

// A machine is one that results were measured on.
type machine struct {
	ID      string `json:"id"`
	Words   string `json:"words"`
	Results int    `json:"results"`
	This    bool   `json:"this,omitempty"` // the dashboard runs on it
}

// A series is the results of one configuration on one machine.
type series struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	URL     string         `json:"url"`
	Load    string         `json:"load"`
	Machine string         `json:"machine"`
	Runs    []run          `json:"runs"` // oldest first; those that have the measure
	Changes []payload.Turn `json:"changes"`
	Figures chart.Set      `json:"figures"`
}

type run struct {
	store.Run
	Verdict string `json:"verdict"`
	Note    string `json:"note,omitempty"`
}

// An experiment is the runs of one name on one machine, of which the newest has the past.
type experiment struct {
	Name    string   `json:"name"`
	Quick   bool     `json:"quick,omitempty"`
	Machine string   `json:"machine"`
	Runs    []labRun `json:"runs"` // newest first
}

type labRun struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	State     lab.State `json:"state"`
	Trials    int       `json:"trials"`
	Different int       `json:"different"` // of the Compared
	Compared  int       `json:"compared"`
	Gate      string    `json:"gate,omitempty"`
	Dyno      string    `json:"dyno"`
}

const allMachines = "all"

// serveHistory answers with what is stored, as series by one measure.
func (s *Server) serveHistory(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	q := store.Query{Metric: lab.Measures[0], Machine: store.MachineOf(result.ThisHost())}
	if name := asked.Get("metric"); name != "" {
		i := slices.IndexFunc(lab.Measures, func(m lab.Measure) bool { return m.Name == name })
		if i < 0 {
			answerError(w, http.StatusUnprocessableEntity, fmt.Sprintf("%q is no measure", name))
			return
		}
		q.Metric = lab.Measures[i]
	}
	here := q.Machine
	if of := asked.Get("machine"); of == allMachines {
		q.Machine = ""
	} else if of != "" {
		q.Machine = of
	}
	index, err := store.Open(s.Home)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	h, err := index.History(q)
	entries, err2 := index.Entries()
	if err := errors.Join(err, err2, index.Close()); err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	p := past{Metric: q.Metric.Name, Machine: q.Machine, Machines: machinesOf(entries, here),
		Series: seriesOf(h), Labs: experimentsOf(h.Experiments), Problems: []string{}}
	if q.Machine == "" {
		p.Machine = allMachines
	}
	for _, m := range lab.Measures {
		p.Measures = append(p.Measures, measure{m.Name, m.Unit, m.Better})
	}
	for _, u := range h.Unreadable {
		p.Problems = append(p.Problems, u.Path+": "+u.Problem)
	}
	if h.Unkept != nil {
		p.Problems = append(p.Problems, h.Unkept.Error())
	}
	answerJSON(w, http.StatusOK, p)
}

// machinesOf are those that results were measured on, and here, whether or not there is one.
// Those of fleets are not asked for: they are shown whatever machine is.
func machinesOf(entries []store.Entry, here string) []machine {
	all := []machine{{ID: here, Words: report.Machine(result.ThisHost()), This: true}}
	for _, e := range entries {
		if e.Fleet != "" {
			continue
		}
		i := slices.IndexFunc(all, func(m machine) bool { return m.ID == e.Machine })
		if i < 0 {
			i, all = len(all), append(all, machine{ID: e.Machine, Words: report.Machine(e.Host)})
		}
		all[i].Results++
	}
	return all
}

func seriesOf(h store.History) []series {
	known := map[string]store.Entry{}
	for _, e := range h.Entries {
		known[e.ID] = e
	}
	all := []series{}
	for _, t := range h.Series {
		one := series{ID: t.Plan + "-" + t.Machine, Name: t.Name, URL: t.Newest.URL,
			Load: historytext.SeriesLoad(t), Machine: report.Machine(t.Newest.Host), Runs: []run{},
			Changes: payload.TurnsOf(t)}
		if t.Newest.Fleet != "" {
			one.Machine = "a fleet"
		}
		var runs []chart.SeriesRun
		for _, r := range t.Runs {
			one.Runs = append(one.Runs, run{r, known[r.ID].Verdict, known[r.ID].Note})
			runs = append(runs, chart.SeriesRun{Run: r, Verdict: known[r.ID].Verdict,
				Note: known[r.ID].Note})
		}
		if len(runs) > 1 {
			one.Figures = chart.Series("series-"+one.ID, one.Load, t, runs)
		}
		all = append(all, one)
	}
	return all
}

// experimentsOf has those of one name on one machine together.
func experimentsOf(stored []store.Experiment) []experiment {
	all := []experiment{}
	for _, e := range stored {
		i := slices.IndexFunc(all, func(o experiment) bool {
			return o.Name == e.Name && o.Quick == e.Quick && o.Machine == e.Machine
		})
		if i < 0 {
			i, all = len(all), append(all, experiment{Name: e.Name, Quick: e.Quick, Machine: e.Machine})
		}
		all[i].Runs = append(all[i].Runs, labRun{e.ID, e.Started, e.State, e.Trials, e.Different,
			e.Compared, e.Gate, e.Dyno})
	}
	return all
}

// serveLabPast answers with what an experiment and its earlier runs found; null if there is none.
func (s *Server) serveLabPast(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.labs.findFolder(w, r.PathValue("id"))
	if !ok {
		return
	}
	record, err := judge.Open(dir)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	found := payload.PastOf(record, lab.ReadEarlier(s.labs.store, record))
	if found == nil {
		answerJSON(w, http.StatusOK, nil)
		return
	}
	answerJSON(w, http.StatusOK, struct {
		*payload.Past
		Figures chart.Set `json:"figures"`
	}{found, chart.Past(record, found)})
}
