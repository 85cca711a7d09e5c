/**
 * The door to a chain's nodes: a pool of JSON-RPC upstreams with health, failover, adaptive getLogs ranges and checked
 * answers, and the parsers from JSON-RPC to core types. Imports core and chains. Start reading at upstream-pool.ts (the
 * contract) and create-upstream-pool.ts (how it is put together).
 */

export { countCalls, countUpstreamCalls, LATENCY_BOUNDS_MS, type UpstreamCallCounts } from './count-upstream-calls.ts';
export * from './create-upstream-pool.ts';
export {
  isAnswerOfCall,
  NoUpstreamError,
  RequestAbortedError,
  RpcCallError,
  UpstreamsExhaustedError,
} from './errors.ts';
export type { ForwardingPool, RawCall, RawResult } from './forwarding-pool.ts';
export type { KnownBlock } from './node-check/check-head.ts';
export { askChainId, checkNode } from './node-check/check-node.ts';
export { parseBlock, parseHeader } from './parse-block.ts';
export { MalformedAnswerError, parseLogs } from './parse-log.ts';
export { parseReceipt } from './parse-receipt.ts';
export { placeLogs, repeatsIndexes } from './place-logs.ts';
export type { PoolLimits } from './pool-limits.ts';
export { nameUpstreams } from './redact-secrets.ts';
export type { CallLimits, CallPace, CallSlots } from './shares/call-limits.ts';
export { createCallSlots, createLocalLimits, createTokenBucket, type Limiter } from './shares/limiters.ts';
export { splitLimit } from './shares/split-limit.ts';
export { standardHeader, standardTransaction } from './standard-form.ts';
export * from './upstream-pool.ts';
