import { APTOS_OPERATIONS } from './aptos-operations.ts';
import { EVM_OPERATIONS } from './evm-operations.ts';
import { STREAM_OPERATIONS } from './stream-operations.ts';
import type { UnservedOperation } from './unserved-operation.ts';

/**
 * Operations of the hosted API that are not served yet: each gets a 501 and is listed at `/docs/not-served`. Remove an
 * operation from the table when a route serves it.
 */
export const UNSERVED_OPERATIONS: readonly UnservedOperation[] = [
  ...EVM_OPERATIONS,
  ...STREAM_OPERATIONS,
  ...APTOS_OPERATIONS,
];
