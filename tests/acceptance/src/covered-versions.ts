import { rawSql, sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';
import { waitUntil } from './indexed-chain.ts';

/** As many as are indexed where `APTOS_DATASETS` names all of them. */
const DATASETS = 3;
const PATIENCE_MS = 180_000;
/** Short, so that tests can end a program in the midst of its work. */
const PAUSE_MAX_MS = 20;

/** Waits until so many versions of Aptos are covered by every dataset. */
export async function untilCovered({ database }: ScratchDatabase, versions: number): Promise<void> {
  await waitUntil(
    async () => {
      const [row] = await database.query<{ covered: number }>(
        sql`SELECT min(covered)::bigint AS covered FROM (
         SELECT sum(last_version - first_version + 1) AS covered FROM aptos_ranges GROUP BY dataset) d
       HAVING count(*) = ${rawSql(DATASETS)}`,
      );
      return (row?.covered ?? 0) >= versions ? null : `${row?.covered ?? 0} versions of ${versions} are covered`;
    },
    PATIENCE_MS,
    PAUSE_MAX_MS,
  );
}
