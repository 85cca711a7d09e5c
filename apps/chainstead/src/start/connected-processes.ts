import { type Database, sql } from '@chainstead/db';
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
