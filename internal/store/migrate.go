package store

import (
	"cmp"
	"database/sql"
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var scripts embed.FS

// A migration changes the schema from the version before to its own, and back.
type migration struct {
	version  int
	up, down string
}

// knownMigrations are the migrations of this version, in order: files N_NAME.up.sql and
// N_NAME.down.sql, from 1 without a gap. Down removes from the index the files whose contents it
// drops, so that they are read again.
func knownMigrations() ([]migration, error) {
	names, err := scripts.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, name := range names {
		base, isUp := strings.CutSuffix(name.Name(), ".up.sql")
		if !isUp {
			continue
		}
		number, _, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number: %w", name.Name(), err)
		}
		up, err := scripts.ReadFile(path.Join("migrations", name.Name()))
		if err != nil {
			return nil, err
		}
		down, err := scripts.ReadFile(path.Join("migrations", base+".down.sql"))
		if err != nil {
			return nil, fmt.Errorf("migration %s cannot be taken back: %w", name.Name(), err)
		}
		all = append(all, migration{version, string(up), string(down)})
	}
	slices.SortFunc(all, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	for i, m := range all {
		if m.version != i+1 {
			return nil, fmt.Errorf("migration %d is missing", i+1)
		}
	}
	return all, nil
}

// migrateTo changes the schema of db to that of all, in one transaction. It reverts the changes of
// a newer dyno by the scripts that the newer one stored, because this version does not know them.
func migrateTo(db *sql.DB, all []migration) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec("CREATE TABLE IF NOT EXISTS migrations " +
		"(version INTEGER PRIMARY KEY, down TEXT NOT NULL)"); err != nil {
		return err
	}
	version, err := migrateDown(tx, len(all))
	if err != nil {
		return err
	}
	for _, m := range all[min(version, len(all)):] {
		if _, err := tx.Exec(m.up); err != nil {
			return fmt.Errorf("migration %d: %w", m.version, err)
		}
		if _, err := tx.Exec("INSERT INTO migrations VALUES (?, ?)", m.version, m.down); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// migrateDown reverts all versions above to, the newest first, and returns the remaining version.
func migrateDown(tx *sql.Tx, to int) (version int, err error) {
	for {
		var script string
		err := tx.QueryRow("SELECT version, down FROM migrations ORDER BY version DESC LIMIT 1").
			Scan(&version, &script)
		if err == sql.ErrNoRows {
			return 0, nil
		}
		if err != nil || version <= to {
			return version, err
		}
		if _, err := tx.Exec(script); err != nil {
			return 0, fmt.Errorf("taking back migration %d: %w", version, err)
		}
		if _, err := tx.Exec("DELETE FROM migrations WHERE version = ?", version); err != nil {
			return 0, err
		}
	}
}
