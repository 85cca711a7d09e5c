/** On-demand backfills of the swaps of wallets, over real contracts: the rows of the chain's backfill, in any order. */
import type { Address, BlockRange } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createMarketRoutes } from '@chainstead/markets';
import { swaps } from '@chainstead/markets/datasets';
import { readCoveredBlocks } from '@chainstead/markets/requests';
import { noBackfill } from '@chainstead/markets/testing';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import type { Dataset } from '@chainstead/sync/datasets';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type IndexOfTrades,
  indexFrom,
  openTradedChain,
  REORG_DEPTH,
  storedSwaps,
  type TradedChain,
} from './testing/traded-chain.ts';

interface WalletSwapsBody {
  readonly status: string;
  readonly status_message?: string;
  readonly indexed: { readonly complete: boolean; readonly from_block: string };
  readonly result: readonly unknown[];
}

const CHAIN_ID = 31_901;
const ROUNDS = 6;

let traded: TradedChain;
/** The first indexed block: everything of `openTradedChain` is older. */
let start: number;
let followed: BlockRange;
let reference: ScratchDatabase;

beforeAll(async () => {
  traded = await openTradedChain({ chainId: CHAIN_ID, rounds: ROUNDS, transfers: 110 });
  start = (await traded.head()) + 1;
  await traded.devnet.mine(REORG_DEPTH + 2);
  reference = await createScratchDatabase();
  followed = { from: start, to: await traded.head() };
  const whole = await indexFrom(traded, reference.database, followed);
  await whole.backfill({ from: 0, to: start - 1 });
});
afterAll(async () => {
  await traded?.close();
  await reference?.drop();
});

let scratch: ScratchDatabase;
let index: IndexOfTrades;
let database: Database;

beforeEach(async () => {
  scratch = await createScratchDatabase();
  database = scratch.database;
  index = await indexFrom(traded, database, followed);
  traded.node.received.length = 0;
});
afterEach(() => scratch.drop());

const expectedOf = (account: Address | null) => storedSwaps(reference.database, traded.chain, account);
const storedOf = (account: Address | null) => storedSwaps(database, traded.chain, account);
const callsOf = (method: string) => traded.node.received.filter((call) => call.method === method).length;

/** Reads until the sent transactions are known too. */
async function complete(account: Address): Promise<void> {
  await index.request(account);
  expect(await index.read(account)).toBe('waits');
  expect(await index.searchSent(account)).toBe('done');
  await database.query(sql`UPDATE backfill_requests SET due_at = now() WHERE kind = 'trader'`);
  expect(await index.read(account)).toBe('done');
}

async function stateOf(kind: 'trader' | 'sender') {
  const [row] = await database.query<{ status: string; code: string | null; calls: number }>(
    sql`SELECT status, error_code AS code, calls_made AS calls FROM backfill_requests WHERE chain_id = ${traded.chain.id} AND kind = ${kind}`,
  );
  return row;
}

describe('the swaps of a wallet before the first indexed block', () => {
  test('are found by its transfers, then by the transactions that it sent', async () => {
    const { ann, bob } = traded;
    const [ofAnn, ofBob] = [await expectedOf(ann), await expectedOf(bob)];
    // Three trades of ann per round; bob's are one of his own and one that ann sent.
    expect([ofAnn.length, ofBob.length]).toEqual([3 * ROUNDS, 2 * ROUNDS]);

    await index.request(bob);
    expect(await index.read(bob)).toBe('waits');
    expect(await storedOf(bob)).toEqual(ofBob);
    expect(callsOf('eth_getLogs')).toBe(2);

    // Bob's include those that ann sent for him.
    await index.request(ann);
    expect(await index.read(ann)).toBe('waits');
    expect(await storedOf(ann)).toHaveLength(2 * ROUNDS);
    expect(await index.searchSent(ann)).toBe('done');
    await database.query(sql`UPDATE backfill_requests SET due_at = now() WHERE kind = 'trader'`);
    expect(await index.read(ann)).toBe('done');
    expect(await storedOf(ann)).toEqual(ofAnn);
  });

  test('are complete in the response once both are read', async () => {
    const { ann, chain, pair } = traded;
    await database.query(sql`TRUNCATE pools`);
    const onDemandBackfill = createOnDemandBackfill({
      ...{ chains: [chain], datasets: [swaps as Dataset], maxCalls: 10_000, perKey: 10 },
    });
    const chains = { find: () => chain };
    const api = await exampleApi(database, createMarketRoutes({ ...noBackfill, onDemandBackfill }), { chains });
    const ask = async () => {
      const response = await api.request(`/api/v2.2/wallets/${ann}/swaps?chain=eth`, {
        headers: { 'x-api-key': EXAMPLE_KEY },
      });
      expect(response.status).toBe(200);
      const { status, status_message, indexed, result } = (await response.json()) as WalletSwapsBody;
      return {
        status,
        status_message,
        complete: indexed.complete,
        from: indexed.from_block,
        swaps: result.length,
      };
    };
    const syncing = { status: 'SYNCING', complete: false, from: String(start) };
    expect(await ask()).toEqual({
      ...syncing,
      status_message: 'Reading the history of this wallet has begun',
      swaps: 0,
    });
    expect(await index.read(ann)).toBe('waits');
    await prove(pair.pool);
    const waiting = await ask();
    expect(waiting).toEqual({
      ...{ ...syncing, swaps: ROUNDS },
      status_message:
        'The transfers of this wallet are read. The transactions that it sent are being searched: 0 node calls made',
    });
    expect(await index.searchSent(ann)).toBe('done');
    await database.query(sql`UPDATE backfill_requests SET due_at = now() WHERE kind = 'trader'`);
    expect(await index.read(ann)).toBe('done');
    await prove(pair.pool);
    const done = { status: 'SYNCED', status_message: undefined, complete: true, from: '0', swaps: 2 * ROUNDS };
    expect(await ask()).toEqual(done);
    // Figures of the pool leave these rows out.
    const covered = await readCoveredBlocks(database, chain);
    expect(covered.ranges).toEqual([followed]);
  });

  test.each(['before', 'after'] as const)('are the rows of the chain’s backfill that comes %s', async (order) => {
    const { ann, bob } = traded;
    const all = { from: 0, to: start - 1 };
    if (order === 'before') {
      await index.backfill(all);
      traded.node.received.length = 0;
      await index.request(ann);
      expect(await index.read(ann)).toBe('done');
      // Only the head is read.
      const methods = new Set(traded.node.received.map(({ method }) => method));
      expect(methods.difference(new Set(['eth_blockNumber', 'eth_getBlockByNumber']))).toEqual(new Set());
    } else {
      for (const account of [ann, bob]) await complete(account);
      const rows = await storedOf(null);
      await index.backfill(all);
      expect(await storedOf(null)).toEqual(expect.arrayContaining([...rows]));
    }
    expect(await storedOf(null)).toEqual(await expectedOf(null));
    const pools = (from: Database) => from.query(sql`SELECT pool, status FROM pools ORDER BY pool`);
    expect(await pools(database)).toEqual(await pools(reference.database));
  });

  test('take no more calls than allowed, and continue with a higher limit', async () => {
    const { ann } = traded;
    await index.request(ann, 1);
    expect(await index.read(ann, { maxCalls: 1 })).toBe('refused');
    // The two filters are known before any call.
    expect(await stateOf('trader')).toEqual({ status: 'refused', code: 'HISTORY_REFUSED', calls: 0 });
    expect(await index.request(ann, 1)).toBe('known');
    expect(await index.request(ann, 50)).toBe('requested');
    expect(await index.read(ann, { maxCalls: 50 })).toBe('refused');
    // One piece of a hundred transactions is written before the limit is checked again.
    const calls = callsOf('eth_getLogs') + callsOf('eth_getTransactionReceipt');
    expect(calls).toBe(2 + 100);
    const some = await storedOf(ann);
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(ROUNDS);
    expect(await index.request(ann, 10_000)).toBe('requested');
    expect(await index.read(ann)).toBe('waits');
    expect(await storedOf(ann)).toHaveLength(ROUNDS);
  });

  test('are complete after a worker ends in between', async () => {
    const { ann } = traded;
    const ending = new AbortController();
    let runs = 0;
    const journal = {
      async run<T>(_work: unknown, run: () => Promise<T>): Promise<T> {
        const done = await run();
        runs += 1;
        // The logs, and the first piece.
        if (runs === 2) ending.abort();
        return done;
      },
    };
    await index.request(ann);
    await expect(index.read(ann, { signal: ending.signal, journal })).rejects.toThrow();
    expect(await stateOf('trader')).toMatchObject({ status: 'running' });
    const some = await storedOf(ann);
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(ROUNDS);
    await complete(ann);
    expect(await storedOf(ann)).toEqual(await expectedOf(ann));
  });

  test('of a node without old state stay incomplete, and the reason is named', async () => {
    const { ann, node } = traded;
    const pruned = {
      error: { code: -32_000, message: 'missing trie node 1b3f (path ) state 0x1b3f is not available' },
    };
    node.alter = ({ method }) => (method === 'eth_getTransactionCount' ? pruned : undefined);
    try {
      await index.request(ann);
      expect(await index.read(ann)).toBe('waits');
      expect(await index.searchSent(ann)).toBe('refused');
      await database.query(sql`UPDATE backfill_requests SET due_at = now() WHERE kind = 'trader'`);
      expect(await index.read(ann)).toBe('refused');
    } finally {
      node.alter = () => undefined;
    }
    expect(await stateOf('trader')).toMatchObject({ status: 'refused', code: 'SENT_UNKNOWN' });
    expect(await storedOf(ann)).toHaveLength(ROUNDS);
    // An hour has to pass before the next attempt.
    expect(await index.request(ann)).toBe('known');
  });
});

/** As the worker does; it is tested with the pools. */
async function prove(pool: string): Promise<void> {
  await database.query(
    sql`UPDATE pools SET status = CASE WHEN pool = decode(${pool.slice(2)}, 'hex') THEN 'proven' ELSE 'disproved' END, is_counted = pool = decode(${pool.slice(2)}, 'hex')`,
  );
}

test('blocks that a reorg may replace are read once they are final', async () => {
  const chain = await openTradedChain({ chainId: CHAIN_ID + 1, rounds: 2, transfers: 0 });
  const fresh = await createScratchDatabase();
  const whole = await createScratchDatabase();
  try {
    const { bob } = chain;
    const first = (await chain.head()) + 1;
    const range = { from: first, to: first + REORG_DEPTH + 1 };
    const late = await indexFrom(chain, fresh.database, range);
    await late.request(bob);
    expect(await late.read(bob)).toBe('waits');
    // A round takes six blocks: the second one is not final.
    expect(await storedSwaps(fresh.database, chain.chain, bob)).toHaveLength(2);
    // Takes back the last four blocks, with the trade that ann sent.
    await chain.devnet.reorg(4);
    await chain.devnet.mine(REORG_DEPTH + 2);
    await fresh.database.query(sql`UPDATE backfill_requests SET due_at = now()`);
    await late.read(bob);
    const stored = await storedSwaps(fresh.database, chain.chain, bob);
    expect(stored).toHaveLength(3);
    const all = await indexFrom(chain, whole.database, range);
    await all.backfill({ from: 0, to: first - 1 });
    expect(stored).toEqual(await storedSwaps(whole.database, chain.chain, bob));
  } finally {
    await chain.close();
    await fresh.drop();
    await whole.drop();
  }
});
