/**
 * The JSON-RPC gateway: a chain's upstreams behind one address, as one node that does not fail. Start reading at
 * `gateway.ts` (the way of a call) and `schema.ts` (what its processes share).
 */
export {};
