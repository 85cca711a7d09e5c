/** Requested histories from a source that lies in filtered logs: only logs of the query become rows, each once, and none is missing. */
import { type BlockRange, type Hash, mergeRanges } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type BlockSource, createHistorySources } from '@chainstead/sources';
import { openHyperSyncSource, openPortalSource } from '@chainstead/sources/open';
import {
  type ChainSource,
  type JsonObject,
  type SourceBlock,
  type SourceFaultSettings,
  serveHyperSync,
  servePortal,
  TRANSFER_TOPIC,
} from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { createMarkTables, marks, misderived } from '../testing/marks-dataset.ts';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { clearChain } from '../testing/sourced-chain.ts';
import { enqueueHistory } from './enqueue-history.ts';
import type { HistoryOptions } from './history-turn.ts';
import { poolWithSources } from './pool-with-sources.ts';
import { readHistory } from './read-history.ts';

/** More than are read from nodes at once. */
const BLOCKS = 5_100;
const RANGE = { from: 0, to: BLOCKS };
const TURNS_MAX = 5;
const topic = TRANSFER_TOPIC as Hash;
const topicOf = (address: string): Hash => `0x${address.slice(2).padStart(64, '0')}` as Hash;
const ofHistories: Dataset = {
  ...(marks as Dataset),
  histories: {
    ofWallet: (_chain, wallet) => [{ topics: [topic], indexed: [null, [topicOf(wallet)]] }],
    ofContract: (_chain, contract) => [{ topics: [topic], addresses: [contract] }],
  },
};

const scratch = scratchOfFile();
beforeAll(() => createMarkTables(scratch.database));
/** Mined once: that takes longer than the tests. */
const stage = stageOfFile(() =>
  openScriptedStage(scratch.database, 984_001, [ofHistories], { blocks: BLOCKS, finalityDepth: 0 }),
);

type Kind = 'wallet' | 'contract';
type Faults = Partial<SourceFaultSettings>;
type Logs = readonly JsonObject[];

/** The contract and the recipient of two logs of one block, with that block. */
function subjects() {
  const transfers = stage.scripted.expectedTransfers();
  const byPlace = Map.groupBy(transfers, ({ token, blockNumber }) => `${token} ${blockNumber}`);
  const found = byPlace.values().find((some) => some.length > 1 && (some[0]?.blockNumber ?? 0) > BLOCKS / 2);
  const [first] = found ?? [];
  if (first === undefined) throw new Error('The script has no block with two transfers of a token');
  return { contract: first.token, wallet: first.to, block: first.blockNumber };
}

interface Outcome {
  readonly rows: readonly unknown[];
  readonly blocks: readonly unknown[];
  readonly ranges: readonly BlockRange[];
}

/** Removes all rows, and requests the history. */
async function request(kind: Kind, source: BlockSource | null) {
  const { chain, clock, database, logger, pool } = stage;
  await clearChain(database, chain.id);
  const subject = { chainId: chain.id, kind, address: subjects()[kind] } as const;
  await enqueueHistory(database, { subject, requestedBy: null, perKey: 10, maxCalls: 1_000 });
  const sources = source === null ? undefined : createHistorySources({ chain, clock, logger, sources: [source] });
  onTestFinished(() => sources?.close());
  const joined = poolWithSources(pool, sources);
  const options = { ...stage, pool: joined, sources, maxCalls: 1_000, sliceMs: 1e9 };
  return {
    read: (changes: Partial<HistoryOptions> = {}, signal = new AbortController().signal) =>
      readHistory({ ...options, ...changes }, subject, signal),
    /** A failed turn is followed at once. */
    async finish(): Promise<Outcome> {
      for (let turn = 0; (await this.read()) === 'failed'; turn += 1) {
        expect(turn).toBeLessThan(TURNS_MAX);
        await database.query(sql`UPDATE backfill_requests SET due_at = now() WHERE chain_id = ${chain.id}`);
      }
      expect(await misderived(database, chain.id)).toEqual([]);
      return {
        rows: await database.query(
          sql`SELECT account, block_number, log_index, amount, block_hash FROM marks WHERE chain_id = ${chain.id} ORDER BY 2, 3`,
        ),
        blocks: await database.query(
          sql`SELECT block_number, block_hash, block_timestamp FROM blocks WHERE chain_id = ${chain.id} ORDER BY 1`,
        ),
        ranges: mergeRanges((await listSubjectRanges(database, subject)).map(({ range }) => range)),
      };
    },
    uses: () => sources?.statuses()[0]?.uses.logs,
  };
}

const truths = new Map<Kind, Outcome>();

/** The history as nodes give it. */
async function truthOf(kind: Kind): Promise<Outcome> {
  const truth = truths.get(kind) ?? (await (await request(kind, null)).finish());
  truths.set(kind, truth);
  expect(truth.ranges).toEqual([RANGE]);
  expect(truth.rows.length).toBeGreaterThan(20);
  return truth;
}

async function open(
  kind: 'portal' | 'hypersync',
  faults: Faults,
  change = (block: SourceBlock): SourceBlock => block,
): Promise<BlockSource> {
  const { chain, clock, scripted } = stage;
  // Only logs are read: conversions of transactions would take most of the time.
  const served: ChainSource = {
    ...scripted,
    ...{ head: BLOCKS, finalized: BLOCKS, firstBlock: 0 },
    blockAt(number) {
      const block = scripted.blockAt(number);
      return block && change({ ...block, transactions: [] });
    },
  };
  const server = await (kind === 'portal' ? servePortal : serveHyperSync)(served, { faults });
  onTestFinished(() => server.close());
  return (kind === 'portal' ? openPortalSource : openHyperSyncSource)({ url: server.url, chain, clock });
}

const numberOf = ({ header }: JsonObject): unknown => (header as JsonObject).number;
/** Changes the logs of one block. */
const inLogs =
  (change: (logs: Logs) => Logs): (() => Faults) =>
  () => {
    const { block } = subjects();
    const tamper = (line: JsonObject) =>
      numberOf(line) === block ? { ...line, logs: change(line.logs as Logs) } : line;
    return { tamper };
  };
const inFirst = (changes: (log: JsonObject) => JsonObject) =>
  inLogs(([first = {}, ...others]) => [{ ...first, ...changes(first) }, ...others]);
/** Next to the real ones. */
const added = (changes: (log: JsonObject) => JsonObject) =>
  inLogs((logs) => [...logs, ...logs.slice(0, 1).map((log) => ({ ...log, ...changes(log) }))]);
/** Changes the lines of a response; `at` is the place of the block. */
const rewritten = (change: (lines: string[], at: number) => readonly string[]) => (): Faults => {
  const { block } = subjects();
  const at = (lines: readonly string[]) => lines.findIndex((line) => numberOf(JSON.parse(line)) === block);
  return { rewrite: (lines) => (at(lines) < 1 ? lines : change([...lines], at(lines))) };
};

const someHash = `0x${'ab'.repeat(32)}`;
const otherAddress = `0x${'12'.repeat(20)}`;
/** The index of a log that was added. */
const FREE = 9_999;
const otherRecipient = ({ topics }: JsonObject) => [
  ...(topics as readonly string[]).slice(0, 2),
  topicOf(otherAddress),
];

/** Adds logs of another contract and event, by the names of both kinds of source. */
function withForeign([first = {}, ...others]: Logs): Logs {
  const ofContract = { ...first, address: otherAddress, logIndex: FREE, log_index: FREE };
  const ofEvent = { ...first, topics: [someHash], topic0: someHash, logIndex: FREE + 1, log_index: FREE + 1 };
  return [ofEvent, ...others.toReversed(), ofContract, first];
}

// Invariant: SYNC-NO-DUPLICATE
describe.each([
  [
    'portal',
    [
      ['half of a byte', 'contract', inFirst(() => ({ data: '0xabc' })), /portal .*data|portal .*log/i],
      ['a topic of two bytes', 'contract', inFirst(() => ({ topics: ['0x1234'] })), /portal /],
      ['an address of two bytes', 'wallet', inFirst(() => ({ address: '0x1234' })), /portal /],
      ['no place in the block', 'wallet', inFirst(() => ({ logIndex: 'first' })), /portal .*logIndex/],
      ['a log twice', 'contract', inLogs((logs) => [...logs, ...logs]), /portal .*came twice/],
      [
        'a block twice',
        'wallet',
        rewritten((all, at) => all.toSpliced(at, 0, all[at] ?? '')),
        /portal .*awaited/,
      ],
      [
        'blocks out of order',
        'wallet',
        rewritten((all, at) => all.toSpliced(at - 1, 2, all[at] ?? '', all[at - 1] ?? '')),
        /portal .*awaited/,
      ],
      [
        'a block above the range',
        'contract',
        rewritten((all, at) => all.with(at, (all[at] ?? '').replace(/"number":\d+/, '"number":9000'))),
        /portal .*9000/,
      ],
      ['foreign logs, out of order', 'contract', inLogs(withForeign), null],
      [
        'a log of another wallet',
        'wallet',
        added((log) => ({ topics: otherRecipient(log), logIndex: FREE })),
        null,
      ],
    ],
  ],
  [
    'hypersync',
    [
      ['half of a byte', 'contract', inFirst(() => ({ data: '0xabc' })), /hypersync /],
      ['a topic behind a missing one', 'contract', inFirst(() => ({ topic1: null })), /hypersync .*topics/],
      ['a log outside the page', 'wallet', inFirst(() => ({ block_number: 9_000 })), /hypersync .*outside/],
      ['a log of another block', 'wallet', inFirst(() => ({ block_hash: someHash })), /hypersync .*blockHash/],
      [
        'foreign logs, out of order and twice',
        'contract',
        inLogs((logs) => [...withForeign(logs), ...logs]),
        null,
      ],
      [
        'a log of another wallet',
        'wallet',
        added(() => ({ topic2: topicOf(otherAddress), log_index: FREE })),
        null,
      ],
    ],
  ],
] as const)('a %s that sends', (source, lies) => {
  test.each<readonly [string, Kind, () => Faults, RegExp | null]>(lies)(
    '%s of a %s',
    async (_, kind, lie, reason) => {
      const truth = await truthOf(kind);
      const history = await request(kind, await open(source, lie()));
      expect(await history.finish()).toEqual(truth);
      if (reason === null) expect(history.uses()).toMatchObject({ blocks: BLOCKS + 1, failures: 0 });
      else expect(history.uses()).toMatchObject({ failures: 1, reason: expect.stringMatching(reason) });
    },
  );
});

// Invariant: PROOF-SAME-CHAIN
test.each(['portal', 'hypersync'] as const)(
  'a %s of another chain with the same id leaves no gap in a history',
  async (source) => {
    const truth = await truthOf('contract');
    const otherHash = (hash: unknown): `0x${string}` => `0x${'ab'.repeat(4)}${String(hash).slice(10)}`;
    const history = await request(
      'contract',
      await open(source, {}, (block) => {
        const { hash, parentHash } = block.header;
        const header = { ...block.header, hash: otherHash(hash), parentHash: otherHash(parentHash) };
        // It has no log of the contract.
        return { ...block, hash: header.hash, header, receipts: [] };
      }),
    );
    expect(await history.finish()).toEqual(truth);
    expect(history.uses()).toMatchObject({ blocks: 0, reason: expect.stringMatching(/nodes have/) });
  },
);

describe('a process that stops', () => {
  test('while the stream is read, leaves neither a gap nor a repeated row', async () => {
    const truth = await truthOf('wallet');
    const stop = new AbortController();
    const { block } = subjects();
    const tamper = (line: JsonObject): JsonObject => {
      if (numberOf(line) === block) stop.abort(new Error('stopped'));
      return line;
    };
    const history = await request('wallet', await open('portal', { tamper, pageBlocks: 1_000 }));
    await expect(history.read({}, stop.signal)).rejects.toThrow('stopped');
    expect(await history.finish()).toEqual(truth);
    expect(history.uses()).toMatchObject({ failures: 0 });
  });

  test('between two commits, leaves neither a gap nor a repeated row', async () => {
    const truth = await truthOf('contract');
    const stop = new AbortController();
    const { database, chain } = stage;
    const stopping: typeof database = {
      ...database,
      async transaction(work) {
        const result = await database.transaction(work);
        const [row] = await database.query(sql`SELECT FROM marks WHERE chain_id = ${chain.id} LIMIT 1`);
        if (row !== undefined) stop.abort(new Error('stopped'));
        return result;
      },
    };
    const history = await request('contract', await open('portal', {}));
    // A few chunks: the first one, of all blocks, is too large.
    const read = history.read({ database: stopping, chunkBytesMax: 50_000 }, stop.signal);
    await expect(read).rejects.toThrow();
    expect(await history.finish()).toEqual(truth);
  });
});
