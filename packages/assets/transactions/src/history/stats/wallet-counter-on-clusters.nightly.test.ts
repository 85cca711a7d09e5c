/** Counts of very busy wallets on a Citus cluster, with their rows on several nodes. */

import { createChainRegistry } from '@chainstead/chains';
import { systemClock, waitingAtMost } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, findCitus, type ScratchCitus, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Happening, openWritten } from '../testing/written-rows.ts';
import { createWalletCounter } from './wallet-counter.ts';

const programs = await findCitus('counts of wallets on a cluster');
const eth = createChainRegistry().get('eth');
const [ALICE, BOB] = [addressOf(0xa11ce), addressOf(0xb0b)] as const;
const KINDS = ['account', 'internal', 'token', 'nft', 'approval'] as const;
const TIMEOUT_MS = 180_000;

describe.runIf(programs !== undefined)('counts of wallets on a cluster', () => {
  let cluster: ScratchCitus;
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    if (programs === undefined) throw new Error('There is no Citus');
    cluster = await programs.createCluster();
    scratch = await cluster.createDatabase({ distributed: true });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await scratch?.drop();
    await cluster?.remove();
  });

  test('are those of the rows, by what is kept and by what has come since', { timeout: TIMEOUT_MS }, async () => {
    const { database } = scratch;
    const written = await openWritten(database, eth);
    const counter = createWalletCounter({
      ...{ database, projections: createSubjectProjections(database), clock: systemClock },
      ...{ rowsPerRequest: 10, rowsPerRange: 6 },
    });
    const happenings = (from: number, to: number): Happening[] =>
      Array.from({ length: to - from + 1 }, (_, at) => from + at).flatMap((block) =>
        KINDS.map((kind, place) => ({
          ...{ kind, block, index: place % 3, log: place, items: 2 },
          ...(block % 2 === 0 ? { from: ALICE, to: BOB } : { from: BOB, to: ALICE }),
        })),
      );
    const check = async (): Promise<void> => {
      for (const wallet of [ALICE, BOB])
        expect([wallet, await waitingAtMost(60_000, () => counter.count(eth, wallet))]).toEqual([
          wallet,
          written.expected(wallet),
        ]);
    };
    const projections = async (): Promise<number> =>
      (await database.query<{ rows: number }>(sql`SELECT count(*) AS rows FROM wallet_counts`))[0]?.rows ?? 0;
    await written.add(happenings(1, 20));
    await check();
    const before = await projections();
    expect(before).toBeGreaterThan(10);
    await written.add(happenings(30, 31));
    await written.add([{ kind: 'token', block: 7, index: 2, log: 9, from: BOB, to: ALICE, items: 1 }]);
    expect(await projections()).toBe(before - 2);
    await check();
    await written.cut(12);
    await check();
  });
});
