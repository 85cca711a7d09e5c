/** Creates pools of upstreams, their limits and their checks: `index.ts` is for those who ask a pool. */
export * from './create-upstream-pool.ts';
export type {
  CallRank,
  ConcurrencyLimiter,
  PoolLimits,
  RateLimiter,
  UpstreamLimits,
} from './limits/call-limits.ts';
export { createLearnedPaces } from './limits/learned-pace.ts';
export { createCallSlots, createTokenBucket, type Limiter, splitLimit } from './limits/limiters.ts';
export { createLocalUpstreamLimits } from './limits/local-limits.ts';
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
