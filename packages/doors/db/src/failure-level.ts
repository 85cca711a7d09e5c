import { isOutage } from './database-outage.ts';

/** {@link openDatabase} logs an outage once: its consequences are `debug`. */
export function failureLevel<Level extends 'warn' | 'error' = 'warn'>(
  error: unknown,
  otherwise?: Level,
): Level | 'warn' | 'debug' {
  return isOutage(error) ? 'debug' : (otherwise ?? 'warn');
}
