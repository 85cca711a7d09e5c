/**
 * The guarded HTTP client for untrusted URLs: webhooks, token and NFT metadata, logos. Refuses addresses that
 * are not public, bounds time, size and decompression. Start reading at egress.ts. Imports core only.
 */
export { createEgress, type Egress, type EgressResponse } from './egress.ts';
export * from './egress-error.ts';
