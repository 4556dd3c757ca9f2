package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/labanswer"
	"dyno/internal/view/labreport"
	"dyno/internal/view/page"
)

// labs are the folders of experiments that can be watched. Another dyno runs them, also those
// that were begun here; what their files say is all that is known of them. A folder is looked
// at once a second, and only while somebody watches.
type labs struct {
	store   string // the folder of folders in which dyno lab run keeps them
	others  []string
	resumes bool // those begun here can be resumed

	mu      *sync.Mutex
	watched map[string]*watched // by folder
	begun   map[string]*begunLab
}

// A watched folder is looked at until nobody watches any more.
type watched struct {
	journal *journal
	by      int
	stop    context.CancelFunc
}

func newLabs(home string, others []string) labs {
	return labs{store: filepath.Join(home, "experiments"), others: others, mu: new(sync.Mutex),
		watched: map[string]*watched{}, begun: map[string]*begunLab{}}
}

// begunIn is the experiment that was begun here last in a folder; nil if none was.
func (l *labs) begunIn(dir string) *begunLab {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun[dir]
}

// mayResume reports whether an experiment of a folder can go on from the page: this dashboard began
// it, and it was stopped.
func (l *labs) mayResume(dir string, state lab.State) bool {
	begun := l.begunIn(dir)
	return l.resumes && state == lab.Interrupted && begun != nil && !begun.isRunning()
}

// addBegun notes that an experiment was begun here.
func (l *labs) addBegun(dir string, c *begunLab) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun[dir] = c
}

// A listed folder has an ID, which requests name.
type listed struct {
	ID      string `json:"id"`
	Problem string `json:"problem,omitempty"` // why it cannot be read
	lab.Heading
	Done   int `json:"done,omitempty"`   // trials, of one that runs
	Queued int `json:"queued,omitempty"` // likewise

	dir string
}

// listFolders are all folders that are there now: those that were named, then the stored ones,
// newest first.
func (l *labs) listFolders() ([]listed, error) {
	dirs := slices.Clone(l.others)
	entries, err := os.ReadDir(l.store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for experiments: %w", err)
	}
	for _, e := range entries {
		if dir := filepath.Join(l.store, e.Name()); e.IsDir() && lab.IsExperiment(dir) {
			dirs = append(dirs, dir)
		}
	}
	all := make([]listed, len(dirs))
	for i, dir := range dirs {
		all[i] = listed{ID: filepath.Base(dir), dir: dir}
		if all[i].Heading, err = lab.ReadHeading(dir); err != nil {
			all[i].Problem = err.Error()
		}
	}
	slices.SortStableFunc(all[len(l.others):], func(a, b listed) int {
		return b.Started.Compare(a.Started)
	})
	had := map[string]int{}
	for i := range all { // folders of one name have a number
		had[all[i].ID]++
		if n := had[all[i].ID]; n > 1 {
			all[i].ID += fmt.Sprintf("~%d", n)
		}
	}
	return all, nil
}

// findFolder is the folder of an ID, which is looked for in the list and never taken for a path.
// What it cannot do it answers itself.
func (l *labs) findFolder(w http.ResponseWriter, id string) (dir string, ok bool) {
	all, err := l.listFolders()
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return "", false
	}
	i := slices.IndexFunc(all, func(one listed) bool { return one.ID == id })
	if i < 0 {
		answerError(w, http.StatusNotFound, fmt.Sprintf("no experiment %q is here", id))
		return "", false
	}
	return all[i].dir, true
}

// folderID is the ID of a folder that is in the list.
func (l *labs) folderID(dir string) (string, error) {
	all, err := l.listFolders()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(all, func(one listed) bool { return one.dir == dir })
	if i < 0 {
		return "", fmt.Errorf("%s is not among the experiments", dir)
	}
	return all[i].ID, nil
}

func (s *Server) serveLabs(w http.ResponseWriter, r *http.Request) {
	all, err := s.labs.listFolders()
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	for i, one := range all {
		if one.State != lab.Running || one.Problem != "" {
			continue
		}
		if p, err := judge.Follow(one.dir).ReadProgress(); err == nil {
			all[i].Done, all[i].Queued = len(p.Record.Trials), len(p.Queue)
		}
	}
	answerJSON(w, http.StatusOK, all)
}

// serveLabReport answers with the report of an experiment, of what there is so far.
func (s *Server) serveLabReport(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	dir, ok := s.labs.findFolder(w, id)
	if !ok {
		return
	}
	of := func(write func(io.Writer, *lab.Record) error) func(io.Writer) error {
		return func(to io.Writer) error {
			record, err := judge.Open(dir)
			if err != nil {
				return err
			}
			return write(to, record)
		}
	}
	shown := func(to io.Writer) error { return page.Experiment(to, dir, s.labs.store) }
	s.answerReport(w, r, id, shown, filesOf(shown, of(labreport.WholeMarkdown), of(writeRecord),
		of(labreport.ExperimentCSV)))
}

// writeRecord writes a record as the folder of an experiment has it.
func writeRecord(w io.Writer, r *lab.Record) error {
	b, err := lab.StoredJSON(r)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// watchLab sends how far an experiment has come, now and whenever that changes.
func (s *Server) watchLab(w http.ResponseWriter, r *http.Request) {
	dir, ok := s.labs.findFolder(w, r.PathValue("id"))
	if !ok {
		return
	}
	j, leave := s.labs.watchFolder(dir)
	defer leave()
	s.sendEvents(j, w, r)
}

// watchFolder joins those who watch a folder.
func (l *labs) watchFolder(dir string) (j *journal, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watched[dir]
	if w == nil {
		ctx, stop := context.WithCancel(context.Background())
		w = &watched{journal: newJournal(0), stop: stop}
		l.watched[dir] = w
		go l.pollFolder(ctx, dir, w.journal)
	}
	w.by++
	return w.journal, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.by--; w.by == 0 {
			w.stop()
			delete(l.watched, dir)
		}
	}
}

// pollInterval is between two looks at a folder.
const pollInterval = time.Second

// pollFolder looks at a folder until ctx ends. Each state is a head: there is no use for the
// one before. Of an experiment that was begun here its end is news, whatever its files say.
func (l *labs) pollFolder(ctx context.Context, dir string, j *journal) {
	f := judge.Follow(dir)
	var last *judge.Progress
	var problem string
	var runs bool
	var was *begunLab
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		p, err := f.ReadProgress()
		begun := l.begunIn(dir)
		if now := begun.isRunning(); now != runs || begun != was { // one may end before it is seen
			runs, was, last = now, begun, nil
		}
		switch {
		case err != nil && err.Error() != problem:
			problem, last = err.Error(), nil
			j.restart("problem", problem)
		case err == nil && p != last:
			problem, last = "", p
			s := stateOf(p, begun, runs)
			s.Resumable = !runs && l.mayResume(dir, s.State) // it may have ended since runs was read
			if s.Resumable && begun != nil && begun.stopped {
				s.Problem = "" // the button does what it says
			}
			j.restart("lab", s)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// A state is what a browser shows of an experiment that runs.
type state struct {
	lab.Heading
	Title    string           `json:"title"`
	Scope    string           `json:"scope"`
	Checked  bool             `json:"checked"` // servers were built and their answers compared
	Done     int              `json:"done"`    // trials
	Queued   int              `json:"queued"`
	LeftS    float64          `json:"left_s,omitempty"`
	Queue    []lab.Slot       `json:"queue"`  // the first of them
	Trials   []trial          `json:"trials"` // the last of them, newest first
	Verdicts []string         `json:"verdicts"`
	Compared []lab.Comparison `json:"comparisons"`
	Answer   answered         `json:"answer"`            // so far
	Ours     bool             `json:"ours,omitempty"`    // it runs, and was begun here
	Problem  string           `json:"problem,omitempty"` // that it ended with, if it was

	Resumable bool `json:"resumable,omitempty"` // from the page
}

// A trial is one that is done.
type trial struct {
	lab.TrialSummary
	Why string `json:"why"` // of its grade, or why it failed
}

// mostTrials is how many trials, done and to be done, a browser gets.
const mostTrials = 500

func stateOf(p *judge.Progress, begun *begunLab, runs bool) state {
	r := p.Record
	words := labreport.ExperimentWordsOf(r)
	s := state{Heading: r.Heading(), Title: words.Title, Scope: words.Scope, Checked: r.Checked,
		Done: len(r.Trials), Queued: len(p.Queue), LeftS: p.Left.Seconds(),
		Queue: p.Queue[:min(len(p.Queue), mostTrials)], Verdicts: words.Verdicts, Compared: r.Verdicts,
		Ours: runs}
	a := labanswer.Of(r)
	s.Answer = withSummary(a, words.Command)
	if begun != nil && !runs {
		s.Problem = begun.problem
	}
	for i := len(r.Trials) - 1; i >= 0 && len(s.Trials) < mostTrials; i-- {
		t := trial{TrialSummary: r.Trials[i]}
		if t.Failure != nil {
			t.Why = t.Failure.Phase + ": " + t.Failure.Reason
		}
		for _, reason := range t.Reasons {
			t.Why = strings.TrimPrefix(t.Why+"; "+reason.Says, "; ")
		}
		s.Trials = append(s.Trials, t)
	}
	return s
}
