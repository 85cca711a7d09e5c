import { isOutage } from './database-outage.ts';

/**
 * How loudly to tell of work that failed and is tried again. {@link openDatabase} tells an outage once by itself: all that
 * fails because of it is for debugging alone, however often it is tried.
 * @param otherwise the level of all other failures
 */
export function failureLevel<Level extends 'warn' | 'error' = 'warn'>(
  error: unknown,
  otherwise?: Level,
): Level | 'warn' | 'debug' {
  return isOutage(error) ? 'debug' : (otherwise ?? 'warn');
}
