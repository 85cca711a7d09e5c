import { AsyncLocalStorage } from 'node:async_hooks';
import { getHeapStatistics } from 'node:v8';
import { createTurns, whenAborted } from '@chainstead/core';
import type { Database, ReadDatabase, ReadSession, Transaction } from '@chainstead/db';
import type { Reads } from '@chainstead/db/server';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../api-context.ts';
import type { ShownState } from '../parameters/paging.ts';
import { type ByteBudget, createByteBudget } from './body-bounds.ts';
import { createResponseBytes, type ResponseBytes } from './response-bytes.ts';

export interface RequestDatabase {
  /** The primary, also for later reads of the request. `select` records the state for cursors. */
  readonly database: Database;
  /** Standbys may serve them. Within a request, reads never go back in time. */
  readonly reads: ReadDatabase;
  readonly shown: ShownState | null;
  readonly responseBytes: ResponseBytes;
  readonly scope: MiddlewareHandler<ApiEnv>;
}

interface Access {
  readonly database: Database;
  readonly session: ReadSession | null;
  /** Null: not of a request, or within a transaction that has its turn. */
  readonly takeTurn: (<T>(work: () => Promise<T>) => Promise<T>) | null;
}

/** For unsent responses: their texts and JSON take about four times as much. */
const HEAP_SHARE = 1 / 12;
const SHARE_OF_KEY = 1 / 2;
const OPEN_KEY_ID = 'open';
/** Connections of a key while another key sends requests: more statements at once would slow that key's. */
const CONNECTIONS_AMONG_KEYS = 2;

/** `reads` null: the database serves all reads. `budget`: bytes of all responses. */
export function createRequestDatabase(
  database: Database,
  reads: Reads | null = null,
  budget: ByteBudget = createByteBudget(
    Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE),
    SHARE_OF_KEY,
  ),
): RequestDatabase {
  const requests = new AsyncLocalStorage<Access>();
  const bytes = createResponseBytes(budget);
  const turns = createTurns({
    atOnce: database.pool.options.max,
    atOncePerKey: database.pool.options.max,
    atOnceAmongKeys: CONNECTIONS_AMONG_KEYS,
    now: () => performance.now(),
  });
  const accessTo = (own: Database, takeTurn: Access['takeTurn'], signal?: AbortSignal): Access => ({
    database: own,
    session: reads?.session(own, signal, bytes.counting) ?? null,
    takeTurn,
  });
  const access = (): Access => requests.getStore() ?? accessTo(database, null);
  // Invariant: FAIR-KEYS
  const inTurn = <T>(work: (own: Access) => Promise<T>): Promise<T> => {
    const own = access();
    return own.takeTurn === null ? work(own) : own.takeTurn(() => work(own));
  };
  /** Statements outside the transaction would wait for its turn. */
  const transaction = <T>(own: Access, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    primaryOf(own).transaction((opened) => requests.run({ ...own, takeTurn: null }, () => work(opened)));
  const ofRequest: Database = {
    ...database,
    query: (statement) => inTurn((own) => primaryOf(own).query(statement)),
    select: (statement) => inTurn((own) => readingPrimary(own).select(statement)),
    selectLasting: (statement) => inTurn((own) => readingPrimary(own).selectLasting(statement)),
    transaction: (work) => inTurn((own) => transaction(own, work)),
  };
  return {
    database: ofRequest,
    // The same object: routes see by it that reads have no other server.
    reads:
      reads === null
        ? ofRequest
        : {
            select: (statement) => inTurn((own) => (own.session ?? own.database).select(statement)),
            selectLasting: (statement) => inTurn((own) => (own.session ?? own.database).selectLasting(statement)),
          },
    shown:
      reads === null
        ? null
        : {
            position: () => access().session?.position ?? null,
            requireAtLeast: (position) => access().session?.requireAtLeast(position),
          },
    responseBytes: bytes,
    scope: async (c, next) => {
      const ended = c.get('ended');
      const abandoned = new AbortController();
      const forget = whenAborted(ended, () => abandoned.abort(ended.reason));
      const keyId = (): string => c.get('principal')?.id ?? OPEN_KEY_ID;
      const access = accessTo(
        database.until(abandoned.signal, 'cancel', bytes.counting),
        (work) => turns.run(keyId(), work, abandoned.signal),
        abandoned.signal,
      );
      const request = bytes.run(keyId, () => requests.run(access, next));
      whenAborted(ended, request.release);
      await request.done;
      // Work that a route left running after its response continues.
      if (c.error === undefined) forget();
    },
  };
}

/** A standby may not have this statement's changes yet. */
function primaryOf({ database, session }: Access): Database {
  session?.stayOnPrimary();
  return database;
}

/** Rows shown to the client count for later pages, whichever server provides them. */
function readingPrimary({ database, session }: Access): ReadDatabase {
  session?.stayOnPrimary();
  return session ?? database;
}
