import { type Database, sql } from '@chainstead/db';
import type { UnknownHead } from '@chainstead/sync/ingest';
import { ROLE_NAMES } from '../configuration/index.ts';

export interface ConnectedProcess {
  readonly name: string;
  /** Null: a Unix socket, or hidden from this database role. */
  readonly address: string | null;
  readonly connections: number;
}

export async function readConnectedProcesses(database: Pick<Database, 'query'>): Promise<ConnectedProcess[]> {
  return database.query<ConnectedProcess>(
    sql`SELECT substr(application_name, length('chainstead ') + 1) AS name, host(client_addr) AS address, count(*)::int AS connections
       FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ ${`^chainstead (${ROLE_NAMES.join('|')})(-[0-9]+)?$`}
      GROUP BY application_name, client_addr ORDER BY application_name, client_addr`,
  );
}

export function renderConnectedProcesses(processes: readonly ConnectedProcess[]): string[] {
  if (processes.length === 0) return [];
  const lines = processes.map(({ name, address, connections }) => {
    const count = connections === 1 ? '1 connection' : `${connections} connections`;
    return `    ${name}${address === null ? '' : ` (${address})`}: ${count}`;
  });
  return [`${['processes', ...lines].join('\n')}\n`];
}

/** `unknown`: a standby does not show the sessions of its primary. */
export interface IngestState {
  readonly state: 'running' | 'stopped' | 'unknown';
  /** Start of the oldest process; null: hidden from this database role, or none. */
  readonly since: Date | null;
}

/** By its sessions: the reports of an ended process stay recent for some seconds. */
export async function readIngestState(database: Pick<Database, 'query'>): Promise<IngestState> {
  const [row] = await database.query<{ isStandby: boolean; processes: number; since: Date | null }>(
    sql`SELECT pg_is_in_recovery() AS is_standby, count(*)::int AS processes, min(backend_start) AS since
       FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^chainstead ingest(-[0-9]+)?$'`,
  );
  const isRunning = row !== undefined && row.processes > 0;
  return {
    state: isRunning ? 'running' : row?.isStandby === true ? 'unknown' : 'stopped',
    since: row?.since ?? null,
  };
}

export function renderIngestState({ state }: IngestState): string[] {
  return state === 'stopped' ? ['stopped: no ingest process is connected. "chainstead start" continues\n'] : [];
}

/** A new process reports on each of its chains within this time. */
const REPORTED_AFTER_MS = 15_000;
const STARTED_WITHOUT =
  'no running process works on it. If it was added to CHAINS after the start, restart the program: SIGHUP replaces API processes alone';

/** Chains that the running processes leave out get the reason. @param keys configured chains, as in head reports */
export function withLeftOut(
  unknownHeads: ReadonlyMap<string, UnknownHead>,
  keys: readonly string[],
  {
    ingest,
    reported,
    now,
  }: { readonly ingest: IngestState; readonly reported: ReadonlySet<string>; readonly now: number },
): ReadonlyMap<string, UnknownHead> {
  const { state, since } = ingest;
  if (state !== 'running' || since === null || now - since.getTime() < REPORTED_AFTER_MS) return unknownHeads;
  const leftOut = keys.filter((key) => !reported.has(key));
  const found = leftOut.map((key): [string, UnknownHead] => [
    key,
    { since: unknownHeads.get(key)?.since ?? since, reason: STARTED_WITHOUT, isSilent: true },
  ]);
  return new Map([...unknownHeads, ...found]);
}
