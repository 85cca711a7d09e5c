/** Limits of a pool. Every queue, wait and response has one. Names with `Ms`: milliseconds. */
export interface PoolLimits {
  readonly attemptTimeoutMs: number;
  /** For one getLogs or trace attempt. */
  readonly heavyTimeoutMs: number;
  /** A repeatable call goes to a second upstream if the first is silent for at least this long. */
  readonly hangMinMs: number;
  /** Rounds over all available upstreams before giving up. Rounds lost only to throttling don't count. */
  readonly rounds: number;
  /** No new attempt starts after this. */
  readonly deadlineMs: number;
  readonly backOffBaseMs: number;
  readonly backOffMaxMs: number;
  /** Largest response, bytes after decompression. */
  readonly responseBytesMax: number;
  /** Bytes of a block read in parts, half of it event data. The heap of an ingest process must hold one such block. */
  readonly blockBytesMax: number;
  /** Requests in flight per upstream if its configuration sets none. */
  readonly concurrency: number;
  /** The same for forwarded client calls, in addition. */
  readonly forwardConcurrency: number;
  /** Most forwarded calls that wait for an upstream; further ones are refused. */
  readonly forwardWaitingMax: number;
  /** Forwarded responses larger than this are streamed in chunks, bytes. */
  readonly streamFromBytes: number;
  /** Largest streamed response, bytes after decompression. */
  readonly streamBytesMax: number;
  readonly batchSizeMax: number;
  /** Sub-ranges in flight for one getLogs call of the pool. */
  readonly logsConcurrency: number;
  /** Response size that ranges are fitted to. Keeps memory flat if providers have no cap. */
  readonly logsResponseBytes: number;
  /** Bytes of getLogs responses in flight over all calls, estimated from earlier ones. */
  readonly logsBytesInFlight: number;
  /** Blocks of the first getLogs call of a kind, while its density is unknown. */
  readonly logRangeStart: number;
  /** The same for queries with an indexed argument, which match few logs. */
  readonly logRangeStartNarrow: number;
  readonly logRangeMax: number;
  readonly startTimeoutMs: number;
  /** How long start() waits for the others after the first response. */
  readonly startGraceMs: number;
  readonly recheckMs: number;
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
  readonly breakerOpenMaxMs: number;
  /** How long a method counts as unsupported on an upstream. */
  readonly unsupportedMs: number;
}

export const DEFAULT_LIMITS: PoolLimits = {
  attemptTimeoutMs: 15_000,
  heavyTimeoutMs: 45_000,
  hangMinMs: 3_000,
  rounds: 4,
  deadlineMs: 60_000,
  backOffBaseMs: 150,
  backOffMaxMs: 5_000,
  responseBytesMax: 64 * 1024 * 1024,
  blockBytesMax: 96 * 1024 * 1024,
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

export function attemptTimeout(method: string, limits: PoolLimits): number {
  return HEAVY.test(method) ? limits.heavyTimeoutMs : limits.attemptTimeoutMs;
}
