/** The coordinator of a cluster of Citus is killed in the midst of commits, reorganisations and a reindex: nothing is lost or doubled. */
import { silentLogger, systemClock } from '@chainstead/core';
import { reindexRanges } from '@chainstead/sync/ingest';
import { createSeededRandom } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { expect, it } from 'vitest';
import { countRows, dumpEverything, keepEverything } from './citus-rows.ts';
import { describeOnCitus, followSpread, untilSettled } from './citus-stage.ts';
import { hastyClock } from './indexed-chain.ts';
import { untilIndexed } from './indexed-tables.ts';

const DYING = 'a coordinator that dies while blocks are written';
const TIMEOUT_MS = 240_000;
const KILLS = 3;
const WALLETS = 10;
/** Blocks that are read again below the head. */
const AGAIN = { from: 1, to: 50 };

await describeOnCitus('a distributed database of which the coordinator dies', DYING, (stage) => {
  it('loses nothing and has nothing twice of what was being written', { timeout: TIMEOUT_MS }, async () => {
    const random = createSeededRandom('citus/coordinator');
    const followed = await followSpread(stage, { seed: 47, blocks: 80, wallets: WALLETS, finalityDepth: 12 });
    const { database, chain, facts, indexer } = followed;
    const { coordinator } = stage.cluster;
    await untilIndexed(database, facts, chain);
    await keepEverything(database, facts, 4);

    /** Ends when the blocks are read again, however often it was broken off. */
    const reindex = async (): Promise<number> => {
      const ends = performance.now() + TIMEOUT_MS / 2;
      for (let broken = 0; ; broken++)
        try {
          const { pool, metrics } = indexer;
          const options = {
            chain: facts,
            pool,
            database,
            datasets,
            metrics,
            logger: silentLogger(),
            clock: hastyClock,
          };
          await reindexRanges(
            { ...options, proof: 'strict', backfillProof: 'none' },
            [AGAIN],
            AbortSignal.timeout(60_000),
          );
          return broken;
        } catch (error) {
          if (performance.now() > ends) throw error;
          await systemClock.sleep(200);
        }
    };
    const again = reindex();
    for (let kill = 0; kill < KILLS; kill++) {
      const stopMining = followed.mineOn(random, 0.4);
      await systemClock.sleep(random.integer(400, 1_000));
      // A server that ends immediately with all of its processes, and one whose processes continue for a moment.
      await (kill % 2 === 0 ? coordinator.kill() : coordinator.crash());
      await systemClock.sleep(random.integer(50, 400));
      stopMining();
      await coordinator.restart();
    }
    expect(await again).toBeGreaterThan(0);
    await untilIndexed(database, facts, chain, { proven: true });
    const single = await followed.indexAlone();
    // For those that were kept through all of it, and for those that are kept from now on.
    for (const one of [database, single]) await keepEverything(one, facts);
    const own = await dumpEverything(database, facts);
    const expected = await dumpEverything(single, facts);
    const inexact = inexactTokens(own);
    for (const [table, rows] of Object.entries(expected))
      expect(compared(inexact, own[table] ?? []), table).toEqual(compared(inexact, rows));
    expect(countRows(own).erc20_transfer_sides).toBeGreaterThan(500);
    expect(countRows(own).erc20_wallet_tokens).toBeGreaterThan(WALLETS);
    await untilSettled(database);
  });
});

/** Those whose transfers did not all come in ascending order, as they do in a fresh index: their past is omitted (token-holders.ts). */
function inexactTokens({
  erc20_holder_counts: counts = [],
}: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return counts.flatMap((row) => (row.includes('is_exact=false') ? [/token=\S+/.exec(row)?.[0] ?? ''] : []));
}

/** That nothing is left of something, as after a reorganisation, says no more than no row. */
const IS_NOTHING = / (?:ids_held|amount|supply)=0 /;

function compared(inexact: readonly string[], rows: readonly string[]): readonly string[] {
  const isOfPast = (row: string): boolean =>
    row.includes(' minute=') && inexact.some((token) => row.includes(token));
  return rows
    .filter((row) => !isOfPast(row) && !IS_NOTHING.test(` ${row} `))
    .map((row) => row.replace(/is_exact=\w+ /, ''))
    .toSorted();
}
