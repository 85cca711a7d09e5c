/** Arbitrary pieces of a build of the marks' projections, and the rows to count meanwhile. */
import type { Database } from '@chainstead/db';
import fc from 'fast-check';
import type { Dataset } from '../dataset/dataset.ts';
import { buildProjectionPiece } from '../projections/build-whole.ts';
import { readProjectionRecords, registerProjections } from '../projections/projection-record.ts';
import { retryCommit } from '../rows/commit-retry.ts';
import type { MarkedChain } from './marked-chain.ts';
import { misderived } from './marks-dataset.ts';

export interface Build {
  readonly pieces: number;
  readonly blocks: number;
  /** Whether the process is killed after the last piece, before its commit. */
  readonly killed: boolean;
  /** @default 5 */
  readonly pages?: number;
  /** @default 20 */
  readonly rows?: number;
}

export const someBuild: fc.Arbitrary<Build> = fc.record({
  pieces: fc.integer({ min: 0, max: 3 }),
  blocks: fc.integer({ min: 1, max: 9 }),
  killed: fc.boolean(),
});

class Killed extends Error {}

/** The database of a process that is killed at the end of its transaction. */
function dying(database: Database): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (transaction) => {
        await work(transaction);
        throw new Killed();
      }),
  };
}

export async function build(
  database: Database,
  { chain }: MarkedChain,
  dataset: Dataset,
  { pieces, blocks, killed, pages = 5, rows = 20 }: Build,
): Promise<void> {
  for (let piece = 1; piece <= pieces; piece++) {
    const used = killed && piece === pieces ? dying(database) : database;
    try {
      await retryCommit(() => buildProjectionPiece(used, chain, [dataset], { blocks, rows, pages }));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}

/** Builds all remaining pieces. */
export async function buildAll(database: Database, { chain }: MarkedChain, dataset: Dataset): Promise<void> {
  await registerProjections(database, chain, [dataset]);
  while ((await buildProjectionPiece(database, chain, [dataset], { blocks: 7, rows: 20, pages: 5 })) !== null);
}

/** Returns differences from the rows that each projection should count by now. @param rows see {@link misderived} */
export async function misderivedSoFar(
  database: Database,
  { chain }: MarkedChain,
  rows?: string,
): Promise<string[]> {
  const records = await readProjectionRecords(database, chain.id);
  const countedTo = (name: string): number | null => {
    const progress = records.find(({ state }) => state === name)?.progress;
    if (progress === undefined || progress.status === 'clearing') return null;
    return progress.status === 'built' ? Number.MAX_SAFE_INTEGER : progress.builtTo;
  };
  const counted = { totals: countedTo('mark-totals'), highest: countedTo('mark-highest') };
  return misderived(database, chain.id, counted, rows);
}
