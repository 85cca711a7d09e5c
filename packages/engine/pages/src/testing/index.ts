import { type Database, sql } from '@chainstead/db';

/** As each import does: lists read the labels again. */
export async function reviseLabels(database: Pick<Database, 'query'>): Promise<void> {
  await database.query(
    sql`INSERT INTO list_revisions VALUES ('address_labels', 1) ON CONFLICT (list) DO UPDATE SET revision = list_revisions.revision + 1`,
  );
}

/** The query of a first page, newest rows first, without bounds. */
export const FIRST_PAGE = {
  order: 'DESC',
  after: null,
  pinnedBlock: null,
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
} as const;
