import type { Block, BlockHeader, BlockRange, ChainId, Hash, Log, Receipt } from '@chainstead/core';

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

export interface Answer<T> {
  readonly value: T;
  readonly upstream: string;
}

export type Head = Pick<BlockHeader, 'number' | 'hash' | 'parentHash' | 'timestamp'>;

export interface RequestOptions {
  readonly exclude?: ReadonlySet<string>;
  readonly only?: string;
  readonly minBlock?: number;
  /** Whether block reads give way to reads for the head. @default false */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Call a second upstream after the p95 latency of the first. Default: off. */
  readonly hedge?: boolean;
  /** Use the first available upstream: for data that differs between upstreams, as pending transactions do. */
  readonly sticky?: boolean;
}

export interface LogsQuery {
  readonly range: BlockRange;
  /** Alternatives for topic0. */
  readonly topics: readonly Hash[];
  /**
   * Alternatives for topics 1 to 3, by position; null: any. A log must have at least as many topics as positions given:
   * a trailing null distinguishes events with the same topic0 (EIP-721's Transfer from EIP-20's).
   */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  readonly addresses?: readonly string[];
}

export interface LogsOptions extends RequestOptions {
  /** @default unlimited */
  readonly bytesMax?: number;
}

export interface LogsAnswer {
  readonly logs: readonly Log[];
  readonly sources: readonly { readonly range: BlockRange; readonly upstream: string }[];
  readonly calls: number;
}

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

export interface WrongAnswer {
  /** `Chain.key`. */
  readonly chain: string;
  readonly upstream: string;
  readonly kind: FaultKind;
  /** `verification` if it was detected later. */
  readonly method: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Must not throw. */
export type OnWrongAnswer = (answer: WrongAnswer) => void;

export interface UpstreamStatus {
  readonly name: string;
  readonly state: 'healthy' | 'degraded' | 'open-circuit' | 'disabled';
  readonly reason: string | null;
  /** 0 (worst) to 1. */
  readonly score: number;
  readonly head: number | null;
  /** When it last returned its head, epoch milliseconds; null before the first time. */
  readonly headAt: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly requests: number;
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

/** Every call to a chain's nodes goes through it. It chooses upstreams by health, retries on others and adapts to limits. */
export interface UpstreamPool {
  readonly chainId: ChainId;
  /** @throws NoUpstreamError if every upstream is refused, with the reason of each */
  start(): Promise<void>;
  /** @throws UpstreamsExhaustedError (retryable) after every upstream failed; RpcCallError for an error of the call */
  request(method: string, params: readonly unknown[], options?: RequestOptions): Promise<Answer<unknown>>;
  /**
   * Returns results in request order. A null is accepted only after other upstreams were tried.
   * For methods whose errors no contract writes. Throws as request, also if one of the calls returns an error.
   */
  requestMany(
    method: string,
    params: readonly (readonly unknown[])[],
    options?: RequestOptions,
  ): Promise<Answer<unknown>[]>;
  /** The best head whose block an upstream returns, not only its number. */
  getHead(options?: RequestOptions): Promise<Answer<Head>>;
  /** Null if the chain or its upstreams have no such tag. */
  getFinalized(options?: RequestOptions): Promise<number | null>;
  /** Resolves to the newest head once it differs from `after`, by subscription or polling. */
  waitForHead(after: Head | null, signal: AbortSignal): Promise<Answer<Head>>;
  /** Returns null only if every upstream that reports to have reached the height lacks the block. */
  getBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<Block> | null>;
  getHeaders(numbers: readonly number[], options?: RequestOptions): Promise<Answer<BlockHeader>[]>;
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  /**
   * In as few round trips as possible. What one response can't hold is read one by one.
   * @param options.bytesMax limit for callers that hold several blocks. @default PoolLimits.blockBytesMax
   * @throws BlockTooLargeError
   */
  getWholeBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean; readonly bytesMax?: number },
  ): Promise<Answer<{ block: Block; receipts: readonly Receipt[] }> | null>;
  /**
   * Any range is split to each upstream's limit.
   * @param options.bytesMax limit for a range of several blocks, which bounds the memory of the result
   * @throws RangeTooLargeError above that limit; BlockTooLargeError
   */
  getLogs(query: LogsQuery, options?: LogsOptions): Promise<LogsAnswer>;
  /** Estimates eth_getLogs calls from learned limits, as if few logs matched. Makes no call. */
  estimateLogCalls(query: Omit<LogsQuery, 'range'>, ranges: readonly BlockRange[]): number;
  reportFault(upstream: string, kind: FaultKind, facts: Readonly<Record<string, unknown>>): void;
  status(): UpstreamStatus[];
  close(): Promise<void>;
}
