import { isOutage } from './database-outage.ts';

/**
 * Returns the log level of a failure that is retried. {@link openDatabase} logs an outage once, so failures caused by
 * it are logged at `debug`.
 * @param otherwise the level of all other failures
 */
export function failureLevel<Level extends 'warn' | 'error' = 'warn'>(
  error: unknown,
  otherwise?: Level,
): Level | 'warn' | 'debug' {
  return isOutage(error) ? 'debug' : (otherwise ?? 'warn');
}
