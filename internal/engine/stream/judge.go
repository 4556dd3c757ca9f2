package stream

import (
	"bytes"
	"fmt"

	"dyno/internal/engine/jsonpath"
)

// A judge says what an event means.
type judge struct {
	paths  *jsonpath.Set // nil: events are not looked into
	found  [][]byte      // of paths
	counts int           // the first paths are those of Count; 0: each event is counted
	tokens int           // place of a path in found; -1: there is none
	fails  int           // likewise
	ends   int           // likewise
	end    []byte        // the text, or the value at the path, that ends a stream; nil: any
	marks  []byte        // the text that ends streams of this format, if another thing ends these
	last   bool          // a stream must end with something
}

// newJudge makes the judge of a Spec whose preset is filled in.
func newJudge(s Spec) (judge, error) {
	j := judge{counts: len(s.Count), tokens: -1, fails: -1, ends: -1, last: s.End != ""}
	if own := (&Spec{End: presets[s.Format].End}); own.End != s.End {
		if _, _, isPath := own.endPath(); !isPath {
			j.marks = []byte(own.End)
		}
	}
	paths := append([]string{}, s.Count...)
	add := func(path string) (place int) {
		paths = append(paths, path)
		return len(paths) - 1
	}
	if s.Tokens != "" {
		j.tokens = add(s.Tokens)
	}
	if s.Error != "" {
		j.fails = add(s.Error)
	}
	if path, value, is := s.endPath(); !is {
		j.end = []byte(s.End)
	} else {
		j.ends = add(path)
		if value != "" {
			j.end = []byte(value)
		}
	}
	if len(paths) == 0 {
		return j, nil
	}
	var err error
	if j.paths, err = jsonpath.ParseSet(paths); err != nil {
		return j, fmt.Errorf("of a stream: %w", err)
	}
	j.found = make([][]byte, len(paths))
	return j, nil
}

func (j *judge) wantsEnd() bool { return j.last }

// event judges an event with that data.
func (j *judge) event(s *State, data []byte, n *Count) {
	if len(data) == 0 && !s.isError {
		n.KeepAlives++
		return
	}
	n.Events++
	switch {
	case s.isError:
		s.Fail(ErrorEvent, data)
		return
	case j.last && j.ends < 0 && bytes.Equal(bytes.TrimSpace(data), j.end):
		s.Ended = true
		return
	case len(j.marks) > 0 && bytes.Equal(bytes.TrimSpace(data), j.marks):
		return // no JSON, and not the end that is asked for
	case j.paths == nil:
		n.Counted++
		return
	}
	if j.paths.Select(j.found, data) != nil {
		s.Fail(Malformed, data)
		return
	}
	if j.fails >= 0 && jsonpath.IsSet(j.found[j.fails]) {
		s.Fail(ErrorEvent, j.found[j.fails])
		return
	}
	if j.tokens >= 0 {
		if t, ok := wholeNumber(j.found[j.tokens]); ok {
			s.Tokens = t
		}
	}
	ends := j.ends >= 0 && j.isEnd(j.found[j.ends])
	s.Ended = s.Ended || ends
	if j.isCounted() && !(ends && j.counts == 0) {
		n.Counted++
	}
}

// isEnd reports whether a value at the path of the end ends a stream.
func (j *judge) isEnd(value []byte) bool {
	if j.end == nil {
		return jsonpath.IsSet(value)
	}
	return bytes.Equal(bytes.Trim(value, `"`), j.end)
}

// isCounted reports whether the event that was looked into last is counted.
func (j *judge) isCounted() bool {
	if j.counts == 0 {
		return true
	}
	for _, value := range j.found[:j.counts] {
		if jsonpath.IsSet(value) {
			return true
		}
	}
	return false
}

// mostTokens is the highest number of tokens that is believed.
const mostTokens = 1 << 24

// wholeNumber reads a number of tokens.
func wholeNumber(text []byte) (n int64, ok bool) {
	for _, c := range text {
		if n = 10*n + int64(c-'0'); c < '0' || c > '9' || n > mostTokens {
			return 0, false
		}
	}
	return n, len(text) > 0
}
