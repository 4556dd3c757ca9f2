package store

import (
	"database/sql"
	_ "embed"
	"fmt"
	"hash/crc32"
)

//go:embed schema.sql
var schema string

// schemaVersion is what SQLite calls the user version of an index of this schema.
func schemaVersion() int32 { return int32(crc32.ChecksumIEEE([]byte(schema))) }

// makeSchema makes the index anew, empty, if it is of another version. All that is in it is in
// files, from which it is filled again. It does so in one transaction: other processes may use it.
func makeSchema(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int32
	if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == schemaVersion() {
		return nil
	}
	drop, err := selectTexts(tx, `SELECT format('DROP TABLE "%w"', name) FROM sqlite_schema `+
		`WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	if err != nil {
		return err
	}
	for _, statement := range append(drop, schema,
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion())) {
		if _, err := tx.Exec(statement); err != nil {
			return fmt.Errorf("making it anew: %w", err)
		}
	}
	return tx.Commit()
}

// selectTexts is the first column of a query's rows.
func selectTexts(tx *sql.Tx, query string) (all []string, err error) {
	rows, err := tx.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
