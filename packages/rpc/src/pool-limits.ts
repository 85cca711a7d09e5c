/** Bounds of a pool. Every queue, wait and answer has one. */
export interface PoolLimits {
  /** One attempt on one upstream, milliseconds. */
  readonly attemptTimeoutMs: number;
  /** One getLogs or trace attempt, milliseconds. */
  readonly heavyTimeoutMs: number;
  /** What may be asked twice is asked of a second upstream when the first has been silent for so long at least, milliseconds. */
  readonly hangMinMs: number;
  /** Times that every available upstream is asked before giving up. Rounds lost to throttles alone don't count. */
  readonly rounds: number;
  /** No new attempt starts after this, milliseconds. */
  readonly deadlineMs: number;
  readonly backOffBaseMs: number;
  readonly backOffMaxMs: number;
  /** Bytes of one answer, after decompression. */
  readonly responseBytesMax: number;
  /** Requests in flight per upstream where its configuration says nothing. */
  readonly concurrency: number;
  /** The same for calls that are passed on for others, beside those of this process. */
  readonly forwardConcurrency: number;
  /** Such calls that may wait for an upstream; more are refused. */
  readonly forwardWaitingMax: number;
  /** Answers to such calls that are larger than this are passed on in pieces, bytes. */
  readonly streamFromBytes: number;
  /** Bytes of one answer that is passed on in pieces, after decompression. */
  readonly streamBytesMax: number;
  readonly batchSizeMax: number;
  /** Sub-ranges of one getLogs call of the pool in flight at once. */
  readonly logsConcurrency: number;
  /** Size of a getLogs answer that ranges are fitted to, bytes. Keeps memory flat where providers have no cap. */
  readonly logsResponseBytes: number;
  /** Bytes of getLogs answers in flight at once, over all calls; estimated from those before. */
  readonly logsBytesInFlight: number;
  /** Blocks of the first getLogs of a kind, while its density is unknown. */
  readonly logRangeStart: number;
  /** The same for queries that name an indexed argument, which match few logs. */
  readonly logRangeStartNarrow: number;
  /** Blocks of one getLogs at most, whatever an upstream allows. */
  readonly logRangeMax: number;
  /** How long start() waits for a first upstream, milliseconds. */
  readonly startTimeoutMs: number;
  /** How long start() waits for the others once one answered, milliseconds. */
  readonly startGraceMs: number;
  /** How often an upstream that is out is looked at again, milliseconds. */
  readonly recheckMs: number;
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
  readonly breakerOpenMaxMs: number;
  /** How long a method is thought unsupported on an upstream, milliseconds. */
  readonly unsupportedMs: number;
}

/** Limits that suit public providers and own nodes alike. */
export const DEFAULT_LIMITS: PoolLimits = {
  attemptTimeoutMs: 15_000,
  heavyTimeoutMs: 45_000,
  hangMinMs: 3_000,
  rounds: 4,
  deadlineMs: 60_000,
  backOffBaseMs: 150,
  backOffMaxMs: 5_000,
  responseBytesMax: 64 * 1024 * 1024,
  concurrency: 24,
  forwardConcurrency: 64,
  forwardWaitingMax: 20_000,
  streamFromBytes: 1024 * 1024,
  streamBytesMax: 4 * 1024 * 1024 * 1024,
  batchSizeMax: 100,
  logsConcurrency: 16,
  logsResponseBytes: 8 * 1024 * 1024,
  logsBytesInFlight: 64 * 1024 * 1024,
  logRangeStart: 200,
  logRangeStartNarrow: 10_000,
  logRangeMax: 100_000,
  startTimeoutMs: 15_000,
  startGraceMs: 2_000,
  recheckMs: 5_000,
  breakerFailures: 5,
  breakerOpenMs: 1_000,
  breakerOpenMaxMs: 30_000,
  unsupportedMs: 30 * 60_000,
};

const HEAVY = /^(eth_getLogs|eth_getBlockReceipts|debug_|trace_)/;

/** Milliseconds that one attempt of a method may take. */
export function attemptTimeout(method: string, limits: PoolLimits): number {
  return HEAVY.test(method) ? limits.heavyTimeoutMs : limits.attemptTimeoutMs;
}
