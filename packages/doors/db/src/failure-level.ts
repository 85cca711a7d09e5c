import { isOutage } from './database-outage.ts';

/** For a failure that is retried. {@link openDatabase} logs an outage once: failures caused by it are logged at `debug`. */
export function failureLevel<Level extends 'warn' | 'error' = 'warn'>(
  error: unknown,
  otherwise?: Level,
): Level | 'warn' | 'debug' {
  return isOutage(error) ? 'debug' : (otherwise ?? 'warn');
}
