import { addressBytes, joinSql, rawSql, type SqlValue, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { type CollectionsStage, eth, openCollectionsStage, WALLET } from './testing/collections-stage.ts';
import { contractOf, seedNftCoverage, seedWalletRange } from './testing/seeded-holdings.ts';

const [A, B, C] = [contractOf(0xaa), contractOf(0xbb), contractOf(0xcc)];

const stage = stageOfFile(openCollectionsStage);
beforeEach(() => stage.empty());

const get: CollectionsStage['get'] = (...given) => stage.get(...given);
const histories = () =>
  stage.scratch.database.query<{ kind: string; status: string; subject: Buffer; requestedBy: string | null }>(
    sql`SELECT kind, status, subject, requested_by FROM backfill_requests ORDER BY subject`,
  );

async function setHistory(columns: Readonly<Record<string, SqlValue>>): Promise<void> {
  const assignments = Object.entries(columns).map(([name, value]) => sql`${rawSql(name)} = ${value}`);
  await stage.scratch.database.query(sql`UPDATE backfill_requests SET ${joinSql(assignments)}`);
}

describe('status', () => {
  test.each<
    [
      string,
      readonly (readonly [number, number])[],
      readonly (readonly [number, number])[],
      string,
      string | null,
    ]
  >([
    ['the chain covers all', [[0, 100]], [], 'SYNCED', '0'],
    ['the chain begins later', [[1, 100]], [], 'SYNCING', '1'],
    ['the wallet’s history joins the chain', [[50, 100]], [[0, 49]], 'SYNCED', '0'],
    ['the wallet’s history overlaps the chain', [[50, 100]], [[0, 70]], 'SYNCED', '0'],
    [
      'the wallet’s history contains what the chain covers',
      [
        [30, 40],
        [90, 100],
      ],
      [[0, 95]],
      'SYNCED',
      '0',
    ],
    ['a block is missing between them', [[50, 100]], [[0, 48]], 'SYNCING', '50'],
    [
      'a block is missing in the chain',
      [
        [0, 60],
        [62, 100],
      ],
      [[0, 30]],
      'SYNCING',
      '62',
    ],
    [
      'the wallet fills the chain’s gaps',
      [
        [10, 20],
        [40, 100],
      ],
      [
        [0, 9],
        [21, 39],
      ],
      'SYNCED',
      '0',
    ],
    ['only the wallet is covered', [], [[0, 100]], 'SYNCING', '0'],
    ['nothing is covered', [], [], 'SYNCING', null],
  ])('where %s', async (_what, chainRanges, walletRanges, status, from) => {
    for (const [first, last] of chainRanges) await seedNftCoverage(stage.scratch.database, eth, first, last);
    for (const [first, last] of walletRanges)
      await seedWalletRange(stage.scratch.database, eth, WALLET, first, last);
    await seedWalletRange(stage.scratch.database, eth, contractOf(7), 0, 100);
    const answer = await get();
    expect([answer.status, answer.indexed.from_block, answer.indexed.complete]).toEqual([
      status,
      from,
      status === 'SYNCED',
    ]);
    expect(await histories()).toHaveLength(status === 'SYNCED' ? 0 : 1);
  });

  test('while it can’t be counted what the wallet holds, nothing is complete, and no history is read for it', async () => {
    await seedNftCoverage(stage.scratch.database, eth, 0, 100);
    await stage.scratch.database.query(sql`ALTER INDEX nft_transfers_by_sender RENAME TO not_there`);
    const answer = await get();
    expect([answer.status, answer.status_message, answer.indexed.complete]).toEqual([
      'SYNCING',
      'What this wallet holds is being counted from the transfers that are indexed',
      false,
    ]);
    expect(await histories()).toEqual([]);
    await stage.scratch.database.query(sql`ALTER INDEX not_there RENAME TO nft_transfers_by_sender`);
    expect((await get()).status).toBe('SYNCED');
  });

  test('the first of many requests has the history read, in the name of its key', async () => {
    await seedNftCoverage(stage.scratch.database, eth, 50, 100);
    const answers = await Promise.all(Array.from({ length: 8 }, () => get()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['SYNCING']));
    expect(
      answers.filter(({ status_message }) => status_message === 'Reading the history of this wallet has begun'),
    ).toHaveLength(1);
    expect(await histories()).toEqual([
      { kind: 'wallet', status: 'pending', subject: addressBytes(WALLET), requestedBy: 'config:1' },
    ]);
  });

  test('says how far the reading is', async () => {
    await get();
    expect((await get()).status_message).toBe('The history of this wallet is being read');
    await setHistory({ status: 'running', calls_estimated: 40, calls_made: 12 });
    expect((await get()).status_message).toBe(
      'The history of this wallet is being read: 12 of about 40 node calls made',
    );
    await setHistory({ status: 'pending', due_at: new Date(Date.now() + 600_000) });
    expect((await get()).status_message).toMatch(/can still be reorganised/);
    await setHistory({
      status: 'failed',
      error_code: 'UPSTREAMS_EXHAUSTED',
      error_message: 'https://secret.example',
    });
    expect((await get()).status_message).toBe(
      'Reading the history of this wallet has failed and will be tried again',
    );
  });

  test('of a refused history says what it would take', async () => {
    await get();
    const message = 'It would take about 12000 node calls; ON_DEMAND_MAX_CALLS allows 500';
    await setHistory({ status: 'refused', calls_estimated: 12_000, error_message: message });
    const answer = await get();
    expect([answer.status, answer.status_message]).toEqual([
      'SYNCING',
      `The history of this wallet is not read. ${message}`,
    ]);
    expect(await histories()).toMatchObject([{ status: 'refused' }]);
  });

  test('begins a finished history again where blocks are missing since', async () => {
    await get();
    await setHistory({ status: 'done' });
    expect((await get()).status_message).toMatch(/can still be reorganised/);
    await setHistory({ updated_at: new Date(Date.now() - 60_000) });
    expect((await get()).status_message).toBe('Reading the history of this wallet has begun');
    expect(await histories()).toMatchObject([{ status: 'pending' }]);
  });

  test('of more wallets than a key may have waiting says so, and queues no more', async () => {
    for (const wallet of [A, B]) await get('', wallet);
    const answer = await get('', C);
    expect([answer.status, answer.status_message]).toEqual([
      'SYNCING',
      expect.stringContaining('This key has reached its limit of wallet backfills in progress'),
    ]);
    expect(await histories()).toHaveLength(2);
  });

  test('of a chain whose wallet history nobody reads, or where it is off, queues nothing', async () => {
    expect((await get('?chain=base')).status_message).toBe('This server does not index Base');
    expect((await get('?chain=base', WALLET, stage.withoutHistories)).status_message).toContain(
      'ON_DEMAND_MAX_CALLS=0',
    );
    expect(await histories()).toEqual([]);
  });
});
