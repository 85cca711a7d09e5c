/** Access to a chain's nodes. Start with upstream-pool.ts and create-upstream-pool.ts. */

export * from './create-upstream-pool.ts';
export {
  BlockTooLargeError,
  isAnswerOfCall,
  NoUpstreamError,
  RangeTooLargeError,
  RequestAbortedError,
  RpcCallError,
  UpstreamsExhaustedError,
} from './errors.ts';
export { parseBlock, parseHeader } from './formats/parse-block.ts';
export { MalformedAnswerError, parseLogs } from './formats/parse-log.ts';
export { parseReceipt } from './formats/parse-receipt.ts';
export { placeLogs, repeatsIndexes } from './formats/place-logs.ts';
export type { ForwardingPool, RawCall, RawResult } from './forwarding-pool.ts';
export { inBackground } from './in-background.ts';
export type { CallRank, ConcurrencyLimiter, RateLimiter, UpstreamLimits } from './limits/call-limits.ts';
export { createLearnedPaces } from './limits/learned-pace.ts';
export { createCallSlots, createTokenBucket, type Limiter } from './limits/limiters.ts';
export { createLocalLimits } from './limits/local-limits.ts';
export type { PoolLimits } from './limits/pool-limits.ts';
export { splitLimit } from './limits/split-limit.ts';
export { checkLogs, matchesLog, toExpectation } from './logs/check-logs.ts';
export type { KnownBlock } from './node-check/check-head.ts';
export { checkNode, fetchChainId } from './node-check/check-node.ts';
export type { SampledBlock } from './node-check/check-speed.ts';
export { createRedactor, nameUpstreams } from './redact-secrets.ts';
export {
  countCalls,
  countUpstreamCalls,
  LATENCY_BOUNDS_MS,
  type UpstreamCallCounts,
} from './upstream/count-upstream-calls.ts';
export * from './upstream-pool.ts';
