/** A block of a scripted chain, and nodes that return altered versions of it. */
import { createChainRegistry, type ProofPolicy } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import {
  type ChainNode,
  createScriptedChain,
  type JsonObject,
  type RpcHandler,
  serveScriptedChain,
  traceMethods,
} from '@chainstead/testkit';
import type { BlockPart } from '../dataset/whole-block.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import { readWatchedBlock, type WatchedReader } from '../read/read-watched-block.ts';

const CHAIN_ID = 31_337;
export const strict = createChainRegistry({
  additional: [{ key: 'proven', id: CHAIN_ID, headerHash: true, proofPolicy: 'strict' }],
}).get(CHAIN_ID);
const scripted = createScriptedChain({ seed: 11, chainId: CHAIN_ID, emptyShare: 0, creationShare: 0.3 });
scripted.mine(40);
/** The first block with at least three transactions, one of which creates a contract. */
const reported = scripted
  .blocksIn({ from: 1, to: 40 })
  .find(({ scripted: some }) => some.length >= 3 && some.some(({ to }) => to === null));
if (reported === undefined) throw new Error('The script has no block with a creation among three transactions');
export const { number: NUMBER, transactions: TRUE_TRANSACTIONS, receipts: TRUE_RECEIPTS } = reported;
export const CREATION = TRUE_TRANSACTIONS.findIndex(({ to }) => to === null);

/** Alterations of the block by a node. */
export interface Lie {
  readonly transactions?: (transactions: readonly JsonObject[]) => readonly JsonObject[];
  readonly receipts?: (receipts: readonly JsonObject[]) => readonly JsonObject[];
  readonly traces?: (traces: readonly JsonObject[]) => readonly JsonObject[];
}

export function altering(handler: RpcHandler | undefined, alter: (result: never) => unknown): RpcHandler {
  return async (params) => {
    const reply = (await handler?.(params)) ?? { result: null };
    return 'result' in reply && reply.result !== null ? { result: alter(reply.result as never) } : reply;
  };
}

export async function serve(lie: Lie): Promise<ChainNode> {
  const block = (json: JsonObject): JsonObject =>
    json.number === reported?.header.number && lie.transactions !== undefined
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

/** Returns the pool, changed to use this upstream first regardless of its health. */
function askingFirst(pool: UpstreamPool, only: string): UpstreamPool {
  const first = async <T>(
    exclude: ReadonlySet<string> | undefined,
    ask: (how: object) => Promise<T>,
  ): Promise<T> => {
    if (exclude !== undefined && exclude.size > 0) return ask({});
    try {
      return await ask({ only });
    } catch {
      // Faults that the pool itself detects also lead to the next upstream.
      return ask({});
    }
  };
  return {
    ...pool,
    getWholeBlock: (at, options) =>
      first(options?.exclude, (how) => pool.getWholeBlock(at, { ...options, ...how })),
    request: (method, params, options) =>
      first(options?.exclude, (how) => pool.request(method, params, { ...options, ...how })),
  };
}

export interface Read {
  readonly block: ProvenBlock | null;
  /** Faults of the lying node. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Reads the block from the lying node first, then from truthful ones. */
export async function read(
  lie: Lie,
  parts: readonly BlockPart[],
  others: number,
  policy: ProofPolicy = 'strict',
): Promise<Read> {
  const nodes = await Promise.all([serve(lie), ...Array.from({ length: others }, () => serve({}))]);
  return readFrom(nodes, NUMBER, { chain: strict, policy, parts: new Set(parts) });
}

/** Reads a block from these nodes, the first one first. */
export async function readFrom(
  nodes: readonly ChainNode[],
  number: number,
  how: Pick<WatchedReader, 'chain' | 'policy' | 'parts' | 'storesSender' | 'recoverSigners' | 'rereads'>,
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

export const edit = (at: number, changes: object) => (list: readonly JsonObject[]) =>
  list.map((one, index) => (index === at ? { ...one, ...changes } : one));
