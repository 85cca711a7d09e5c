import { ChainsteadError } from '@chainstead/core';

/** 0: done. */
export const EXIT_CODE_OK = 0;
/** 1: the work failed. */
export const EXIT_CODE_FAILED = 1;
/** 2: the command line or the configuration can't be used; trying again won't help. */
export const EXIT_CODE_USAGE = 2;

/** Errors that only a change of configuration or command line mends. */
const USAGE_CODES: ReadonlySet<string> = new Set([
  'USAGE',
  'CONFIGURATION_INVALID',
  'CONFIGURATION_FILE',
  'UNSAFE_BINDING',
  'LISTEN_FAILED',
  'ROLE_FAILED',
  'UNKNOWN_CHAIN',
  'JOBS_REDIS_EVICTS',
]);

/** The exit code that says best what was thrown. */
export function exitCodeOf(thrown: unknown): number {
  return thrown instanceof ChainsteadError && USAGE_CODES.has(thrown.code) ? EXIT_CODE_USAGE : EXIT_CODE_FAILED;
}
