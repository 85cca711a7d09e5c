/** What is kept of accounts that somebody asked about: how many marks they have, and what these add up to. */
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Dataset, SubjectState } from '../dataset.ts';
import { marks } from './marks-dataset.ts';

/** Beside those of the marks. */
export async function createKeptMarkTables(database: Database): Promise<void> {
  await database.query('CREATE TABLE more_marks (LIKE marks INCLUDING ALL)');
  await database.query(
    'CREATE TABLE kept_marks (account bytea, chain_id bigint, marks bigint NOT NULL, total numeric NOT NULL, PRIMARY KEY (account, chain_id))',
  );
}

export function keptMarks(version: number): SubjectState {
  return {
    name: 'kept-marks',
    version,
    tables: ['kept_marks'],
    subjects: { column: 'account', rowsOf: (account) => [`account = ${account}`], indexes: ['marks_pkey'] },
    added: (rows, kept) => [sums(rows, kept, '+')],
    removed: (rows, kept) => [sums(rows, kept, '-')],
  };
}

function sums(rows: string, kept: string, sign: '+' | '-'): string {
  return `INSERT INTO kept_marks SELECT account, chain_id, ${sign}count(*), ${sign}sum(amount) FROM ${rows} AS changed
     JOIN ${kept} AS kept ON kept.subject = account AND changed.block_number <= kept.built_to GROUP BY account, chain_id ORDER BY account
   ON CONFLICT (account, chain_id) DO UPDATE SET marks = kept_marks.marks + excluded.marks, total = kept_marks.total + excluded.total`;
}

/** The marks with this state. */
export function datasetOf(version: number): Dataset {
  return { ...marks, derived: [keptMarks(version)] } as Dataset;
}

const MORE = { ...marks.table, name: 'more_marks' };

/** Counts what lies in two tables, a part of the marks of a block in each. */
export function splitMarks(version: number): SubjectState {
  const state = keptMarks(version);
  const subjects = { ...state.subjects, indexes: ['marks_pkey', 'more_marks_pkey'] };
  return { ...state, counts: [marks.table, MORE], subjects };
}

/** The two parts. */
export function splitDatasets(version: number): [Dataset, Dataset] {
  const part = (remainder: number, given: object): Dataset =>
    ({
      ...datasetOf(version),
      derived: [splitMarks(version)],
      decode: (logs, context) => marks.decode(logs, context).filter(({ logIndex }) => logIndex % 2 === remainder),
      ...given,
    }) as Dataset;
  return [part(0, {}), part(1, { name: 'more-marks', table: MORE })];
}

/** What differs from what the rows of the kept subjects add up to. */
export async function misKept(database: Database, chainId: number): Promise<string[]> {
  const differences = await database.query<{ difference: string }>(
    `WITH held AS (SELECT account, marks, total FROM kept_marks WHERE chain_id = $1 AND (marks <> 0 OR total <> 0)),
          subjects AS (SELECT subject, coalesce(built_to, 1000000) AS built_to FROM kept_subjects WHERE chain_id = $1 AND NOT is_stale),
          truth AS (SELECT account, count(*), sum(amount) FROM (TABLE marks UNION ALL TABLE more_marks) AS every JOIN subjects ON subject = account AND block_number <= built_to
            WHERE chain_id = $1 GROUP BY account)
     SELECT 'surplus ' || s::text AS difference FROM (TABLE held EXCEPT ALL TABLE truth) AS s
       WHERE s.account NOT IN (SELECT subject FROM kept_subjects WHERE chain_id = $1 AND is_stale)
     UNION ALL SELECT 'missing ' || m::text FROM (TABLE truth EXCEPT ALL TABLE held) AS m`,
    [chainId],
  );
  return differences.map(({ difference }) => difference);
}

/** Who has marks. */
export async function accountsOf(database: Database, chainId: number): Promise<Address[]> {
  const rows = await database.query<{ account: Address }>(
    `SELECT DISTINCT '0x' || encode(account, 'hex') AS account FROM (TABLE marks UNION ALL TABLE more_marks) AS every
      WHERE chain_id = $1 ORDER BY 1`,
    [chainId],
  );
  return rows.map(({ account }) => account);
}
