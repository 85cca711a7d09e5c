/** On-demand backfills within the node calls of their API keys. */
import type { Address } from '@chainstead/core';
import { hexText, sql } from '@chainstead/db';
import { createBackfillBudget, createLocalLimits } from '@chainstead/http/server';
import { claimDue } from '@chainstead/jobs';
import type { SubjectKind } from '@chainstead/sync/datasets';
import { isHistoryMissing } from '@chainstead/sync/ingest';
import { DUE_HISTORIES } from '@chainstead/sync/requests';
import { addressOf, createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { nftTransfers } from '../dataset.ts';
import { expectedRows, openHistoryStage, storedRows } from './testing/history-stage.ts';

const scratch = scratchOfFile();
const BLOCKS = 400;
const RANGE_MAX = 10;
/** Filters of a wallet times the ranges that a node allows. */
const CALLS_PER_WALLET = 3 * (BLOCKS / RANGE_MAX);
/** On average of ten seconds; backfills have three quarters. */
const PER_SECOND = 4;
const WINDOW_CALLS = PER_SECOND * 10;
let nextChainId = 977_201;

/** @param rangeKnown the maximum of the pool; a node refuses more than {@link RANGE_MAX} in any case */
async function openStage(rangeKnown = RANGE_MAX, blocks = BLOCKS) {
  const chainId = nextChainId++;
  const sent = new Set<Address>();
  const scripted = createScriptedChain({
    seed: chainId,
    chainId,
    wallets: 12,
    finalityDepth: 0,
    transactionsMax: 2,
  });
  scripted.mine(blocks);
  const node = await serveScriptedChain(scripted, {
    faults: { logLimit: { style: 'geth', maxRange: RANGE_MAX } },
    methods: () =>
      new Map([
        [
          'eth_getTransactionCount',
          ([account]) => ({ result: [...sent].some((one) => one === account) ? '0x1' : '0x0' }),
        ],
      ]),
  });
  onTestFinished(() => node.close());
  const { database } = scratch;
  const shape = { chainId, blocks, firstFollowed: blocks + 1, logRangeMax: rangeKnown };
  const stage = await openHistoryStage(database, { ...shape, served: { scripted, node } });
  onTestFinished(() => stage.close());
  let seconds = 0;
  const budget = createBackfillBudget(createLocalLimits({ now: () => 1e12 + seconds * 1_000 }), PER_SECOND);
  const callsOf = (method: string): number => node.counters.snapshot().calls[method] ?? 0;
  return {
    ...stage,
    sent,
    logCalls: () => callsOf('eth_getLogs'),
    lookCalls: () => callsOf('eth_getTransactionCount') + callsOf('eth_getBalance') + callsOf('eth_getCode'),
    request: (wallet: Address, requestedBy: string, kind: SubjectKind = 'wallet') =>
      stage.request(stage.subject(kind, wallet), { requestedBy }),
    /** A turn, whenever the backfill is due. */
    async turn(wallet: Address, kind: SubjectKind = 'wallet') {
      await database.query(
        sql`UPDATE backfill_requests SET due_at = now() WHERE chain_id = ${chainId} AND due_at > now()`,
      );
      return stage.read(stage.subject(kind, wallet), { budget });
    },
    pass(more: number) {
      seconds += more;
    },
    messageOf: async (wallet: Address) =>
      (
        await database.query<{ code: string | null }>(
          sql`SELECT error_code AS code FROM backfill_requests WHERE chain_id = ${chainId} AND ${hexText('subject')} = ${wallet}`,
        )
      )[0]?.code,
    isMissing: (wallet: Address) =>
      isHistoryMissing(database, {
        ...{ chain: stage.chain, datasets: [nftTransfers], subject: stage.subject('wallet', wallet) },
      }),
  };
}

type Stage = Awaited<ReturnType<typeof openStage>>;

async function untilDone(stage: Stage, wallet: Address): Promise<number> {
  for (let seconds = 0; ; seconds += 1) {
    for (let outcome = 'more'; outcome !== 'waits'; ) {
      outcome = await stage.turn(wallet);
      if (outcome === 'done') return seconds;
    }
    stage.pass(1);
  }
}

const walletOf = ({ wallets }: Stage, place: number): Address => wallets[place] ?? addressOf(place);

// Invariant: FAIR-BACKFILLS
test('a key’s backfills make its calls and no more, and another key’s are read meanwhile', async () => {
  const stage = await openStage();
  const [first, second, other] = [walletOf(stage, 0), walletOf(stage, 1), walletOf(stage, 2)];
  for (const wallet of [first, second, other]) stage.sent.add(wallet);
  await stage.request(first, 'ann');
  await stage.request(second, 'ann');
  for (let outcome = 'more'; outcome === 'more'; ) outcome = await stage.turn(first);
  const made = stage.logCalls();
  expect(made).toBeGreaterThan(WINDOW_CALLS / 2);
  expect(made).toBeLessThanOrEqual(WINDOW_CALLS);
  expect(await stage.turn(second)).toBe('waits');
  expect(stage.logCalls()).toBe(made);
  expect(await stage.messageOf(second)).toBe('CALLS_USED_UP');
  await stage.request(other, 'bob');
  expect(await stage.turn(other)).toBe('more');
  expect(stage.logCalls()).toBeGreaterThan(made);
  expect(await stage.isMissing(first)).toBe(true);
  const seconds = await untilDone(stage, first);
  expect(seconds).toBeGreaterThanOrEqual((CALLS_PER_WALLET - WINDOW_CALLS) / PER_SECOND);
  expect(await stage.isMissing(first)).toBe(false);
  const expected = stage.scripted
    .expectedNftMoves()
    .filter(({ from, to }) => [first, other].some((wallet) => wallet === from || wallet === to));
  expect(expectedRows(expected)).toEqual(
    expect.arrayContaining(await storedRows(scratch.database, stage.chain.id)),
  );
});

test('a first backfill finds out the block range of a node within the calls of one turn', async () => {
  const stage = await openStage(BLOCKS);
  const wallet = walletOf(stage, 0);
  stage.sent.add(wallet);
  await stage.request(wallet, 'gil');
  expect(await stage.turn(wallet)).toBe('more');
  expect(stage.logCalls()).toBeGreaterThan(0);
  // Those until the range is known, and those of a chunk.
  expect(stage.logCalls()).toBeLessThanOrEqual(32 + 16);
  await untilDone(stage, wallet);
  expect(stage.logCalls()).toBeLessThanOrEqual(CALLS_PER_WALLET + 32 + 16);
  const expected = stage.scripted.expectedNftMoves().filter(({ from, to }) => from === wallet || to === wallet);
  expect(await storedRows(scratch.database, stage.chain.id)).toEqual(expectedRows(expected));
});

test('wallets without activity cost one batch at first, and are never shown as complete', async () => {
  const stage = await openStage();
  // It received tokens and never sent a transaction.
  const receiver = walletOf(stage, 0);
  const invented = [receiver, ...Array.from({ length: 9 }, (_, place) => addressOf(7_000 + place))];
  for (const wallet of invented) await stage.request(wallet, 'ann');
  for (const wallet of invented.slice(0, -1)) {
    expect(await stage.turn(wallet)).toBe('done');
    expect(await stage.messageOf(wallet)).toBe('NO_ACTIVITY');
    expect(await stage.isMissing(wallet)).toBe(true);
    stage.pass(2);
  }
  expect(stage.logCalls()).toBe(0);
  expect(stage.lookCalls()).toBe(3 * 9);
  await scratch.database.query(
    sql`UPDATE backfill_requests SET updated_at = now() - interval '1 minute' WHERE chain_id = ${stage.chain.id}`,
  );
  expect(await stage.request(receiver, 'ann')).toBe('requested');
  await untilDone(stage, receiver);
  expect(await stage.isMissing(receiver)).toBe(false);
  const expected = stage.scripted
    .expectedNftMoves()
    .filter(({ from, to }) => receiver === from || receiver === to);
  expect(expected.length).toBeGreaterThan(0);
  expect(await storedRows(scratch.database, stage.chain.id)).toEqual(expectedRows(expected));
  expect(stage.lookCalls()).toBe(3 * 9);
});

test('wallets without activity that a key requests one by one cost a batch each after the first of a day', async () => {
  // A range of which a whole scan takes few turns.
  const stage = await openStage(RANGE_MAX, 80);
  const turns = async (wallet: Address): Promise<void> => {
    await stage.request(wallet, 'dan');
    for (let outcome = 'more'; outcome !== 'done'; stage.pass(10)) outcome = await stage.turn(wallet);
  };
  await turns(addressOf(7_100));
  const first = stage.logCalls();
  expect(first).toBeGreaterThan(0);
  for (let place = 1; place <= 5; place++) await turns(addressOf(7_100 + place));
  expect(stage.logCalls()).toBe(first);
  expect(stage.lookCalls()).toBe(3 * 5);
  // As another chain, whose requests count alike.
  const other = await openStage(RANGE_MAX, 80);
  await other.request(addressOf(7_200), 'dan');
  expect(await other.turn(addressOf(7_200))).toBe('done');
  expect([other.logCalls(), other.lookCalls()]).toEqual([0, 3]);
  await other.request(addressOf(7_201), 'eve');
  expect(await other.turn(addressOf(7_201))).toBe('more');
  expect(other.logCalls()).toBeGreaterThan(0);
});

test('contracts without code cost one call at first, and a contract with code is read', async () => {
  const stage = await openStage();
  const invented = [addressOf(7_300), addressOf(7_301), addressOf(7_302)];
  for (const contract of invented) await stage.request(contract, 'fay', 'contract');
  for (const contract of invented) {
    expect(await stage.turn(contract, 'contract')).toBe('done');
    expect(await stage.messageOf(contract)).toBe('NO_ACTIVITY');
    stage.pass(2);
  }
  expect([stage.logCalls(), stage.lookCalls()]).toEqual([0, invented.length]);
  const collection = stage.subject('contract', stage.collections[0]).address;
  await stage.request(collection, 'fay', 'contract');
  expect(await stage.turn(collection, 'contract')).toBe('more');
  expect(stage.logCalls()).toBeGreaterThan(0);
});

test('a key with many wallets at work lets another key’s contract go first', async () => {
  const stage = await openStage();
  const claim = () =>
    claimDue<{ key: string }>(scratch.database, DUE_HISTORIES, {
      ...{ chainId: stage.chain.id, limit: 1, leaseMs: 60_000, holder: 'a test' },
      returning: sql`work.requested_by AS key`,
    });
  for (let place = 0; place < 20; place++) await stage.request(addressOf(8_000 + place), 'ann');
  expect((await claim()).map(({ row }) => row.key)).toEqual(['ann']);
  const contract = stage.subject('contract', stage.collections[0]);
  await scratch.database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject, requested_by) VALUES (${contract.chainId}, 'contract', decode(${contract.address.slice(2)}, 'hex'), 'bob')`,
  );
  const next = [...(await claim()), ...(await claim())];
  expect(next.map(({ row }) => row.key)).toEqual(['bob', 'ann']);
});
