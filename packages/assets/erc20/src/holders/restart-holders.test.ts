import { type Address, createMetricsRegistry, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, exampleChain, seedBuilt } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { erc20Transfers } from '../transfers/dataset.ts';
import { seedCoverage, seedTransfers } from '../transfers/testing/seeded-wallets.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { holdersCounted, restartHolders } from './count-holders.ts';
import { isExact, storedCounts, storedHolders, storedMinutes } from './testing/stored-holders.ts';

const chain = exampleChain();
const [GOLD, SILVER, ALICE, BOB, MINTER] = [1, 2, 0xa, 0xb, 0xc].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

const scratch = scratchOfFile();

beforeAll(async () => {
  await seedBuilt(scratch.database, chain.id, erc20TokenHolders);
  const transfers = [
    { from: MINTER, to: ALICE, value: 10n, blockNumber: 3 },
    { from: ALICE, to: BOB, value: 10n, blockNumber: 900 },
    { from: MINTER, to: ALICE, value: 4n, blockNumber: 1_800 },
  ];
  await seedTransfers(
    scratch.database,
    chain,
    [GOLD, SILVER].flatMap((token, logIndex) =>
      transfers.map((transfer) => ({ ...transfer, token, transactionIndex: 0, logIndex })),
    ),
  );
  await seedCoverage(scratch.database, chain, 0, 2_000);
});

beforeEach(() =>
  scratch.database.query(
    sql`TRUNCATE subject_projections, erc20_holders, erc20_holder_counts, erc20_holder_minutes`,
  ),
);

const count = (token: Address): Promise<unknown> =>
  waitingAtMost(30_000, () =>
    createSubjectProjections(scratch.database).keep(
      chain,
      { dataset: erc20Transfers, state: erc20TokenHolders },
      token,
    ),
  );

async function keptOf(token: Address) {
  const { database } = scratch;
  const [holders, counts, minutes] = await Promise.all(
    [storedHolders, storedCounts, storedMinutes].map((read) => read(database, chain.id, token)),
  );
  return { holders, counts, minutes, isExact: await isExact(database, chain.id, token) };
}

/** Returns the counting progress of each token. */
async function standings(): Promise<Readonly<Record<string, unknown>>> {
  const rows = await scratch.database.query<{ token: string; standing: unknown }>(
    sql`SELECT '0x' || encode(subject, 'hex') AS token, json_build_array(built_to, is_stale) AS standing FROM subject_projections`,
  );
  return Object.fromEntries(rows.map(({ token, standing }) => [token, standing]));
}

// Invariant: BALANCE-HOLDERS
test('figures are not told of a token that is counted anew meanwhile', async () => {
  // Never used: no block is committed.
  const pool = createUpstreamPool({
    ...{ chain, upstreams: [{ url: 'http://127.0.0.1:9' }] },
    ...{ logger: silentLogger(), metrics: createMetricsRegistry() },
  });
  try {
    const context = { chain, pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
    const figures = () => holdersCounted.read(context, { token: GOLD }, AbortSignal.timeout(10_000));
    expect(await count(GOLD)).toBe('built');
    expect(await figures()).toMatchObject({ holders: 2, supply: '0' });
    await restartHolders(scratch.database, chain, GOLD);
    await expect(figures()).rejects.toThrow(StateUnavailableError);
  } finally {
    await pool.close();
  }
});

describe('the holders of a token whose history came in another order than it happened', () => {
  it('are counted anew, minutes too, by whoever asks next', async () => {
    expect(await count(GOLD)).toBe('built');
    const right = await keptOf(GOLD);
    expect(right.isExact).toBe(true);
    expect(right.minutes).not.toEqual([]);
    await scratch.database.query(sql`UPDATE erc20_holder_counts SET is_exact = false`);
    await scratch.database.query(sql`DELETE FROM erc20_holder_minutes`);
    await restartHolders(scratch.database, chain, GOLD);
    expect(await standings()).toEqual({ [GOLD]: [-1, true] });
    expect(await count(GOLD)).toBe('built');
    expect(await keptOf(GOLD)).toEqual(right);
  });

  it('are not begun anew while they are being counted, nor those of other tokens', async () => {
    await Promise.all([count(GOLD), count(SILVER)]);
    await scratch.database.query(
      sql`UPDATE subject_projections SET built_to = 900 WHERE subject = ${addressBytes(GOLD)}`,
    );
    await restartHolders(scratch.database, chain, GOLD);
    expect(await standings()).toEqual({ [GOLD]: [900, false], [SILVER]: [null, false] });
    await restartHolders(scratch.database, exampleChain({ id: 137 }), SILVER);
    expect((await standings())[SILVER]).toEqual([null, false]);
    await restartHolders(scratch.database, chain, SILVER);
    expect(await standings()).toEqual({ [GOLD]: [900, false], [SILVER]: [-1, true] });
  });
});
