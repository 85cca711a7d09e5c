import type { RoleName } from './configuration/index.ts';

/** What a stop waits for. */
const WORK: Readonly<Record<RoleName, string>> = {
  api: 'requests (api)',
  ingest: 'blocks at work (ingest)',
  worker: 'jobs and webhooks (worker)',
};

/** For a person who pressed Ctrl-C and waits. */
export function renderFinishing(roles: readonly RoleName[]): string {
  return `Stopping; still to finish: ${roles.map((role) => WORK[role]).join(', ')}. Ctrl-C again ends at once\n`;
}
