package requests

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"dyno/internal/engine/check"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/template"
)

// ExpectBody parses an expectation of bodies: see check.ParseBody. It can have no holes.
func ExpectBody(s string) (*check.Check, error) {
	if template.HasHoles(s) {
		return nil, errHolesInCheck
	}
	return check.ParseBody(s)
}

// ExpectHeader parses an expectation of headers: see check.ParseHeader. It can have no holes.
func ExpectHeader(s string) (*check.Check, error) {
	if template.HasHoles(s) {
		return nil, errHolesInCheck
	}
	return check.ParseHeader(s)
}

// errHolesInCheck is the fault of a check that looks like a template.
var errHolesInCheck = errors.New("a check is the same for all responses, and has no {{holes}}; " +
	"two braces are regex:[{]{")

// parseStatuses parses the statuses of right responses: 404, "2xx,404" or a list of such.
func parseStatuses(v json.RawMessage) (all []loadplan.Statuses, err error) {
	list := []json.RawMessage{v}
	if v[0] == '[' {
		if err := json.Unmarshal(v, &list); err != nil {
			return nil, err
		}
	}
	for _, one := range list {
		s := string(one)
		if one[0] == '"' {
			if s, err = parseText("expect_status", one); err != nil {
				return nil, err
			}
		}
		some, err := loadplan.ParseStatuses(s)
		if err != nil {
			return nil, fmt.Errorf("expect_status: %w", err)
		}
		all = append(all, some...)
	}
	if all == nil {
		return nil, errors.New(`expect_status names no status; write one, as 404 or "2xx,404", or any`)
	}
	return all, nil
}

// parseExpectations parses one expectation, or a list of them, which may be empty.
func parseExpectations(key string, v json.RawMessage,
	parse func(string) (*check.Check, error)) ([]string, error) {
	list := []json.RawMessage{v}
	if v[0] == '[' {
		if err := json.Unmarshal(v, &list); err != nil {
			return nil, err
		}
	}
	all := []string{} // none is not the same as not said
	var faults []string
	for _, one := range list {
		s, err := parseText(key, one)
		if err != nil {
			return nil, err
		}
		if _, err := parse(s); err != nil {
			faults = append(faults, err.Error())
		}
		all = append(all, s)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s", key, strings.Join(faults, "; and "))
	}
	return all, nil
}
