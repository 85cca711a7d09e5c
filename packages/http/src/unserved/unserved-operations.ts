import { APTOS_OPERATIONS } from './aptos-operations.ts';
import { EVM_OPERATIONS } from './evm-operations.ts';
import { STREAM_OPERATIONS } from './stream-operations.ts';
import type { UnservedOperation } from './unserved-operation.ts';

/**
 * What of the hosted provider's API is not served yet, on the hosts that this server stands for: each is answered 501 and listed
 * at `/docs/not-served`. An operation leaves the table when a route serves it.
 */
export const UNSERVED_OPERATIONS: readonly UnservedOperation[] = [
  ...EVM_OPERATIONS,
  ...STREAM_OPERATIONS,
  ...APTOS_OPERATIONS,
];
