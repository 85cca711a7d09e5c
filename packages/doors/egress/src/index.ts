/** The guarded HTTP client for untrusted URLs. Start reading at egress.ts. */
export { createEgress, type Egress, type EgressResponse } from './egress.ts';
export * from './egress-error.ts';
