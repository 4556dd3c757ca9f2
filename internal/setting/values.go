package setting

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
)

// MaxCPU is the highest number of a CPU.
const MaxCPU = 4095

// ParseCPUs parses a list of CPU numbers and ranges, "0,2-3". The result is sorted, without
// duplicates.
func ParseCPUs(s string) (cpus []int, err error) {
	wrong := fmt.Errorf("%q is not a list of CPUs; write numbers and ranges up to %d, as 0,2-3", s,
		MaxCPU)
	var edges [MaxCPU + 2]int // ranges that begin at a CPU, less those that ended before it
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, err := parseCPU(from)
		high, err2 := parseCPU(to)
		if err := errors.Join(err, err2); err != nil {
			return nil, wrong
		}
		if low > high {
			return nil, fmt.Errorf("%q counts down", part)
		}
		edges[low]++
		edges[high+1]--
	}
	around := 0
	for c, n := range edges {
		if around += n; around > 0 {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

func parseCPU(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err == nil && (n > MaxCPU || s[0] == '+') {
		err = strconv.ErrRange
	}
	return int(n), err
}

// parseOrigin parses a URL that is an origin alone.
func parseOrigin(s string) (loadplan.Target, error) {
	u, err := requests.Parse(requests.FullURL(s))
	if err == nil && (u.Path != "/" || u.Basic != "") {
		err = fmt.Errorf("%q is more than an origin; write http://HOST or https://HOST", s)
	}
	u.Target.URL = strings.TrimSuffix(u.Target.URL, "/")
	return u.Target, err
}

// ParseReconnect parses never, always, or a number of requests.
func ParseReconnect(s string) (int, error) {
	switch s {
	case "never":
		return 0, nil
	case "always":
		return 1, nil
	}
	n, err := ParseCount(s)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%q is not never, always, or after how many requests", s)
	}
	return int(n), nil
}

// parseParam parses a parameter of FastCGI, whose value may be empty.
func parseParam(s string) (loadplan.Param, error) {
	name, value, found := strings.Cut(s, "=")
	if !found || name == "" {
		return loadplan.Param{}, fmt.Errorf("%q is not a parameter; write NAME=VALUE", s)
	}
	return loadplan.Param{Name: name, Value: value}, nil
}

// parseSources parses addresses and ranges of them, separated by commas.
func parseSources(s string) (all []loadplan.Source, err error) {
	for part := range strings.SplitSeq(s, ",") {
		from, err := loadplan.ParseSource(part)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an IP address nor a range as 127.0.0.0/28", part)
		}
		all = append(all, from)
	}
	return all, nil
}

// ReconnectText writes what ParseReconnect reads.
func ReconnectText(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "always"
	}
	return strconv.Itoa(n)
}

// ParseSwitch parses the value of a switch.
func ParseSwitch(s string) (bool, error) {
	on, err := strconv.ParseBool(s)
	if err != nil {
		err = fmt.Errorf("%q is not true or false; give the flag without a value", s)
	}
	return on, err
}

// parseOnOff parses a switch with two names.
func parseOnOff(s string) (bool, error) {
	if s != "on" && s != "off" {
		return false, fmt.Errorf("%q is not on or off", s)
	}
	return s == "on", nil
}

// onText writes a switch with two names; one that is off is not set.
func onText(on bool) string {
	if !on {
		return ""
	}
	return "on"
}

// ParseSeed parses a seed, which must be one that JSON can represent exactly.
func ParseSeed(s string) (uint64, error) {
	n, err := Positive(ParseCount)(s)
	return uint64(n), err
}

// rings are the kinds of ring that some platform has.
var rings = []string{"auto", "epoll", "uring", "portable"}

// parseRing parses a kind of ring.
func parseRing(s string) (string, error) {
	if !slices.Contains(rings, s) {
		return "", fmt.Errorf("%q is not auto, epoll, uring or portable", s)
	}
	return s, nil
}

// parseShow parses how many requests are shown.
func parseShow(s string) (int, error) {
	n, err := Positive(ParseInt)(s)
	if err == nil && n > loadplan.ShowMost {
		err = fmt.Errorf("%d is more than %d; --save-errors keeps what fails", n, loadplan.ShowMost)
	}
	return n, err
}

// expectBody parses an expectation of bodies, which stays a text.
func expectBody(s string) (string, error) {
	_, err := requests.ExpectBody(s)
	return s, err
}

// expectHeader likewise of headers.
func expectHeader(s string) (string, error) {
	_, err := requests.ExpectHeader(s)
	return s, err
}

// SetStage adds the stage that a text says: D:RATE, or D:Nusers.
func SetStage(p *loadplan.Plan, s string) error {
	length, goal, found := strings.Cut(s, ":")
	if !found {
		return fmt.Errorf("%q is not a stage; write DURATION:RATE, as 30s:2000, or DURATION:Nusers, as "+
			"30s:200users", s)
	}
	d, err := ParseDuration(length)
	if err != nil {
		return err
	}
	if number, is := cutUsers(goal); is {
		n, err := ParseInt(number)
		if n < 0 {
			err = fmt.Errorf("%q is negative", goal)
		}
		if err == nil {
			p.UserStages = append(p.UserStages,
				loadplan.UserStage{Duration: loadplan.Seconds(d), Users: n})
		}
		return err
	}
	stage := loadplan.Stage{Duration: loadplan.Seconds(d)}
	if strings.TrimSuffix(goal, "/s") != "0" {
		if stage.Rate, err = ParseRate(goal); err != nil {
			return err
		}
	}
	p.Stages = append(p.Stages, stage)
	return nil
}

// stageTexts are the stages of a plan, as SetStage reads them.
func stageTexts(p *loadplan.Plan) (all []string) {
	for _, s := range p.Stages {
		all = append(all, s.Duration.String()+":"+s.Rate.String())
	}
	for _, s := range p.UserStages {
		all = append(all, s.Duration.String()+":"+strconv.Itoa(s.Users)+"users")
	}
	return all
}

// cutUsers is the number in 200users.
func cutUsers(s string) (number string, is bool) {
	for _, unit := range []string{"users", "user"} {
		if number, is = strings.CutSuffix(s, unit); is {
			return strings.TrimSpace(number), true
		}
	}
	return s, false
}

// list is values with commas between them.
func list[T any](text func(T) string) func([]T) string {
	return func(all []T) string {
		words := make([]string, len(all))
		for i, v := range all {
			words[i] = text(v)
		}
		return strings.Join(words, ",")
	}
}
