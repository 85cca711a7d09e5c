import { AsyncLocalStorage } from 'node:async_hooks';
import { getHeapStatistics } from 'node:v8';
import { whenAborted } from '@chainstead/core';
import type { Database, ReadDatabase, ReadSession } from '@chainstead/db';
import type { Reads } from '@chainstead/db/server';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../api-context.ts';
import type { ShownState } from '../parameters/paging.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
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
}

/** For unsent responses: their texts and JSON take about four times as much. */
const HEAP_SHARE = 1 / 12;
const SHARE_OF_KEY = 1 / 2;
const OPEN_KEY_ID = 'open';

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
  const accessTo = (own: Database, signal?: AbortSignal): Access => ({
    database: own,
    session: reads?.session(own, signal, bytes.counting) ?? null,
  });
  const access = (): Access => requests.getStore() ?? accessTo(database);
  /** A standby may not have this statement's changes yet. */
  const primary = (): Database => {
    const own = access();
    own.session?.stayOnPrimary();
    return own.database;
  };
  const reading = (): ReadDatabase => {
    const own = access();
    return own.session ?? own.database;
  };
  /** Rows shown to the client count for later pages, whichever server provides them. */
  const readingPrimary = (): ReadDatabase => {
    const own = access();
    own.session?.stayOnPrimary();
    return own.session ?? own.database;
  };
  const ofRequest: Database = {
    ...database,
    query: (statement) => primary().query(statement),
    select: (statement) => readingPrimary().select(statement),
    selectLasting: (statement) => readingPrimary().selectLasting(statement),
    transaction: (work) => primary().transaction(work),
  };
  return {
    database: ofRequest,
    // The same object: routes see by it that reads have no other server.
    reads:
      reads === null
        ? ofRequest
        : {
            select: (statement) => reading().select(statement),
            selectLasting: (statement) => reading().selectLasting(statement),
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
      const access = accessTo(database.until(abandoned.signal, 'cancel', bytes.counting), abandoned.signal);
      const request = bytes.run(
        () => c.get('principal')?.id ?? OPEN_KEY_ID,
        () => requests.run(access, next),
      );
      whenAborted(ended, request.release);
      await request.done;
      // Work that a route left running after its response continues.
      if (c.error === undefined) forget();
    },
  };
}
