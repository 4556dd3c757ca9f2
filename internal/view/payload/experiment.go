package payload

import (
	"slices"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/judge"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
)

// An Experiment is what the page of an experiment is drawn from. Lists that are about
// trials have them in the order of Record.Trials; where a list has an entry for each verdict
// it is in the order of Record.Verdicts.
type Experiment struct {
	Kind        string                    `json:"kind"`
	Answer      answer.Answer             `json:"answer"`
	Summary     string                    `json:"summary"` // of the answer, as Markdown
	Words       labreport.ExperimentWords `json:"words"`
	Record      *lab.Record               `json:"record"`
	Measures    []Measure                 `json:"measures"`
	Metrics     []experiment.Metric       `json:"metrics"` // the measures that are judged
	Levels      []Level                   `json:"levels"`
	Counted     []cellTrials              `json:"counted"`
	Forest      []forestBar               `json:"forest"`
	Spectra     spectra                   `json:"spectra"`
	Strip       machineStrip              `json:"strip"`
	Floors      []noiseFloor              `json:"floors,omitempty"`
	Starts      []startupCurve            `json:"starts"`
	Comings     []readyTime               `json:"comings"`
	Ladders     []ladder                  `json:"ladders,omitempty"`
	HalfNormals []lab.HalfNormal          `json:"half_normals,omitempty"` // absent: no screening
	Past        *Past                     `json:"past,omitempty"`
	Panels      panels                    `json:"panels"`
	Flames      []flame                   `json:"flames,omitempty"`
	Conditions  conditions                `json:"conditions"`
	Texts       texts                     `json:"texts"`
}

// A Measure is what a trial has a figure of.
type Measure struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better int    `json:"better"` // 1: more is; -1: less is
}

// Measures are those that are shown of trials.
func Measures(trials []lab.TrialSummary) (all []Measure) {
	for _, m := range lab.MeasuresOf(trials) {
		all = append(all, Measure{m.Name, m.Unit, m.Better})
	}
	return all
}

// A Level is a load. Figures of open and of closed ones are never in one plot.
type Level struct {
	Name string `json:"name"`
	Open bool   `json:"open"`
}

// A cellTrials is a cell: an arm at a level, and the trials that its figures rest on.
type cellTrials struct {
	Arm    string `json:"arm"`
	Level  string `json:"level"`
	Trials []int  `json:"trials"`
}

// A forestBar is what a forest plot shows of a comparison besides what the record has.
type forestBar struct {
	Pairs   column         `json:"-"` // ratios, by round
	Finding answer.Finding `json:"-"` // what the answer says of it
	Verdict answer.Verdict `json:"verdict"`
	Words   string         `json:"words"` // the verdict, with whether it must not be relied on
	Mark    string         `json:"mark"`  // Words, and what has to be known of the trials
	Settled bool           `json:"settled,omitempty"`
}

// A noiseFloor is by which share the baseline differed from itself at most (A/A), over all levels.
type noiseFloor struct {
	Metric string  `json:"metric"`
	Share  float64 `json:"share"`
}

// OfExperiment is what the experiment in the folder dir found: its record, what its trials and
// profiles show, and beside it earlier runs whose folders lie in history ("": nowhere). What it
// looks at besides the record is read one trial at a time. A trial that cannot be read is an error,
// as it is for the laboratory; a profile that cannot be read has the reason in its place.
func OfExperiment(dir, history string) (*Experiment, error) {
	p, err := readExperiment(dir)
	if err == nil {
		p.Past = PastOf(p.Record, lab.ReadEarlier(history, p.Record))
	}
	return p, err
}

// readExperiment reads a folder.
func readExperiment(dir string) (*Experiment, error) {
	r, err := judge.Open(dir)
	if err != nil {
		return nil, err
	}
	p := OfRecord(r)
	trials, err := p.readTrials(dir)
	if err != nil {
		return nil, err
	}
	p.addCells(trials)
	p.addPairs(trials)
	p.addReadyTimes(trials)
	p.addLadders(r.Experiment.Levels, trials)
	if p.Spectra, err = spectraOf(p.Levels, p.Counted, trials); err != nil {
		return nil, err
	}
	p.HalfNormals, p.Flames = judge.HalfNormals(r), flamesOf(dir, r)
	p.writeNumbers()
	return p, nil
}

// OfRecord is what the record alone has of an experiment, without its trials.
func OfRecord(r *lab.Record) *Experiment {
	a := labanswer.Of(r)
	p := &Experiment{Kind: "experiment", Answer: a.OnPage(),
		Words: labreport.ExperimentWordsOf(r), Record: r, Metrics: r.Experiment.Design.Metrics,
		Measures: Measures(r.Trials)}
	p.Summary = a.Markdown(p.Words.Command, answer.Limits{})
	for _, l := range r.Experiment.Levels {
		p.Levels = append(p.Levels, Level{l.Name, l.IsOpen()})
	}
	for i, f := range labanswer.Findings(r) {
		p.Forest = append(p.Forest, forestBar{nil, f, f.Verdict, f.Words(),
			labreport.VerdictMark(r.Verdicts[i], f), f.IsSettled()})
	}
	return p
}

// readTrials takes from each trial what is drawn of it, and returns them without what was
// recorded meanwhile.
func (p *Experiment) readTrials(dir string) ([]*lab.Trial, error) {
	var trials []*lab.Trial
	var seen survey
	p.Panels.room = panelsRoom
	each := panelsRoom / max(len(p.Record.Trials), 1)
	for i, brief := range p.Record.Trials {
		t, err := lab.ReadTrial(dir, brief.ID)
		if err != nil {
			return nil, err
		}
		p.Strip.addTrial(t)
		p.Starts = append(p.Starts, startupOf(t))
		p.Panels.addTrial(i, t, max(each, panelLeast))
		if err := seen.addTrial(t); err != nil {
			return nil, err
		}
		t.Meanwhile = nil
		trials = append(trials, t)
	}
	p.Conditions = seen.conditions()
	return trials, nil
}

// addCells finds the trials of each cell.
func (p *Experiment) addCells(trials []*lab.Trial) {
	for _, l := range p.Levels {
		for _, a := range p.Record.Arms {
			c := cellTrials{Arm: a.Name, Level: l.Name}
			for _, t := range judge.CountedTrials(trials, a.Name, l.Name) {
				c.Trials = append(c.Trials, slices.Index(trials, t))
			}
			if len(c.Trials) > 0 {
				p.Counted = append(p.Counted, c)
			}
		}
	}
}

// addPairs finds the pairs of each comparison, and what the controls differ by.
func (p *Experiment) addPairs(trials []*lab.Trial) {
	for i, c := range p.Record.Verdicts {
		logs := judge.PairLogs(c, trials)
		p.Forest[i].Pairs = ratiosOf(logs)
		if share, err := stats.NoiseFloor(logs); err == nil && c.Control && c.HasInterval() {
			p.raiseFloor(c.Metric, share)
		}
	}
}

// raiseFloor makes the floor of a measure at least so much.
func (p *Experiment) raiseFloor(metric string, share float64) {
	i := slices.IndexFunc(p.Floors, func(f noiseFloor) bool { return f.Metric == metric })
	if i < 0 {
		i, p.Floors = len(p.Floors), append(p.Floors, noiseFloor{Metric: metric})
	}
	p.Floors[i].Share = max(p.Floors[i].Share, share)
}
