package hurl

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A note is a comment for dyno. hurl ignores it, so that the file stays one of hurl's:
//
//	# dyno: delay 1s..3s   before a request: a pause, drawn for each user from 1 s to 3 s
//	# dyno: delay 500ms    a pause that is always the same
//	# dyno: weight 3       before the first request: how often the file is run, beside others
type note struct {
	at   int // of the #
	text string
}

// A Delay is a pause before a request, from Low to High.
type Delay struct {
	Pos       Pos
	Low, High time.Duration
}

// MaxWeight is how large the weight of a file may be.
const MaxWeight = 1_000_000

// maxDelay is how long a pause may be.
const maxDelay = 24 * time.Hour

const notePrefix = "dyno:"

// cookieStorage begins comments before a request in which hurl sets and clears cookies. dyno does
// not, so it refuses them.
const cookieStorage = "@cookie_storage_"

// addNote notes a comment if it is for dyno. A line may be read twice.
func (p *parser) addNote(at int, comment string) {
	text, is := strings.CutPrefix(strings.TrimSpace(comment), notePrefix)
	is = is || strings.HasPrefix(text, cookieStorage)
	if !is || len(p.notes) > 0 && p.notes[len(p.notes)-1].at >= at {
		return
	}
	p.notes = append(p.notes, note{at, strings.TrimSpace(text)})
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
		word, rest, _ := strings.Cut(n.text, " ")
		rest = strings.TrimSpace(rest)
		var problem string
		switch {
		case word == "delay" && e.Delay != nil, word == "weight" && f.Weight != 0:
			problem = word + " is there twice"
		case word == "delay":
			e.Delay, problem = parseDelay(rest)
			if e.Delay != nil {
				e.Delay.Pos = p.pos(n.at)
			}
		case word == "weight" && len(f.Entries) > 0:
			problem = "weight stands before the first request: it is the whole file's"
		case word == "weight":
			f.Weight, problem = parseWeight(rest)
		default:
			problem = fmt.Sprintf("%.40q is unknown: write # dyno: delay 1s..3s, or # dyno: "+
				"weight 3", n.text)
		}
		if problem != "" {
			p.fail(n.at, "%s", problem)
			return
		}
	}
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
	p.fail(n.at, "# dyno: stands on a line before a request, which this one does not")
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

func parseWeight(s string) (weight int, problem string) {
	weight, err := strconv.Atoi(s)
	if err != nil || weight < 1 || weight > MaxWeight {
		return 0, fmt.Sprintf("%.40q is no weight: write a number from 1 to %d", s, MaxWeight)
	}
	return weight, ""
}
