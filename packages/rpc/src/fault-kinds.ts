import type { FaultKind } from './upstream-pool.ts';

/** These say that the upstream is ill as a whole; the others concern one call. */
export const BREAKING: ReadonlySet<FaultKind> = new Set([
  'timeout',
  'connection',
  'http-status',
  'not-json',
  'malformed',
  'truncated',
  'rpc-error',
]);
/** Lies weigh more than failures. */
export const LIES: ReadonlySet<FaultKind> = new Set([
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
