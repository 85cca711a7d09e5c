import type { Block, BlockHeader, BlockRange, ChainId, Hash, Log, Receipt } from '@chainstead/core';

export interface UpstreamConfig {
  /** An `http(s)` endpoint carries every call; a `ws(s)` one only announces heads. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: unlimited. */
  readonly requestsPerSecond?: number;
  /** In flight. @default 16 */
  readonly concurrency?: number;
  /** Must never receive other users' transactions. */
  readonly isPrivate?: boolean;
}

export interface Answer<T> {
  readonly value: T;
  readonly upstream: string;
}

/** A block of the indexed chain, which an upstream must have too. */
export type ChainMark = Pick<BlockHeader, 'number' | 'hash'>;

export type Head = Pick<BlockHeader, 'number' | 'hash' | 'parentHash' | 'timestamp'>;

export interface RequestOptions {
  readonly exclude?: ReadonlySet<string>;
  readonly only?: string;
  readonly minBlock?: number;
  /** Gives way to head reads. @default false */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Calls a second upstream after the first one's p95 latency. @default off */
  readonly hedge?: boolean;
  /** Uses the first available upstream: for data that differs (pending transactions). */
  readonly sticky?: boolean;
}

export interface LogsQuery {
  readonly range: BlockRange;
  readonly topics: readonly Hash[];
  /** Topics 1 to 3; null: any. A trailing null means that the log has this topic (EIP-721). */
  readonly indexed?: readonly (readonly Hash[] | null)[];
  readonly addresses?: readonly string[];
}

export interface LogsOptions extends RequestOptions {
  /** @default unlimited */
  readonly bytesMax?: number;
  /** Counts calls as they are made. Above `max`, a range of several blocks ends. @default not counted */
  readonly counted?: { readonly max: number; made: number };
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
  readonly chain: string;
  readonly upstream: string;
  readonly kind: FaultKind;
  readonly method: string;
  readonly text: string;
  /** Unix milliseconds. */
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
  /** Epoch milliseconds of its last head; null: none yet. */
  readonly headAt: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly requests: number;
  readonly learnedRate: number | null;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly capabilities: {
    readonly blockReceipts: boolean | null;
    readonly batch: boolean | null;
    readonly traces: 'debug' | 'parity' | null;
    /** Learned; null: none known. */
    readonly logRangeMax: number | null;
    readonly logTimestamps: boolean | null;
  };
  readonly lastError: { readonly at: number; readonly method: string; readonly text: string } | null;
}

export interface WholeBlockOptions extends RequestOptions {
  readonly transactions?: boolean;
  /** @default PoolLimits.blockBytesMax */
  readonly bytesMax?: number;
  /** The block first, then its receipts: together, they would exceed a response. @default false */
  readonly isLarge?: boolean;
}

/** Every call to a chain's nodes: chosen by health, retried on others, adapted to limits. */
export interface UpstreamPool {
  readonly chainId: ChainId;
  /** A public list of the chain contains every block that it returns. @default false */
  readonly isCanonical?: boolean;
  /** @throws NoUpstreamError if every upstream is refused */
  start(): Promise<void>;
  /** @throws UpstreamsExhaustedError (retryable), RpcCallError for an error of the call */
  request(method: string, params: readonly unknown[], options?: RequestOptions): Promise<Answer<unknown>>;
  /** In order, null after others were tried. For methods whose errors no contract writes. */
  requestMany(
    method: string,
    params: readonly (readonly unknown[])[],
    options?: RequestOptions,
  ): Promise<Answer<unknown>[]>;
  /** The best head whose block an upstream returns. */
  getHead(options?: RequestOptions): Promise<Answer<Head>>;
  /** Null if there is no such tag. */
  getFinalized(options?: RequestOptions): Promise<number | null>;
  /** Resolves once it differs from `after`. */
  waitForHead(after: Head | null, signal: AbortSignal): Promise<Answer<Head>>;
  /** Null only if every upstream that reached the height lacks it. */
  getBlock(
    at: number | Hash,
    options?: RequestOptions & { readonly transactions?: boolean },
  ): Promise<Answer<Block> | null>;
  getHeaders(numbers: readonly number[], options?: RequestOptions): Promise<Answer<BlockHeader>[]>;
  getReceipts(block: Block, options?: RequestOptions): Promise<Answer<readonly Receipt[]>>;
  /** @throws BlockTooLargeError */
  getWholeBlock(
    at: number | Hash,
    options?: WholeBlockOptions,
  ): Promise<Answer<{ block: Block; receipts: readonly Receipt[] }> | null>;
  /** @param options.bytesMax, options.counted for several blocks @throws RangeTooLargeError, BlockTooLargeError */
  getLogs(query: LogsQuery, options?: LogsOptions): Promise<LogsAnswer>;
  estimateLogCalls(query: Omit<LogsQuery, 'range'>, ranges: readonly BlockRange[]): number;
  /** Its chain id is asked again. */
  reportFault(upstream: string, kind: FaultKind, facts: Readonly<Record<string, unknown>>): void;
  /** Asks for the chain id, and for the mark. Until it returns both, the upstream is excluded. */
  checkChain(upstream: string, mark: ChainMark | null): Promise<void>;
  status(): UpstreamStatus[];
  close(): Promise<void>;
}
