import { ChainsteadError } from '@chainstead/core';
import { EXIT_CODE_FAILED, EXIT_CODE_UNPROVEN, EXIT_CODE_USAGE } from './exit-codes.ts';

const USAGE_CODES: ReadonlySet<string> = new Set([
  'USAGE',
  'CONFIGURATION_INVALID',
  'CONFIGURATION_FILE',
  'CONTRACTS_FILE_INVALID',
  'UNSAFE_BINDING',
  'LISTEN_FAILED',
  'ROLE_FAILED',
  'UNKNOWN_CHAIN',
  'EXPORT_TABLE_UNKNOWN',
  'EXPORT_MANIFEST_MISMATCH',
  'JOBS_REDIS_EVICTS',
  'STANDBYS_OF_CLUSTER',
]);

export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof ChainsteadError && thrown.code === 'PRICE_UNPROVEN') return EXIT_CODE_UNPROVEN;
  return thrown instanceof ChainsteadError && USAGE_CODES.has(thrown.code) ? EXIT_CODE_USAGE : EXIT_CODE_FAILED;
}
