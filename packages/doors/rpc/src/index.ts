/** Access to a chain's nodes. Start with upstream-pool.ts and create-upstream-pool.ts. */

export {
  BlockTooLargeError,
  isAnswerOfCall,
  isNodeless,
  NoUpstreamError,
  RangeTooLargeError,
  RequestAbortedError,
  RpcCallError,
  UpstreamsExhaustedError,
} from './errors.ts';
export { parseBlock, parseHeader } from './formats/parse-block.ts';
export { MalformedAnswerError, parseLogs, placeLogs, repeatsIndexes } from './formats/parse-log.ts';
export { createReceiptParser, parseReceipt } from './formats/parse-receipt.ts';
export type { ForwardingPool, RawCall, RawResult } from './forwarding-pool.ts';
export { inBackground } from './in-background.ts';
export * from './upstream-pool.ts';
