import { createChainRegistry, type ProofPolicy } from '@chainstead/chains';
import { type Clock, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type RecoverSigners, recoverSigners } from '@chainstead/proof/packed-signatures';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';
import {
  type ChainNode,
  createScriptedChain,
  type JsonObject,
  loadRecordedChain,
  type RpcHandler,
  recordedEvmFolder,
  serveChain,
  serveScriptedChain,
  traceMethods,
} from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import type { ProvenBlock } from './proven-block.ts';
import { readWatchedBlock, type WatchedReader } from './read-watched-block.ts';
import type { BlockPart } from './whole-block.ts';

const CHAIN_ID = 31_337;
const strict = createChainRegistry({
  additional: [{ key: 'proven', id: CHAIN_ID, headerHash: true, proofPolicy: 'strict' }],
}).get(CHAIN_ID);
const scripted = createScriptedChain({ seed: 11, chainId: CHAIN_ID, emptyShare: 0, creationShare: 0.3 });
scripted.mine(40);
/** The first block with at least three transactions, one of which creates a contract. */
const told = scripted
  .blocksIn({ from: 1, to: 40 })
  .find(({ scripted: some }) => some.length >= 3 && some.some(({ to }) => to === null));
if (told === undefined) throw new Error('The script has no block with a creation among three transactions');
const { number: NUMBER, transactions: TRUE_TRANSACTIONS, receipts: TRUE_RECEIPTS } = told;
const CREATION = TRUE_TRANSACTIONS.findIndex(({ to }) => to === null);

/** How a node alters what it shows of the block. */
interface Lie {
  readonly transactions?: (transactions: readonly JsonObject[]) => readonly JsonObject[];
  readonly receipts?: (receipts: readonly JsonObject[]) => readonly JsonObject[];
  readonly traces?: (traces: readonly JsonObject[]) => readonly JsonObject[];
}

function altering(handler: RpcHandler | undefined, alter: (result: never) => unknown): RpcHandler {
  return async (params) => {
    const reply = (await handler?.(params)) ?? { result: null };
    return 'result' in reply && reply.result !== null ? { result: alter(reply.result as never) } : reply;
  };
}

async function serve(lie: Lie): Promise<ChainNode> {
  const block = (json: JsonObject): JsonObject =>
    json.number === told?.header.number && lie.transactions !== undefined
      ? { ...json, transactions: lie.transactions(json.transactions as readonly JsonObject[]) }
      : json;
  return serveScriptedChain(scripted, {
    methods: (view, own) =>
      new Map([
        ...[...traceMethods(view)].map(
          ([method, handler]) => [method, altering(handler, lie.traces ?? ((same) => same))] as const,
        ),
        ['eth_getBlockByNumber', altering(own.get('eth_getBlockByNumber'), block)],
        ['eth_getBlockReceipts', altering(own.get('eth_getBlockReceipts'), lie.receipts ?? ((same) => same))],
      ]),
  });
}

/** The pool, which asks this upstream first, whatever it thinks of it. */
function askingFirst(pool: UpstreamPool, only: string): UpstreamPool {
  const first = async <T>(exclude: ReadonlySet<string> | undefined, ask: (how: object) => Promise<T>): Promise<T> => {
    if (exclude !== undefined && exclude.size > 0) return ask({});
    try {
      return await ask({ only });
    } catch {
      // What the pool itself finds wrong sends it to the next one.
      return ask({});
    }
  };
  return {
    ...pool,
    getWholeBlock: (at, options) => first(options?.exclude, (how) => pool.getWholeBlock(at, { ...options, ...how })),
    request: (method, params, options) =>
      first(options?.exclude, (how) => pool.request(method, params, { ...options, ...how })),
  };
}

interface Read {
  readonly block: ProvenBlock | null;
  /** Faults of the node that lies. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Reads the block with the liar first, and a truthful node behind it where there is one. */
async function read(
  lie: Lie,
  parts: readonly BlockPart[],
  others: number,
  policy: ProofPolicy = 'strict',
): Promise<Read> {
  const nodes = await Promise.all([serve(lie), ...Array.from({ length: others }, () => serve({}))]);
  return readFrom(nodes, NUMBER, { chain: strict, policy, parts: new Set(parts) });
}

/** Reads a block from these nodes, the first one first. */
async function readFrom(
  nodes: readonly ChainNode[],
  number: number,
  how: Pick<WatchedReader, 'chain' | 'policy' | 'parts' | 'recoverSigners' | 'rereadClock'>,
): Promise<Read> {
  await using parts = new AsyncDisposableStack();
  for (const node of nodes) parts.defer(() => node.close());
  const logger = silentLogger();
  const upstreams = nodes.map(({ url }) => ({ url }));
  const given = createUpstreamPool({ chain: how.chain, upstreams, logger, metrics: createMetricsRegistry() });
  const pool = parts.adopt(given, (one) => one.close());
  await pool.start();
  const reader = { ...how, logger, pool: askingFirst(pool, pool.status()[0]?.name ?? '') };
  const block = await readWatchedBlock(reader, number, { transactions: false, internalTransfers: false });
  return { block, faults: (pool.status()[0]?.faults ?? {}) as Readonly<Record<string, number>> };
}

const edit = (at: number, changes: object) => (list: readonly JsonObject[]) =>
  list.map((one, index) => (index === at ? { ...one, ...changes } : one));
const STRANGER = `0x${'12'.repeat(20)}`;

/** What a node may tell of the block's transactions instead of the truth. */
const TRANSACTION_LIES: readonly (readonly [string, Lie])[] = [
  ['another value', { transactions: edit(0, { value: '0x1' }) }],
  ['another recipient', { transactions: edit(0, { to: STRANGER }) }],
  ['another nonce', { transactions: edit(1, { nonce: '0x7f' }) }],
  ['another input', { transactions: edit(1, { input: '0xdeadbeef' }) }],
  ['another sender of a creation', { transactions: edit(CREATION, { from: STRANGER }) }],
  ['a field left out', { transactions: edit(0, { gas: undefined }) }],
  ['a type that nobody can check', { transactions: edit(0, { type: '0x76' }) }],
  ['hashes alone', { transactions: (list) => list.map(({ hash }) => hash as never) }],
  ['more gas used', { receipts: edit(0, { gasUsed: '0x1' }) }],
  ['another created contract', { receipts: edit(CREATION, { contractAddress: STRANGER }) }],
  ['another place', { transactions: edit(0, { transactionIndex: '0x2' }) }],
];

/** What contradicts the receipts, so that the whole answer is refused. */
const RECEIPT_LIES: readonly (readonly [string, Lie])[] = [
  ['a transaction left out', { transactions: (list) => list.slice(1) }],
  [
    'a transaction left out with its receipt',
    {
      transactions: (list) => list.slice(0, -1),
      receipts: (list) => list.slice(0, -1),
    },
  ],
  [
    'another outcome',
    { receipts: (list) => edit(0, { status: list[0]?.status === '0x1' ? '0x0' : '0x1', logs: [] })(list) },
  ],
];

describe('the numbers of logs', () => {
  const numbersOf = (block: ProvenBlock | null): number[] => block?.logs.map(({ logIndex }) => logIndex) ?? [];
  const renumbered = (number: (place: number) => string) => (list: readonly JsonObject[]) =>
    list.map((one) => ({
      ...one,
      logs: (one.logs as readonly JsonObject[]).map((log, place) => ({ ...log, logIndex: number(place) })),
    }));

  it.each<[string, Lie]>([
    ['in each transaction', { receipts: renumbered((place) => `0x${place.toString(16)}`) }],
    ['all alike', { receipts: renumbered(() => '0x0') }],
  ])('follow from the proven receipts where the upstream counts %s', async (_what, lie) => {
    const count = TRUE_RECEIPTS.flatMap(({ logs }) => logs as readonly JsonObject[]).length;
    expect(count).toBeGreaterThan(2);
    for (const policy of ['strict', 'record'] as const) {
      const { block, faults } = await read(lie, ['logs', 'transactions'], 0, policy);
      expect(block).toMatchObject({ level: 'receipts', parts: { transactions: { level: 'receipts' } } });
      expect(numbersOf(block)).toEqual(Array.from({ length: count }, (_, place) => place));
      expect(block?.receipts.flatMap(({ logs }) => logs)).toEqual(block?.logs);
      expect(faults).toEqual({ 'log-index-mismatch': 1 });
    }
  });
});

describe('a block whose receipts come without logs at first', () => {
  /** The truth after so many answers. */
  const late = (answers: number): Lie => {
    let left = answers;
    const isTold = ([first]: readonly JsonObject[]): boolean =>
      first?.transactionHash === TRUE_RECEIPTS[0]?.transactionHash;
    return { receipts: (list) => (isTold(list) && left-- > 0 ? list.map((one) => ({ ...one, logs: [] })) : list) };
  };
  const readAgain = async (lie: Lie, policy: ProofPolicy, rereadClock: Clock | undefined) => {
    const nodes = [await serve(lie)];
    return readFrom(nodes, NUMBER, { chain: strict, policy, parts: new Set(['logs']), rereadClock });
  };
  const waits = (): { readonly clock: Clock; readonly slept: number[] } => {
    const slept: number[] = [];
    return { slept, clock: { now: () => 0, sleep: async (ms) => void slept.push(ms) } };
  };

  it.each(['strict', 'record'] as const)(
    'is read again until it proves itself, under the policy %s',
    async (policy) => {
      const { clock, slept } = waits();
      const { block, faults } = await readAgain(late(3), policy, clock);
      expect(block?.level).toBe('receipts');
      expect(block?.logs.length).toBeGreaterThan(0);
      expect(slept).toEqual([100, 200, 400]);
      expect(faults['receipts-root-mismatch']).toBe(1);
    },
  );

  it('is unproven in the end where the upstream stays with it', async () => {
    const { clock, slept } = waits();
    const { block } = await readAgain(late(1_000), 'record', clock);
    expect(block).toMatchObject({ level: 'unproven', reason: 'root-mismatch' });
    expect(slept).toEqual([100, 200, 400, 800, 1_600]);
    await expect(readAgain(late(1_000), 'strict', clock)).rejects.toMatchObject({ code: 'UNPROVEN_BLOCK' });
  });

  it('is read once where nobody waits for it', async () => {
    const { block } = await readAgain(late(1), 'record', undefined);
    expect(block?.level).toBe('unproven');
  });

  it('is not waited for under the policy record where its bloom says that no log is missing', async () => {
    const { clock, slept } = waits();
    const otherStatus = (list: readonly JsonObject[]) => edit(0, { cumulativeGasUsed: '0x1' })(list);
    const { block } = await readAgain({ receipts: otherStatus }, 'record', clock);
    expect(block?.level).toBe('unproven');
    expect(slept).toEqual([]);
  });
});

describe('the transactions of a block', () => {
  it('come from the first upstream where it tells the truth, and are proven', async () => {
    const { block, faults } = await read({}, ['logs', 'transactions'], 0);
    expect(block?.parts.transactions).toEqual({ level: 'receipts', reason: null });
    expect(block?.block.transactions).toEqual(TRUE_TRANSACTIONS);
    expect(faults).toEqual({});
  });

  it.each([...TRANSACTION_LIES, ...RECEIPT_LIES])(
    'come from another upstream where one shows %s',
    async (_what, lie) => {
      const { block, faults } = await read(lie, ['logs', 'transactions'], 1);
      expect(block?.parts.transactions).toEqual({ level: 'receipts', reason: null });
      expect(block?.block.transactions).toEqual(TRUE_TRANSACTIONS);
      expect(block?.receipts.map(({ raw }) => raw.gasUsed)).toEqual(TRUE_RECEIPTS.map(({ gasUsed }) => gasUsed));
      expect(Object.values(faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
  );

  it.each(TRANSACTION_LIES)(
    'are kept from datasets where the only upstream shows %s, and the logs are not',
    async (_what, lie) => {
      const { block } = await read(lie, ['logs', 'transactions'], 0);
      expect(block?.level).toBe('receipts');
      expect(block?.parts.transactions).toMatchObject({ level: 'unavailable', isUnsupported: false });
    },
  );

  it.each(TRANSACTION_LIES)(
    'are unproven under the policy record where the only upstream shows %s',
    async (_what, lie) => {
      const { block } = await read(lie, ['logs', 'transactions'], 0, 'record');
      expect(block?.level).toBe('receipts');
      expect(block?.parts.transactions?.level).toBe('unproven');
      expect(block?.parts.transactions?.reason).toMatch(/^(transaction|receipt)/);
    },
  );

  it('of a sender that differs from the receipt’s are refused; a lie in both is not seen, for no root holds senders', async () => {
    const both = { transactions: edit(0, { from: STRANGER }), receipts: edit(0, { from: STRANGER }) };
    const isCreation = CREATION === 0;
    expect(
      (await read({ transactions: both.transactions }, ['transactions'], 0)).block?.parts.transactions?.level,
    ).toBe('unavailable');
    expect((await read(both, ['transactions'], 0)).block?.parts.transactions?.level).toBe(
      isCreation ? 'unavailable' : 'receipts',
    );
  });

  const folder = recordedEvmFolder();
  /** A real block of signed transactions, which a node alters. */
  const readSigned = async (
    { transactions = (same) => same, receipts = (same) => same }: Lie,
    how: { readonly policy: ProofPolicy; readonly provesSenders: boolean; readonly recoverSigners?: RecoverSigners },
  ): Promise<ProvenBlock | null> => {
    const source = await loadRecordedChain({ folder: folder ?? '', chain: 'arbitrum' });
    const altered = (json: JsonObject): JsonObject => ({
      ...json,
      transactions: transactions(json.transactions as readonly JsonObject[]),
    });
    const node = await serveChain(source, {
      methods: (_view, own) =>
        new Map([
          ['eth_getBlockByNumber', altering(own.get('eth_getBlockByNumber'), altered)],
          ['eth_getBlockReceipts', altering(own.get('eth_getBlockReceipts'), receipts)],
        ]),
    });
    const { provesSenders, ...reading } = how;
    const known = createChainRegistry().get(source.chainId);
    const chain = { ...known, transactions: { mode: 'all' as const, input: 'full' as const, provesSenders } };
    const parts = new Set<BlockPart>(['transactions']);
    return (await readFrom([node], 150_000_000, { ...reading, chain, parts })).block;
  };
  /** Of a type that does not name its sender itself. */
  const isSigned = ({ r, to }: JsonObject): boolean => typeof r === 'string' && r.length > 40 && to !== null;
  const another: Lie = {
    transactions: (list) => list.map((one) => (isSigned(one) ? { ...one, from: STRANGER } : one)),
    receipts: (list) => list.map((one) => (one.to === null || one.type === '0x6a' ? one : { ...one, from: STRANGER })),
  };
  const otherValues: Lie = {
    transactions: (list) => list.map((one) => (isSigned(one) ? { ...one, value: '0x123456' } : one)),
  };
  const elsewhere: RecoverSigners = async (signatures) => recoverSigners(signatures);

  it.runIf(folder !== null).each([
    [true, 'strict', undefined, { level: 'unavailable', reason: 'sender-mismatch' }],
    [true, 'record', undefined, { level: 'unavailable', reason: 'sender-mismatch' }],
    [true, 'strict', elsewhere, { level: 'unavailable', reason: 'sender-mismatch' }],
    [false, 'strict', undefined, { level: 'receipts' }],
  ] as const)(
    'of a sender that did not sign are seen where senders are recovered (%s, policy %s, by %s)',
    async (provesSenders, policy, recover, expected) => {
      const by = recover === undefined ? {} : { recoverSigners: recover };
      const block = await readSigned(another, { policy, provesSenders, ...by });
      expect(block?.level).toBe('receipts');
      expect(block?.parts.transactions).toMatchObject(expected);
    },
  );

  it.runIf(folder !== null)('are not read where those fail who recover senders', async () => {
    const gone: RecoverSigners = () => Promise.reject(new Error('nobody recovers senders'));
    const how = { policy: 'strict', provesSenders: true, recoverSigners: gone } as const;
    await expect(readSigned({}, how)).rejects.toThrow('nobody recovers senders');
  });

  it.runIf(folder !== null)('are refused for their hashes whatever becomes of their senders', async () => {
    const gone: RecoverSigners = () => Promise.reject(new Error('nobody recovers senders'));
    const how = { policy: 'strict', provesSenders: true, recoverSigners: gone } as const;
    const block = await readSigned(otherValues, how);
    expect(block?.parts.transactions).toMatchObject({ level: 'unavailable', reason: 'transaction-hash-mismatch' });
  });

  if (folder === null)
    process.stderr.write('Recorded blocks are not there (../shared/data/evm): unknown types are not tested on them.\n');
  it.runIf(folder !== null).each([
    ['arbitrum', 150_000_000, { level: 'receipts', reason: null }],
    ['base', 100, { level: 'receipts', reason: null }],
    ['tempo-moderato', 6_000_178, { level: 'unproven', reason: 'transaction-encoding' }],
  ] as const)('of a real block of %s are proven where every type is known', async (chain, number, expected) => {
    const source = await loadRecordedChain({ folder: folder ?? '', chain });
    const node = await serveChain(source);
    const known = createChainRegistry().find(source.chainId);
    const added = known === null ? [{ key: 'real', id: source.chainId }] : [];
    const real = createChainRegistry({ additional: added }).get(source.chainId);
    const parts = new Set<BlockPart>(['transactions']);
    const { block, faults } = await readFrom([node], number, { chain: real, policy: 'strict', parts });
    expect(block?.level).toBe('receipts');
    expect(block?.parts.transactions).toEqual(expected);
    expect(faults).toEqual({});
  });
});

const inFrame = (at: number, changes: object) => (list: readonly JsonObject[]) =>
  list.map((one, index) => (index === at ? { ...one, result: { ...(one.result as JsonObject), ...changes } } : one));

describe('the traces of a block', () => {
  const lies: readonly (readonly [string, Lie])[] = [
    ['another sender', { traces: inFrame(0, { from: STRANGER }) }],
    ['another recipient', { traces: inFrame(1, { to: STRANGER }) }],
    ['another value', { traces: inFrame(0, { value: '0x9' }) }],
    ['another input', { traces: inFrame(0, { input: '0x1234' }) }],
    ['another outcome', { traces: (list) => inFrame(0, { error: failed(list[0]) ? undefined : 'reverted' })(list) }],
    ['one too few', { traces: (list) => list.slice(1) }],
    ['one twice', { traces: (list) => [...list, list[0] ?? {}] }],
    ['one of another block', { traces: (list) => [...list, { ...list[0], txHash: `0x${'ab'.repeat(32)}` }] }],
    [
      'those of one transaction under the name of another',
      { traces: ([a, b, ...rest]) => [{ ...a, result: b?.result }, { ...b, result: a?.result }, ...rest] },
    ],
  ];

  it('fit the proven transactions, and no header commits to them', async () => {
    const { block } = await read({}, ['internalTransactions'], 0);
    expect(block?.parts.transactions?.level).toBe('receipts');
    expect(block?.parts.internalTransactions).toEqual({ level: 'not-applicable', reason: null });
    expect(block?.internalTransactions?.every(({ traceAddress }) => traceAddress.length > 0)).toBe(true);
  });

  it.each(lies)('come from another upstream where one shows %s', async (_what, lie) => {
    const truth = await read({}, ['internalTransactions'], 0);
    const { block, faults } = await read(lie, ['internalTransactions'], 1);
    expect(block?.internalTransactions).toEqual(truth.block?.internalTransactions);
    expect(faults.malformed).toBeGreaterThan(0);
  });

  it.each(lies)('are missing, and nothing else is, where the only upstream shows %s', async (_what, lie) => {
    const { block } = await read(lie, ['logs', 'transactions', 'internalTransactions'], 0);
    expect(block?.level).toBe('receipts');
    expect(block?.parts.transactions?.level).toBe('receipts');
    expect(block?.parts.internalTransactions).toMatchObject({ level: 'unavailable', isUnsupported: false });
  });
});

function failed(trace: JsonObject | undefined): boolean {
  return (trace?.result as JsonObject | undefined)?.error !== undefined;
}
