package store

import (
	"crypto/sha256"
	"database/sql"
	"fmt"

	"dyno/internal/engine/loadplan"
)

// An examined is a series of one measure. The index has the state in which it was last examined and
// had no change but the published ones: to look for changes takes longer than all else that a list
// does, and most series are as they were at the last one.
type examined struct{ plan, machine, metric string }

func (s *Series) examinedKey() examined { return examined{s.Plan, s.Machine, s.Metric.Name} }

// stateDigest covers all on which it depends whether a series has changes that are not published:
// the results, the published changes, and how changes are found.
func (s *Series) stateDigest() string {
	sum := sha256.New()
	fmt.Fprintln(sum, loadplan.Version, changeLeast, changeAlpha, changeMargin, changeLongest)
	for _, c := range s.Changes {
		fmt.Fprintln(sum, "change", c.ID, c.At().UnixNano())
	}
	for _, r := range s.Runs {
		fmt.Fprintln(sum, r.ID, r.Started.UnixNano(), r.Value)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:16])
}

// examinedSeries are the states of all series in which they were examined.
func examinedSeries(tx *sql.Tx) (map[examined]string, error) {
	rows, err := tx.Query("SELECT plan, machine, metric, state FROM examined")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[examined]string{}
	for rows.Next() {
		var of examined
		var state string
		if err := rows.Scan(&of.plan, &of.machine, &of.metric, &state); err != nil {
			return nil, err
		}
		all[of] = state
	}
	return all, rows.Err()
}

func markExamined(tx *sql.Tx, of examined, state string) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO examined VALUES (?, ?, ?, ?)", of.plan, of.machine,
		of.metric, state)
	return err
}
