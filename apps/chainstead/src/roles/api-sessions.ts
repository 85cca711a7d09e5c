import type { DatabaseOptions } from '@chainstead/db/server';
import { REQUEST_TIMEOUT_MS } from './api-limits.ts';

/** No statement outlives its request by much. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: String(REQUEST_TIMEOUT_MS),
  lock_timeout: String(REQUEST_TIMEOUT_MS / 2),
  // Compiling takes longer than any page.
  jit: 'off',
};

/** Plans fit all values: pages are index ranges and look-ups, also of tables still small. */
const PLAN_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  random_page_cost: '1.1',
};

/** @param isDistributed Citus can't plan most pages for all values */
export function apiSessions(isDistributed = false): Pick<DatabaseOptions, 'settings' | 'prepared'> {
  return {
    prepared: true,
    settings: isDistributed ? SESSION_SETTINGS : { ...SESSION_SETTINGS, ...PLAN_SETTINGS },
  };
}
