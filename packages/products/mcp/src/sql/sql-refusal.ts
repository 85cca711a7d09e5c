import { createHash } from 'node:crypto';
import { ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { runAlone } from '@chainstead/db/server';

export class SqlRefusalError extends ChainsteadError {
  readonly advice: string;

  constructor(code: SqlRefusalCode, message: string, advice: string) {
    super({ code, message, retryable: code === 'SQL_BUSY' || code === 'SQL_UNAVAILABLE' });
    this.advice = advice;
  }
}

type SqlRefusalCode = 'SQL_BUSY' | 'SQL_REFUSED' | 'SQL_ROLE_UNSAFE' | 'SQL_TIMEOUT' | 'SQL_UNAVAILABLE';

export type SessionClient = ReturnType<Database['session']>;

export interface SqlPlaces {
  readonly all: number;
  readonly perKey: number;
}

export const SQL_PLACES: SqlPlaces = { all: 4, perKey: 2 };

const NAME = 'chainstead agent';
const NAMES_SQL = `SELECT application_name AS name FROM pg_catalog.pg_stat_activity
WHERE usename = session_user AND datname = current_database() AND pid <> pg_backend_pid()
  AND pg_catalog.starts_with(application_name, '${NAME} ')`;

/** The session's name marks its place in the transaction. @throws SqlRefusalError SQL_BUSY */
export async function takePlace(client: SessionClient, key: string, places: SqlPlaces): Promise<void> {
  const own = `${NAME} ${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
  await runAlone(client, `SET LOCAL application_name = '${own}'`);
  const others = await runAlone<{ name: string }>(client, NAMES_SQL);
  const running = Map.groupBy(others, ({ name }) => name);
  if ((running.get(own)?.length ?? 0) >= places.perKey) throw busy(true);
  // A refused key counts no more than its places.
  const all = [...running.values()].reduce((sum, { length }) => sum + Math.min(length, places.perKey), 0);
  if (all >= places.all) throw busy(false);
}

/** Refuses statements without a place before they open a connection. */
export class LocalPlaces {
  readonly #places: SqlPlaces;
  readonly #running = new Map<string, number>();
  #all = 0;

  constructor(places: SqlPlaces) {
    this.#places = places;
  }

  /** @returns frees the place @throws SqlRefusalError SQL_BUSY */
  take(key: string): () => void {
    const own = this.#running.get(key) ?? 0;
    if (own >= this.#places.perKey) throw busy(true);
    if (this.#all >= this.#places.all) throw busy(false);
    this.#running.set(key, own + 1);
    this.#all++;
    return () => {
      this.#all--;
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    };
  }
}

function busy(isOwn: boolean): SqlRefusalError {
  return isOwn
    ? new SqlRefusalError('SQL_BUSY', 'Other statements of this key are still running', 'Retry in a few seconds.')
    : new SqlRefusalError('SQL_BUSY', 'Statements of other keys are still running', 'Retry in a few seconds.');
}
