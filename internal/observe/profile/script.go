package profile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"dyno/internal/lazyregexp"

	pprof "github.com/google/pprof/profile"
)

// Limits of what perf prints. Stacks have at most kernel.perf_event_max_stack frames, 127
// by default. A period is the nanoseconds, or cycles, since the last sample.
const (
	maxLine   = 1 << 20
	maxFrames = 1024
	maxPeriod = 1e11
)

// Names that perf and we give to what has none.
const (
	unknown      = "[unknown]"
	kernelPrefix = "[kernel"
)

// kernelSpace is where the kernel is on 64-bit machines; those of 32 bits are known by the
// names of its mappings.
const kernelSpace = 0xffff << 48

// A scriptReader turns what `perf script -F comm,pid,tid,period,event,ip,sym,dso` prints
// into a profile: for each sample a line, its stack from the leaf on, and an empty line.
//
//	nginx 16626/16626   10101010 cpu-clock:ppp:
//		ffffffff81e63129 __dev_queue_xmit ([kernel.kallsyms])
//		           fde60 __GI___writev (/usr/lib/x86_64-linux-gnu/libc.so.6)
//
// Anything may be in a name: blanks, parentheses, colons. So lines are read from both ends.
type scriptReader struct {
	p         *Profile
	names     map[int]string // of processes
	mappings  map[string]*pprof.Mapping
	functions map[string]*pprof.Function
	locations map[locationKey]*pprof.Location
	samples   map[string]*pprof.Sample

	at    *scriptHeader // of the sample that is being read
	stack []*pprof.Location
	torn  bool // it has a frame that is in no file

	count, weight    int64
	tornCount, lines int64 // lines that are none of perf's
	cycles, userOnly bool
	event            string
}

type locationKey struct {
	mapping, function string
	address           uint64
}

type scriptHeader struct {
	thread string
	pid    int
	period int64
}

// parseScript reads all of r. names are of processes, where known: perf has the names of
// threads. No samples is no error, but text without any sample is.
func parseScript(r io.Reader, names map[int]string) (*Profile, error) {
	s := &scriptReader{
		p: &Profile{
			SampleType: []*pprof.ValueType{
				{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"},
			},
			DefaultSampleType: "cpu",
			PeriodType:        &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"},
			Period:            1_000_000_000 / hertz,
		},
		names:     names,
		mappings:  map[string]*pprof.Mapping{},
		functions: map[string]*pprof.Function{},
		locations: map[locationKey]*pprof.Location{},
		samples:   map[string]*pprof.Sample{},
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		s.parseLine(lines.Text())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the output of perf script: %w", err)
	}
	s.flushSample()
	if s.count == 0 && s.lines > 0 {
		return nil, fmt.Errorf("perf script printed %d lines and no sample among them", s.lines)
	}
	s.finishProfile()
	return s.p, nil
}

func (s *scriptReader) parseLine(text string) {
	if strings.TrimSpace(text) == "" {
		s.flushSample()
		return
	}
	if text[0] == '\t' {
		if s.at == nil || len(s.stack) >= maxFrames || !s.parseFrame(strings.TrimSpace(text)) {
			s.lines++
		}
		return
	}
	s.flushSample()
	h, event, ok := parseHeader(text)
	if !ok {
		s.lines++
		return
	}
	name, modifiers := splitEvent(event)
	s.at, s.event = h, event
	s.cycles = s.cycles || name != "cpu-clock" && name != "task-clock"
	s.userOnly = s.userOnly || strings.Contains(modifiers, "u") && !strings.Contains(modifiers, "k")
}

// header is NAME PID/TID PERIOD EVENT:, where NAME may be anything.
var header = lazyregexp.New(`^(.*?)\s+(\d+)/\d+\s+(\d+)\s+(\S+):\s*$`)

func parseHeader(text string) (h *scriptHeader, event string, ok bool) {
	m := header().FindStringSubmatch(text)
	if m == nil {
		return nil, "", false
	}
	pid, err := strconv.Atoi(m[2])
	if err != nil {
		return nil, "", false
	}
	period, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil || period <= 0 || period > maxPeriod {
		return nil, "", false
	}
	return &scriptHeader{validUTF8(m[1]), pid, period}, validUTF8(m[4]), true
}

// splitEvent parts cpu-clock:u and cpu_core/cycles/Pu.
func splitEvent(event string) (name, modifiers string) {
	if i := strings.LastIndexAny(event, ":/"); i >= 0 {
		return event[:i], event[i+1:]
	}
	return event, ""
}

// parseFrame adds ADDRESS NAME (FILE) to the stack.
func (s *scriptReader) parseFrame(text string) bool {
	hex, rest, _ := strings.Cut(text, " ")
	address, err := strconv.ParseUint(hex, 16, 64)
	name, file, ok := cutFile(validUTF8(rest))
	if err != nil || !ok {
		return false
	}
	mapping := file
	switch kernel := s.isKernelFrame(address, file); {
	case kernel && !strings.HasPrefix(file, kernelPrefix):
		mapping = kernelPrefix + "." + strings.Trim(file, "[]") + "]"
		fallthrough
	case kernel:
		if name == unknown {
			name = kernelPrefix + "]"
		}
	case file == unknown && name == unknown:
		// An address in no file is what was found where a frame pointer ought to be.
		s.torn = true
		if n := len(s.stack); n > 0 && s.stack[n-1].Line[0].Function.Name == unknown {
			return true
		}
		address = 0
	case name == unknown:
		name = "[" + strings.Trim(path.Base(strings.TrimSuffix(file, " (deleted)")), "[]") + "]"
	}
	s.stack = append(s.stack, s.location(mapping, name, address))
	return true
}

// kernel: its frames come first, so a high address after one of the program is no code.
func (s *scriptReader) isKernelFrame(address uint64, file string) bool {
	if strings.HasPrefix(file, kernelPrefix) || strings.HasPrefix(file, "[guest.kernel") {
		return true
	}
	n := len(s.stack)
	return address >= kernelSpace && file != "[vsyscall]" &&
		(n == 0 || strings.HasPrefix(s.stack[n-1].Mapping.File, kernelPrefix))
}

// cutFile parts "operator()(int) (/usr/bin/x (deleted))" before the parenthesis that
// belongs to the last, and takes an offset such as +0x1f off the name.
func cutFile(text string) (name, file string, ok bool) {
	if !strings.HasSuffix(text, ")") {
		return "", "", false
	}
	depth, i := 0, len(text)-1
	for ; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if i < 0 {
		return "", "", false
	}
	name, file = strings.TrimSpace(text[:i]), text[i+1:len(text)-1]
	if at := strings.LastIndex(name, "+0x"); at > 0 {
		name = name[:at]
	}
	if name == "" {
		name = unknown
	}
	return name, file, file != ""
}

// validUTF8 is text as a profile may have it: UTF-8.
func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// location is the one there is of these, or a new one.
func (s *scriptReader) location(mapping, name string, address uint64) *pprof.Location {
	key := locationKey{mapping, name, address}
	if l := s.locations[key]; l != nil {
		return l
	}
	m := s.mappings[mapping]
	if m == nil {
		m = &pprof.Mapping{ID: uint64(len(s.p.Mapping) + 1), File: mapping, HasFunctions: true}
		s.mappings[mapping], s.p.Mapping = m, append(s.p.Mapping, m)
	}
	f := s.functions[name]
	if f == nil {
		f = &pprof.Function{ID: uint64(len(s.p.Function) + 1), Name: name, SystemName: name}
		s.functions[name], s.p.Function = f, append(s.p.Function, f)
	}
	l := &pprof.Location{ID: uint64(len(s.p.Location) + 1), Mapping: m, Address: address,
		Line: []pprof.Line{{Function: f}}}
	s.locations[key], s.p.Location = l, append(s.p.Location, l)
	return l
}

// flushSample ends the sample that is being read, if any.
func (s *scriptReader) flushSample() {
	if s.at == nil {
		return
	}
	if len(s.stack) == 0 {
		s.stack = append(s.stack, s.location(unknown, unknown, 0))
	}
	thread, pid := s.at.thread, s.at.pid
	key := binary.AppendVarint([]byte(thread+"\x00"), int64(pid))
	for _, l := range s.stack {
		key = binary.AppendUvarint(key, l.ID)
	}
	sample := s.samples[string(key)]
	if sample == nil {
		sample = &pprof.Sample{Location: s.stack, Value: []int64{0, 0}, Label: s.sampleLabels(),
			NumLabel: map[string][]int64{"pid": {int64(pid)}}}
		s.samples[string(key)], s.p.Sample = sample, append(s.p.Sample, sample)
	}
	sample.Value[0]++
	sample.Value[1] += s.at.period
	s.count, s.weight = s.count+1, s.weight+s.at.period
	if s.torn {
		s.tornCount++
	}
	s.at, s.stack, s.torn = nil, nil, false
}

func (s *scriptReader) sampleLabels() map[string][]string {
	process, known := s.names[s.at.pid]
	switch {
	case !known:
		return map[string][]string{processLabel: {s.at.thread}}
	case process == s.at.thread:
		return map[string][]string{processLabel: {process}}
	}
	return map[string][]string{processLabel: {process}, "thread": {s.at.thread}}
}

// finishProfile sets the nanoseconds of cycles, and says what limits the profile.
func (s *scriptReader) finishProfile() {
	say := func(format string, args ...any) {
		s.p.Comments = append(s.p.Comments, fmt.Sprintf(format, args...))
	}
	if s.cycles {
		// Cycles weigh the samples; how long one took, only the frequency of samples says.
		scale := float64(s.count) * 1e9 / hertz / float64(s.weight)
		for _, sample := range s.p.Sample {
			sample.Value[1] = int64(float64(sample.Value[1])*scale + 0.5)
		}
		say("event %s: nanoseconds are nominal, %d samples per second of CPU time", s.event, hertz)
	}
	if s.userOnly {
		say("event %s: time in the kernel is not in it, for want of permission", s.event)
	}
	if s.tornCount > 0 {
		say("%d of %d stacks break off in code without frame pointers: cumulative shares of "+
			"the program's own functions are lower bounds", s.tornCount, s.count)
	}
	if s.lines > 0 {
		say("%d lines of perf script were not understood", s.lines)
	}
}
