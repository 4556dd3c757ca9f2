package hurl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A note is a comment for dyno. hurl ignores it, so that the file stays one of hurl's:
//
//	# dyno: delay 1s..3s   before a request: a pause, drawn for each user from 1 s to 3 s
//	# dyno: delay 500ms    a pause that is always the same
//	# dyno: weight 3       before the first request: how often the file is run, beside others
//	# dyno: stream openai  the request is answered by a stream of events of that format
//	# dyno: once           the request is sent once per user
//	# dyno: every 50m      it is sent again once its last success is so long ago
//	# dyno: again on 401   it is sent again if a later request is answered so
type note struct {
	at   int // of the #
	text string
}

// A Delay is a pause before a request, from Low to High.
type Delay struct {
	Pos       Pos
	Low, High time.Duration
}

// A Stream says that the answer to an entry is a stream of events.
type Stream struct {
	Pos    Pos
	Format string
}

// StreamFormat is the first format that entries have in Stream; "": none has one.
func (f *File) StreamFormat() string {
	for _, e := range f.Entries {
		if e.Stream != nil {
			return e.Stream.Format
		}
	}
	return ""
}

// A Recurrence says when an entry runs again, in a user's later iterations or in this one.
type Recurrence struct {
	Pos   Pos           // of the first note that says so
	Once  bool          // not again, once it has succeeded
	Every time.Duration // again, once its last success is so long ago; 0: not given
	On    []int         // again, if a later entry is answered with one of these statuses
}

// Stays reports whether an entry is left out of some iterations: what it captured stays for them.
func (r *Recurrence) Stays() bool { return r != nil && (r.Once || r.Every > 0) }

// MaxWeight is how large the weight of a file may be.
const MaxWeight = 1_000_000

// maxDelay is how long a pause may be.
const maxDelay = 24 * time.Hour

// cookieStorage begins comments before a request in which hurl sets and clears cookies. dyno does
// not, so it refuses them.
const cookieStorage = "@cookie_storage_"

// addNote notes a comment if it is for dyno. A line may be read twice.
func (p *parser) addNote(at int, comment string) {
	text, is := cutNote(strings.TrimSpace(comment))
	is = is || strings.HasPrefix(text, cookieStorage)
	if !is || len(p.notes) > 0 && p.notes[len(p.notes)-1].at >= at {
		return
	}
	p.notes = append(p.notes, note{at, strings.TrimSpace(text)})
}

// cutNote is what a comment says to dyno, in whatever case, with a blank before the colon or
// without one: whoever writes "# Dyno: once" or "# dyno once" means a note.
func cutNote(comment string) (text string, is bool) {
	const name = "dyno"
	if len(comment) <= len(name) || !strings.EqualFold(comment[:len(name)], name) {
		return comment, false
	}
	rest := strings.TrimSpace(comment[len(name):])
	if text, is = strings.CutPrefix(rest, ":"); is {
		return text, true
	}
	word, _, _ := strings.Cut(rest, " ")
	words := []string{"delay", "weight", "stream", "once", "every", "again"}
	if comment[len(name)] == ' ' && slices.Contains(words, word) {
		return rest, true
	}
	return comment, false
}

// applyNotes does what the notes between two places say, which are before the method of e.
func (p *parser) applyNotes(f *File, e *Entry, from, method int) {
	for len(p.notes) > 0 && p.notes[0].at < method {
		n := p.notes[0]
		p.notes = p.notes[1:]
		if n.isCookieStorage() {
			if n.at >= from {
				p.fail(n.at, "the comment %.40q is not supported: write [Cookies]", n.text)
			}
			continue
		}
		if n.at < from {
			p.misplaced(n)
			return
		}
		if problem := p.applyNote(f, e, n); problem != "" {
			p.fail(n.at, "%s", problem)
			return
		}
	}
}

// applyNote does what a note before e says.
func (p *parser) applyNote(f *File, e *Entry, n note) (problem string) {
	word, rest, _ := strings.Cut(n.text, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case word == "delay" && e.Delay != nil, word == "weight" && f.Weight != 0,
		word == "stream" && e.Stream != nil:
		return word + " is there twice"
	case word == "delay":
		if e.Delay, problem = parseDelay(rest); e.Delay != nil {
			e.Delay.Pos = p.pos(n.at)
		}
		return problem
	case word == "weight" && len(f.Entries) > 0:
		return "weight stands before the first request: it is the whole file's"
	case word == "weight":
		f.Weight, problem = parseWeight(rest)
		return problem
	case word == "stream":
		e.Stream = &Stream{Pos: p.pos(n.at), Format: rest}
		return ""
	case word == "once" || word == "every" || word == "again":
		if e.Again == nil {
			e.Again = &Recurrence{Pos: p.pos(n.at)}
		}
		return e.Again.add(word, rest)
	}
	return fmt.Sprintf("%.40q is unknown: write \"# dyno: WHAT\", where WHAT is delay 1s..3s, "+
		"weight 3, stream sse, once, every 50m, or again on 401", n.text)
}

// refuseNotes refuses the notes that are before no request.
func (p *parser) refuseNotes() {
	for _, n := range p.notes {
		if p.fault == nil && !n.isCookieStorage() {
			p.misplaced(n)
		}
	}
}

func (n note) isCookieStorage() bool { return strings.HasPrefix(n.text, cookieStorage) }

func (p *parser) misplaced(n note) {
	p.fail(n.at, `"# dyno:" stands on a line before a request, which this one does not`)
}

func parseDelay(s string) (d *Delay, problem string) {
	low, high, isRange := strings.Cut(s, "..")
	if !isRange {
		high = low
	}
	var err, wrong error
	d = &Delay{}
	d.Low, err = time.ParseDuration(strings.TrimSpace(low))
	d.High, wrong = time.ParseDuration(strings.TrimSpace(high))
	if err != nil || wrong != nil || d.Low < 0 || d.High < d.Low || d.High > maxDelay {
		return nil, fmt.Sprintf("%.40q is no delay: write 500ms, or 1s..3s for one between both; "+
			"at most %v", s, maxDelay)
	}
	return d, ""
}

// add adds what a note says.
func (r *Recurrence) add(word, rest string) (problem string) {
	switch {
	case word == "again":
		return r.addStatus(rest)
	case r.Stays():
		return `an entry has "once" or "every", and one of them only once`
	case word == "once" && rest != "":
		return fmt.Sprintf("%.40q stands behind \"once\": write \"# dyno: once\"", rest)
	case word == "once":
		r.Once = true
		return ""
	}
	var err error
	if r.Every, err = time.ParseDuration(rest); err != nil || r.Every <= 0 {
		return fmt.Sprintf("%.40q is no time: write \"# dyno: every 50m\", or 90s", rest)
	}
	return ""
}

// addStatus adds the status of "again on 401".
func (r *Recurrence) addStatus(rest string) (problem string) {
	text, is := strings.CutPrefix(rest, "on ")
	status, err := strconv.Atoi(strings.TrimSpace(text))
	switch {
	case !is || err != nil || status < 300 || status > 599:
		return fmt.Sprintf("%.40q says not one status from 300 to 599: write \"# dyno: again on 401\", "+
			"and another on a line of its own", rest)
	case slices.Contains(r.On, status):
		return fmt.Sprintf("\"again on %d\" is there twice", status)
	}
	r.On = append(r.On, status)
	return ""
}

func parseWeight(s string) (weight int, problem string) {
	weight, err := strconv.Atoi(s)
	if err != nil || weight < 1 || weight > MaxWeight {
		return 0, fmt.Sprintf("%.40q is no weight: write a number from 1 to %d", s, MaxWeight)
	}
	return weight, ""
}
