import type { Block, BlockHeader, BlockRange, ChainId, Hash, Log, Receipt } from '@chainstead/core';

/** One JSON-RPC endpoint as configured. */
export interface UpstreamConfig {
  readonly url: string;
  /** `http(s)` endpoints carry every call; a `ws(s)` one only announces heads. Derived from the URL. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests a second that the provider allows; unlimited when absent. */
  readonly requestsPerSecond?: number;
  /** Requests in flight at once. Default 16. */
  readonly concurrency?: number;
  /** Private relays never see other people's transactions (gateway). */
  readonly isPrivate?: boolean;
}

/** The result and the upstream (its redacted name) that gave it. */
export interface Answer<T> {
  readonly value: T;
  readonly upstream: string;
}

/** The newest block, as far as it was asked for. */
export interface Head {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** Which upstreams may be asked, and for how long. */
export interface RequestOptions {
  /** Upstreams (names) not to ask, e.g. the one whose answer is in doubt. */
  readonly exclude?: ReadonlySet<string>;
  /** Ask only this upstream. */
  readonly only?: string;
  /** Only upstreams that are known to have reached this block. */
  readonly minBlock?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds for one attempt on one upstream. */
  readonly timeoutMs?: number;
  /** Ask a second upstream after the p95 latency of the first; off by default. */
  readonly hedge?: boolean;
  /** Ask the first upstream that is there, not the best one: for what differs between them, as waiting transactions do. */
  readonly sticky?: boolean;
}

/** Which logs of which blocks. */
export interface LogsQuery {
  readonly range: BlockRange;
  /** Alternatives for topic0. */
  readonly topics: readonly Hash[];
  /**
   * Alternatives for topic 1 to 3, by position; null: anything. A log must have as many topics as positions are named, so
   * that a null at the end tells events with the same topic0 apart (EIP-721's Transfer from EIP-20's).
   */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  readonly addresses?: readonly string[];
}

/** Consecutive logs and which upstream gave which part of the range, in order. */
export interface LogsAnswer {
  readonly logs: readonly Log[];
  readonly sources: readonly { readonly range: BlockRange; readonly upstream: string }[];
  /** eth_getLogs calls that it took, refused ones included. */
  readonly calls: number;
}

/** What an upstream did wrong; counted by kind in metrics and status. */
export type FaultKind =
  | 'timeout'
  | 'connection'
  | 'http-status'
  | 'not-json'
  | 'malformed'
  | 'rpc-error'
  | 'rate-limited'
  | 'unauthorized'
  | 'wrong-chain'
  | 'lagging'
  | 'missing-block'
  | 'head-lie'
  | 'range-limit'
  | 'truncated'
  | 'receipts-root-mismatch'
  | 'header-hash-mismatch'
  | 'transactions-root-mismatch'
  | 'transaction-hash-mismatch'
  | 'missing-logs'
  | 'surplus-logs'
  | 'log-block-hash-mismatch'
  | 'log-index-mismatch'
  | 'balance-mismatch';

/** An answer of an upstream that was found out to be wrong. */
export interface WrongAnswer {
  /** As in `Chain.key`. */
  readonly chain: string;
  readonly upstream: string;
  readonly kind: FaultKind;
  /** `verification` where it was found out later. */
  readonly method: string;
  /** What was wrong, without secrets. */
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** To be told of each of them. Must not throw. */
export type OnWrongAnswer = (answer: WrongAnswer) => void;

/** One upstream as an operator sees it. */
export interface UpstreamStatus {
  readonly name: string;
  readonly state: 'healthy' | 'degraded' | 'open-circuit' | 'disabled';
  /** Why it is disabled or degraded, for the operator. */
  readonly reason: string | null;
  /** 0 (worst) to 1. */
  readonly score: number;
  readonly head: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly capabilities: {
    readonly blockReceipts: boolean | null;
    readonly batch: boolean | null;
    readonly traces: 'debug' | 'parity' | null;
    /** Learnt cap of blocks per getLogs; null while none is known. */
    readonly logRangeMax: number | null;
    readonly logTimestamps: boolean | null;
  };
  readonly lastError: { readonly at: number; readonly method: string; readonly text: string } | null;
}

/**
 * Every call to a chain's nodes goes through its pool. It chooses the upstream by health, retries elsewhere, adapts to
 * limits, and never lets a fault of one upstream reach the caller while another can answer.
 */
export interface UpstreamPool {
  readonly chainId: ChainId;
  /** Checks chain ids and probes capabilities. @throws NoUpstreamError when every upstream is refused, naming each and why. */
  start(): Promise<void>;
  /** Any method. @throws UpstreamsExhaustedError (retryable) after every upstream failed; RpcError when the answer is an error of the call itself. */
  request(method: string, params: readonly unknown[], options?: RequestOptions): Promise<Answer<unknown>>;
  /**
   * One method with many parameters, batched, in the order asked. A null is asked of other upstreams before it is believed. For methods whose
   * errors no contract writes. @throws as request, also where one of the calls is answered with an error
   */
  requestMany(
    method: string,
    params: readonly (readonly unknown[])[],
    options?: RequestOptions,
  ): Promise<Answer<unknown>[]>;
  /** The best head that an upstream can actually serve (its block is asked for, not only its number). */
  getHead(options?: RequestOptions): Promise<Answer<Head>>;
  /** The finalized block's number by tag, or null where the chain or its upstreams have none. */
  getFinalized(options?: RequestOptions): Promise<number | null>;
  /** Resolves to the newest head once it differs from `after`, by subscription or polling. */
  waitForHead(after: Head | null, signal: AbortSignal): Promise<Answer<Head>>;
  /** Null only when every upstream that claims to have reached the height says it does not exist. */
  getBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<Block> | null>;
  /** Headers of many blocks, batched, in the order asked. */
  getHeaders(numbers: readonly number[], options?: RequestOptions): Promise<Answer<BlockHeader>[]>;
  /** All receipts of a block, by eth_getBlockReceipts or one call each; count, order, hashes checked against the block. */
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  /** Block by number and its receipts in as few round trips as can be. */
  getWholeBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<{ block: Block; receipts: readonly Receipt[] }> | null>;
  /** Logs of any range, split to what each upstream allows; each log is inside the range and matches the topics. */
  getLogs(query: LogsQuery, options?: RequestOptions): Promise<LogsAnswer>;
  /**
   * About how many eth_getLogs calls a query would take over these ranges, from what is known of the upstreams and as if
   * few logs matched. No call is made for it.
   */
  estimateLogCalls(query: Omit<LogsQuery, 'range'>, ranges: readonly BlockRange[]): number;
  /** A higher layer found an answer wrong: counted, and the upstream's score falls. */
  reportFault(upstream: string, kind: FaultKind, facts: Readonly<Record<string, unknown>>): void;
  status(): UpstreamStatus[];
  close(): Promise<void>;
}
