/** A projection of requested accounts: number of marks, and their sum. */
import type { Address } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { address } from '@chainstead/db/column-types';
import { bigint, numeric, pgTable } from 'drizzle-orm/pg-core';
import type { Dataset } from '../dataset/dataset.ts';
import type { SubjectProjection } from '../dataset/projection.ts';
import { defineSums } from '../projections/define-sums.ts';
import { marks, marksTable } from './marks-dataset.ts';

/** Creates tables next to those of the marks. */
export async function createSubjectMarkTables(database: Database): Promise<void> {
  await database.query(sql`CREATE TABLE more_marks (LIKE marks INCLUDING ALL)`);
  await database.query(
    sql`CREATE TABLE subject_marks (account bytea, chain_id bigint, marks bigint NOT NULL, total numeric NOT NULL, PRIMARY KEY (account, chain_id))`,
  );
}

const sums = pgTable('subject_marks', {
  account: address('account').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  marks: bigint('marks', { mode: 'number' }).notNull(),
  total: numeric('total').notNull(),
});

export function subjectMarks(version: number): SubjectProjection {
  return defineSums({
    name: 'subject-marks',
    version,
    source: marksTable,
    table: sums,
    key: ['account', 'chainId'],
    sums: { marks: () => rawSql('1'), total: ({ amount }) => amount },
    subjects: { column: 'account', rowsOf: (account) => [sql`account = ${account}`], indexes: ['marks_pkey'] },
  });
}

/** Returns the marks dataset with this projection. */
export function datasetOf(version: number): Dataset {
  return { ...marks, projections: [subjectMarks(version)] } as Dataset;
}

const MORE = { ...marks.table, name: 'more_marks' };

/** Returns a projection over two tables, each with a part of the marks of a block. */
export function splitMarks(version: number): SubjectProjection {
  const state = subjectMarks(version);
  const subjects = { ...state.subjects, indexes: ['marks_pkey', 'more_marks_pkey'] };
  return { ...state, sources: [marks.table, MORE], subjects };
}

/** Returns the datasets of the two tables. */
export function splitDatasets(version: number): [Dataset, Dataset] {
  const part = (remainder: number, given: object): Dataset =>
    ({
      ...datasetOf(version),
      projections: [splitMarks(version)],
      decode: (logs, context) => marks.decode(logs, context).filter(({ logIndex }) => logIndex % 2 === remainder),
      ...given,
    }) as Dataset;
  return [part(0, {}), part(1, { name: 'more-marks', table: MORE })];
}

/** Returns differences from the rows of the built subjects. */
export async function miscountedMarks(database: Database, chainId: number): Promise<string[]> {
  const differences = await database.query<{ difference: string }>(
    sql`WITH held AS (SELECT account, marks, total FROM subject_marks WHERE chain_id = ${chainId} AND (marks <> 0 OR total <> 0)),
          subjects AS (SELECT subject, coalesce(built_to, 1000000) AS built_to FROM subject_projections WHERE chain_id = ${chainId} AND NOT is_stale),
          truth AS (SELECT account, count(*), sum(amount) FROM (TABLE marks UNION ALL TABLE more_marks) AS every JOIN subjects ON subject = account AND block_number <= built_to
            WHERE chain_id = ${chainId} GROUP BY account)
     SELECT 'surplus ' || s::text AS difference FROM (TABLE held EXCEPT ALL TABLE truth) AS s
       WHERE s.account NOT IN (SELECT subject FROM subject_projections WHERE chain_id = ${chainId} AND is_stale)
     UNION ALL SELECT 'missing ' || m::text FROM (TABLE truth EXCEPT ALL TABLE held) AS m`,
  );
  return differences.map(({ difference }) => difference);
}

/** Returns accounts with marks. */
export async function accountsOf(database: Database, chainId: number): Promise<Address[]> {
  const rows = await database.query<{ account: Address }>(
    sql`SELECT DISTINCT '0x' || encode(account, 'hex') AS account FROM (TABLE marks UNION ALL TABLE more_marks) AS every
      WHERE chain_id = ${chainId} ORDER BY 1`,
  );
  return rows.map(({ account }) => account);
}
