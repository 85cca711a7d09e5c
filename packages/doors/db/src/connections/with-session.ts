import type { Client } from 'pg';
import type { ConnectionTarget } from './connection-string.ts';
import { sessionsTo } from './open-pool.ts';

/** @throws `pg`'s error if the server refuses */
export async function withSession<T>(
  target: ConnectionTarget,
  applicationName: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = sessionsTo(target, { applicationName })();
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

export function hasCode(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error;
}
