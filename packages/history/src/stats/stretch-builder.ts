import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type KeptSubjects, lockChainCommits } from '@chainstead/sync';
import { blockBeyond, countRows } from './count-rows.ts';
import { ALL_BLOCKS, forgetStretches, readFollowings, readStretches, saveStretch } from './stretches.ts';

/** Counts stretch after stretch of a wallet, until what is left is few enough for a request. */
export interface StretchBuilder {
  build(chain: Chain, wallet: Address): Promise<void>;
}

export interface StretchBuilderOptions {
  readonly database: Database;
  readonly kept: KeptSubjects;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly rowsPerStretch: number;
}

/** One wallet at a time: each stretch holds up the commits of its chain, which are to have half of the time. */
export function createStretchBuilder(options: StretchBuilderOptions): StretchBuilder {
  const { database, kept, clock, waitMs, rowsPerStretch } = options;
  const running = new Map<string, Promise<void>>();
  let turn: Promise<unknown> = Promise.resolve();

  async function buildAll(chain: Chain, wallet: Address): Promise<void> {
    const { all, lacking } = await readFollowings(database, chain, wallet);
    // What was counted while not all changes were followed may be wrong: it goes before they are.
    if (lacking.length > 0) await forgetStretches(database, chain, wallet);
    for (const following of all) await kept.keep(chain, following, wallet, waitMs);
    for (;;) {
      const started = clock.now();
      if (!(await buildNext(database, chain, wallet, rowsPerStretch))) return;
      await clock.sleep(clock.now() - started);
    }
  }

  return {
    build(chain, wallet) {
      const key = `${chain.id} ${wallet}`;
      const begun = running.get(key);
      if (begun !== undefined) return begun;
      const built = turn.then(() => buildAll(chain, wallet)).finally(() => running.delete(key));
      // Nobody may be left to hear of a failure: the next request tries it again.
      turn = built.catch(() => undefined);
      running.set(key, built);
      return built;
    },
  };
}

/**
 * Counts the next stretch, under the lock of the chain's commits: no row comes or goes while it is counted and written down.
 * @returns whether there was one
 */
function buildNext(database: Database, chain: Chain, wallet: Address, rows: number): Promise<boolean> {
  return database.transaction(async (transaction) => {
    // What a crash of the server loses is counted again.
    await transaction.query('SET LOCAL synchronous_commit = off');
    await lockChainCommits(transaction, chain);
    const { all, lacking } = await readFollowings(transaction, chain, wallet);
    if (all.length === 0 || lacking.length > 0) return false;
    const [gap] = subtractRanges([ALL_BLOCKS], await readStretches(transaction, chain, wallet));
    if (gap === undefined) return false;
    const beyond = await blockBeyond(transaction, chain, wallet, gap, rows);
    if (beyond === null && gap.to === ALL_BLOCKS.to) return false;
    // A block is counted whole, however many rows it has.
    const stretch = { from: gap.from, to: beyond === null ? gap.to : Math.max(gap.from, beyond - 1) };
    const { counts } = await countRows(transaction, chain, wallet, [stretch], ROWS_OF_A_BLOCK);
    await saveStretch(transaction, chain, wallet, { ...stretch, ...counts });
    return true;
  });
}

/** More than there can be. */
const ROWS_OF_A_BLOCK = 2_147_483_646;
