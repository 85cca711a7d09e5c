import type { FaultKind } from '../upstream-pool.ts';

export const BREAKING: ReadonlySet<FaultKind> = new Set([
  'timeout',
  'connection',
  'http-status',
  'not-json',
  'malformed',
  'truncated',
  'rpc-error',
]);
/** Invalid responses weigh more than failures. */
export const INVALID_RESPONSES: ReadonlySet<FaultKind> = new Set([
  'head-lie',
  'receipts-root-mismatch',
  'header-hash-mismatch',
  'transactions-root-mismatch',
  'transaction-hash-mismatch',
  'missing-logs',
  'surplus-logs',
  'log-block-hash-mismatch',
  'balance-mismatch',
  'truncated',
  'malformed',
]);
