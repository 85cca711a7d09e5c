import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Chain } from '@chainstead/chains';
import { DEFAULT_PRICING_RULES } from '@chainstead/chains/pricing-rules';
import { type Address, type ChainId, type Hash, parseChainId, toQuantity, ZERO_HASH } from '@chainstead/core';

/** A JSON-RPC call as the node received it. */
export interface Received {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Calls in the HTTP request; 1 if it was not a batch. */
  readonly batch: number;
}

/** A scripted response: a JSON-RPC error, a result, a whole HTTP response, or no response. */
export type Scripted =
  | { readonly error: { readonly code?: number; readonly message: string; readonly data?: unknown } }
  | { readonly result: unknown }
  | {
      readonly http: {
        readonly status: number;
        readonly body: string;
        readonly headers?: Record<string, string>;
      };
    }
  | 'hang'
  | 'disconnect';

/** Called for every call; undefined lets the node respond truthfully. */
export type Script = (call: Received) => Scripted | undefined | Promise<Scripted | undefined>;

/** A node of a made-up chain over real HTTP. Its script makes it fail or return wrong data. */
export interface ScriptedNode {
  readonly url: string;
  /** host:port, its name in the pool. */
  readonly name: string;
  readonly received: Received[];
  readonly bodies: string[];
  /** Requests without a response yet whose client is still connected. */
  open: number;
  head: number;
  script: Script;
  /** If false, refuses batches as clients without batch support do. */
  batches: boolean;
  count(method: string): number;
  close(): Promise<void>;
}

/** topic0 of every log of a scripted chain. */
export const TOPIC = `0x${'dd'.repeat(32)}` as Hash;
/** A topic that no log has. */
export const OTHER_TOPIC = `0x${'ee'.repeat(32)}` as Hash;
/** The contract that emits every log. */
export const TOKEN = `0x${'aa'.repeat(20)}` as Address;

/** The chain that scripted nodes serve. `logsIn` and `fork` change the content of its blocks. */
export interface ScriptedChain {
  /** Logs with TOPIC in a block. Default: one. */
  readonly logsIn?: (block: number) => number;
  /** Topics after the first of a block's logs. Default: two. */
  readonly argumentsIn?: (block: number) => readonly string[];
  /** Bloom of a block's header. Default: the empty bloom. */
  readonly bloomIn?: (block: number) => string;
  /** Another branch from this block on. */
  readonly fork?: { readonly from: number; readonly name: string };
  readonly chainId?: number;
}

/** Starts on a free port. */
export async function startScriptedNode(head: number, chain: ScriptedChain = {}): Promise<ScriptedNode> {
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  const node: ScriptedNode = {
    url: '',
    name: '',
    received: [],
    bodies: [],
    open: 0,
    head,
    script: () => undefined,
    batches: true,
    count: (method) => node.received.filter((call) => call.method === method).length,
    close: () => stop(server),
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    node.bodies.push(text);
    node.open++;
    response.once('close', () => node.open--);
    const body: unknown = JSON.parse(text);
    const isBatch = Array.isArray(body);
    const calls = (isBatch ? body : [body]) as { id: number; method: string; params: unknown[] }[];
    if (isBatch && !node.batches) {
      reply(
        response,
        200,
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'invalid request' } }),
      );
      return;
    }
    const answers: unknown[] = [];
    for (const { id, method, params } of calls) {
      const call = { method, params, batch: calls.length };
      node.received.push(call);
      const scripted = await node.script(call);
      if (scripted === 'hang') return;
      if (scripted === 'disconnect') {
        response.socket?.destroy();
        return;
      }
      if (scripted !== undefined && 'http' in scripted) {
        reply(response, scripted.http.status, scripted.http.body, scripted.http.headers);
        return;
      }
      answers.push({ jsonrpc: '2.0', id, ...(scripted ?? truth(node, chain, method, params)) });
    }
    reply(response, 200, JSON.stringify(isBatch ? answers : answers[0]));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(node, {
    url: `http://127.0.0.1:${port}/v2/secret-key-0123456789`,
    name: `127.0.0.1:${port}`,
  });
}

function reply(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function truth(node: ScriptedNode, chain: ScriptedChain, method: string, params: readonly unknown[]): object {
  if (method === 'eth_chainId') return { result: toQuantity(chain.chainId ?? 1) };
  if (method === 'eth_blockNumber') return { result: toQuantity(node.head) };
  if (method === 'eth_getBlockByNumber')
    return { result: block(node, chain, toNumber(node, params[0]), params[1] === true) };
  if (method === 'eth_getBlockByHash') {
    const number = numberOf(params[0]);
    return {
      result: blockHash(chain, number) === params[0] ? block(node, chain, number, params[1] === true) : null,
    };
  }
  if (method === 'eth_getBlockReceipts') {
    const at = params[0];
    const number = typeof at === 'string' && at.length === 66 ? numberOf(at) : toNumber(node, at);
    return { result: number > node.head ? null : receipts(chain, number) };
  }
  if (method === 'eth_getTransactionReceipt') {
    const number = numberOf(params[0]);
    return { result: receipts(chain, number).find((receipt) => receipt.transactionHash === params[0]) ?? null };
  }
  if (method === 'eth_getLogs') {
    const filter = params[0] as LogFilter;
    return {
      result: logsOf(chain, Number(filter.fromBlock), Math.min(node.head, Number(filter.toBlock)), filter),
    };
  }
  return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
}

function toNumber(node: ScriptedNode, at: unknown): number {
  if (at === 'latest') return node.head;
  if (at === 'finalized') return Math.max(0, node.head - 10);
  return Number(at);
}

/** Returns a block hash. Hashes start with the block number, so that a node finds blocks and transactions by hash. */
export function blockHash(chain: ScriptedChain, number: number): Hash {
  const branch = chain.fork !== undefined && number >= chain.fork.from ? chain.fork.name : '';
  return numberedHash(`block ${branch}`, number);
}

function numberedHash(seed: string, number: number): Hash {
  if (number < 0) return ZERO_HASH;
  const digest = createHash('sha256').update(`${seed}:${number}`).digest('hex');
  return `0x${number.toString(16).padStart(12, '0')}${digest.slice(0, 52)}` as Hash;
}

function numberOf(hash: unknown): number {
  return typeof hash === 'string' ? Number.parseInt(hash.slice(2, 14), 16) : -1;
}

function block(node: ScriptedNode, chain: ScriptedChain, number: number, full: boolean): unknown {
  if (number > node.head || number < 0) return null;
  const hashes = receipts(chain, number).map((receipt) => receipt.transactionHash);
  return {
    number: toQuantity(number),
    hash: blockHash(chain, number),
    parentHash: blockHash(chain, number - 1),
    timestamp: toQuantity(1_700_000_000 + number * 12),
    logsBloom: chain.bloomIn?.(number) ?? `0x${'00'.repeat(256)}`,
    receiptsRoot: `0x${'11'.repeat(32)}`,
    transactions: full ? hashes.map((hash) => ({ hash, type: '0x2' })) : hashes,
  };
}

interface ReceiptJson {
  readonly transactionHash: Hash;
  readonly logs: readonly Record<string, unknown>[];
}

const LOGS_PER_TRANSACTION = 3;

/** One transaction for every three logs, and at least one in blocks with an even number. */
function receipts(chain: ScriptedChain, number: number): ReceiptJson[] {
  const logs = chain.logsIn?.(number) ?? 1;
  const count = Math.max(number % 2 === 0 ? 1 : 0, Math.ceil(logs / LOGS_PER_TRANSACTION));
  return Array.from({ length: count }, (_, index) => {
    const transactionHash = numberedHash(`tx ${index} ${blockHash(chain, number)}`, number);
    const from = index * LOGS_PER_TRANSACTION;
    const inside = Math.max(0, Math.min(LOGS_PER_TRANSACTION, logs - from));
    return {
      transactionHash,
      transactionIndex: toQuantity(index),
      blockHash: blockHash(chain, number),
      blockNumber: toQuantity(number),
      type: '0x2',
      status: '0x1',
      cumulativeGasUsed: toQuantity(21_000 * (index + 1)),
      logs: Array.from({ length: inside }, (_unused, position) => ({
        address: TOKEN,
        topics: [TOPIC, ...(chain.argumentsIn?.(number) ?? [`0x${'00'.repeat(31)}01`, `0x${'00'.repeat(31)}02`])],
        data: `0x${(from + position).toString(16).padStart(64, '0')}`,
        blockNumber: toQuantity(number),
        blockHash: blockHash(chain, number),
        transactionHash,
        transactionIndex: toQuantity(index),
        logIndex: toQuantity(from + position),
        removed: false,
      })),
    };
  });
}

interface LogFilter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly topics?: readonly (readonly string[] | null)[];
  readonly address?: string[];
}

/** Returns the logs that a truthful node returns. */
export function logsOf(
  chain: ScriptedChain,
  from: number,
  to: number,
  filter: { topics?: readonly (readonly string[] | null)[]; address?: string[] } = {},
): Record<string, unknown>[] {
  const logs: Record<string, unknown>[] = [];
  const [topics, ...positions] = filter.topics ?? [];
  if (topics !== undefined && topics !== null && !topics.includes(TOPIC)) return logs;
  if (filter.address !== undefined && !filter.address.includes(TOKEN)) return logs;
  for (let number = from; number <= to; number++)
    for (const receipt of receipts(chain, number))
      logs.push(...receipt.logs.filter((log) => matches(log.topics as readonly string[], positions)));
  return logs;
}

function matches(topics: readonly string[], positions: readonly (readonly string[] | null)[]): boolean {
  return positions.every((wanted, index) => {
    const topic = topics[index + 1];
    return topic !== undefined && (wanted === null || wanted.includes(topic));
  });
}

/** Returns a chain with id 1 and default properties. */
export function testChain(changes: Partial<Chain> = {}): Chain {
  const id: ChainId = parseChainId(1);
  return {
    id,
    key: 'eth',
    name: 'Ethereum',
    aliasIds: [],
    apiNames: ['eth'],
    gatewaySlug: null,
    confirmations: 12,
    reorgDepthMax: 64,
    finalizedTag: true,
    blockTimeMs: 12_000,
    pollIntervalMs: 20,
    native: { name: 'Ether', symbol: 'ETH', decimals: 18, isEther: true },
    bridgedEther: null,
    wrappedNative: null,
    multicall3: null,
    rpcUrls: [],
    receiptsRoot: 'ethereum',
    bloom: 'committed',
    headerHash: true,
    uncommitted: 'none',
    proofPolicy: 'strict',
    hasUncles: false,
    erc20Exclusions: [],
    rangeBarriers: [],
    firstBlock: 0,
    internalTransactions: false,
    cryptoPunks: null,
    unindexedNfts: [],
    marketplaces: [],
    exchanges: [],
    etherPrice: { feed: null, pools: [] },
    tokenFeeds: [],
    dollarTokens: [],
    pricing: DEFAULT_PRICING_RULES,
    trustedHooks: [],
    transactions: { mode: 'off', input: 'full', verifiesSenders: true },
    logs: 'off',
    internalTransfers: 'off',
    swaps: 'off',
    nftTrades: false,
    nftPrices: false,
    ...changes,
  };
}
