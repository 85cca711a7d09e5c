import type { Block, BlockHeader, BlockRange, ChainId, Hash, Log, Receipt } from '@chainstead/core';

/** One configured JSON-RPC endpoint. */
export interface UpstreamConfig {
  readonly url: string;
  /** `http(s)` endpoints carry every call; a `ws(s)` one only announces heads. Derived from the URL. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests per second that the provider allows. Absent: unlimited. */
  readonly requestsPerSecond?: number;
  /** Requests in flight. Default: 16. */
  readonly concurrency?: number;
  /** Whether it is a private relay. It must never receive other users' transactions (gateway). */
  readonly isPrivate?: boolean;
}

/** The result and the redacted name of the upstream that returned it. */
export interface Answer<T> {
  readonly value: T;
  readonly upstream: string;
}

/** The newest block: number, hash and time. */
export interface Head {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** The upstreams that may be used, and the time limits. */
export interface RequestOptions {
  /** Names of upstreams to skip, for example the one whose response is in doubt. */
  readonly exclude?: ReadonlySet<string>;
  /** Use only this upstream. */
  readonly only?: string;
  /** Use only upstreams known to have reached this block. */
  readonly minBlock?: number;
  /** Whether block reads give way to reads for the head. @default false */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
  /** Timeout of one attempt on one upstream, milliseconds. */
  readonly timeoutMs?: number;
  /** Call a second upstream after the p95 latency of the first. Default: off. */
  readonly hedge?: boolean;
  /**
   * Use the first available upstream, not the best: for data that differs between upstreams, such as pending
   * transactions.
   */
  readonly sticky?: boolean;
}

/** A log query by blocks, topics and addresses. */
export interface LogsQuery {
  readonly range: BlockRange;
  /** Alternatives for topic0. */
  readonly topics: readonly Hash[];
  /**
   * Alternatives for topics 1 to 3, by position; null: any. A log must have at least as many topics as positions given,
   * so a trailing null distinguishes events with the same topic0 (EIP-721's Transfer from EIP-20's).
   */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  readonly addresses?: readonly string[];
}

export interface LogsOptions extends RequestOptions {
  /** @default unlimited */
  readonly bytesMax?: number;
}

/** Consecutive logs, and the upstream of each part of the range, in order. */
export interface LogsAnswer {
  readonly logs: readonly Log[];
  readonly sources: readonly { readonly range: BlockRange; readonly upstream: string }[];
  /** Number of eth_getLogs calls, including refused ones. */
  readonly calls: number;
}

/** A kind of upstream fault, counted in metrics and status. */
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

/** A response of an upstream that proved wrong. */
export interface WrongAnswer {
  /** `Chain.key`. */
  readonly chain: string;
  readonly upstream: string;
  readonly kind: FaultKind;
  /** `verification` if it was detected later. */
  readonly method: string;
  /** The error, without secrets. */
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Called for each wrong response. Must not throw. */
export type OnWrongAnswer = (answer: WrongAnswer) => void;

/** The status of one upstream for the operator. */
export interface UpstreamStatus {
  readonly name: string;
  readonly state: 'healthy' | 'degraded' | 'open-circuit' | 'disabled';
  /** Why it is disabled or degraded. */
  readonly reason: string | null;
  /** 0 (worst) to 1. */
  readonly score: number;
  readonly head: number | null;
  /** When it last returned its head, epoch milliseconds; null before the first time. */
  readonly headAt: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly requests: number;
  /** Calls per second of this process that refusals of the upstream taught; null: none. */
  readonly learnedRate: number | null;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly capabilities: {
    readonly blockReceipts: boolean | null;
    readonly batch: boolean | null;
    readonly traces: 'debug' | 'parity' | null;
    /** Learned cap of blocks per getLogs call; null if none is known. */
    readonly logRangeMax: number | null;
    readonly logTimestamps: boolean | null;
  };
  readonly lastError: { readonly at: number; readonly method: string; readonly text: string } | null;
}

/**
 * The pool that every call to a chain's nodes goes through. It chooses the upstream by health, retries on others,
 * adapts to limits, and hides the fault of one upstream as long as another can respond.
 */
export interface UpstreamPool {
  readonly chainId: ChainId;
  /**
   * Checks chain ids and probes capabilities.
   * @throws NoUpstreamError if every upstream is refused, with the reason of each
   */
  start(): Promise<void>;
  /**
   * Calls any method.
   * @throws UpstreamsExhaustedError (retryable) after every upstream failed; RpcCallError for an error of the call
   * itself
   */
  request(method: string, params: readonly unknown[], options?: RequestOptions): Promise<Answer<unknown>>;
  /**
   * Calls one method with many parameter lists, batched, and returns results in request order. A null is accepted only
   * after other upstreams were tried. For methods whose errors no contract writes.
   * @throws as request, also if one of the calls returns an error
   */
  requestMany(
    method: string,
    params: readonly (readonly unknown[])[],
    options?: RequestOptions,
  ): Promise<Answer<unknown>[]>;
  /** Returns the best head that an upstream can serve (its block is requested, not only its number). */
  getHead(options?: RequestOptions): Promise<Answer<Head>>;
  /** Returns the number of the finalized block by tag; null if the chain or its upstreams have none. */
  getFinalized(options?: RequestOptions): Promise<number | null>;
  /** Resolves to the newest head once it differs from `after`, by subscription or polling. */
  waitForHead(after: Head | null, signal: AbortSignal): Promise<Answer<Head>>;
  /** Returns null only if every upstream that reports to have reached the height lacks the block. */
  getBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<Block> | null>;
  /** Returns the headers of many blocks, batched, in request order. */
  getHeaders(numbers: readonly number[], options?: RequestOptions): Promise<Answer<BlockHeader>[]>;
  /**
   * Returns all receipts of a block, with eth_getBlockReceipts or one call each. Count, order and hashes are checked
   * against the block.
   */
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  /**
   * Returns a block and its receipts in as few round trips as possible. What one response can't hold is read one by
   * one.
   * @param options.bytesMax limit for callers that hold several blocks. @default PoolLimits.blockBytesMax
   * @throws BlockTooLargeError
   */
  getWholeBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean; readonly bytesMax?: number },
  ): Promise<Answer<{ block: Block; receipts: readonly Receipt[] }> | null>;
  /**
   * Returns the logs of any range, split to each upstream's limit. Each log is inside the range and matches the topics.
   * @param options.bytesMax limit for a range of several blocks, which bounds the memory of the result
   * @throws RangeTooLargeError above that limit; BlockTooLargeError
   */
  getLogs(query: LogsQuery, options?: LogsOptions): Promise<LogsAnswer>;
  /**
   * Estimates the eth_getLogs calls of a query over these ranges from learned limits, as if few logs matched. Makes no
   * call.
   */
  estimateLogCalls(query: Omit<LogsQuery, 'range'>, ranges: readonly BlockRange[]): number;
  /** Reports a response that a higher layer found wrong. It is counted, and the upstream's score falls. */
  reportFault(upstream: string, kind: FaultKind, facts: Readonly<Record<string, unknown>>): void;
  status(): UpstreamStatus[];
  close(): Promise<void>;
}
