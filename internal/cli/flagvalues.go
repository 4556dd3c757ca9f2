package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
)

// parseCPUs parses a list of CPU numbers and ranges, "0,2-3". The result is sorted, without
// duplicates.
func parseCPUs(s string) ([]int, error) {
	wrong := fmt.Errorf("%q is not a list of CPUs; write numbers and ranges, as 0,2-3", s)
	var cpus []int
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
		for c := low; c <= high; c++ {
			cpus = append(cpus, c)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

func parseCPU(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err == nil && (n > maxCPU || s[0] == '+') {
		err = strconv.ErrRange
	}
	return int(n), err
}

// parseReconnect parses never, always, or a number of requests.
func parseReconnect(s string) (int, error) {
	switch s {
	case "never":
		return 0, nil
	case "always":
		return 1, nil
	}
	n, err := parseCount(s)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%q is not never, always, or after how many requests", s)
	}
	return int(n), nil
}

// parseHTTP parses a version that dyno supports.
func parseHTTP(s string) (string, error) {
	switch s {
	case loadplan.Auto, "1.0", "1.1", "2", "3":
		return s, nil
	}
	return "", fmt.Errorf("%q is not auto, 1.0, 1.1, 2 or 3", s)
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
