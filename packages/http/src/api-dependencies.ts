import type { Logger, Registry } from '@chainstead/core';
import type { Database, ReadDatabase } from '@chainstead/db';
import type { IndexedChains } from './indexed-chains.ts';
import type { KeyStore } from './key-store.ts';
import type { Paging } from './paging.ts';
import type { Parameters } from './parameters.ts';
import type { RateLimit } from './rate-limit.ts';
import type { RouteScopes } from './route-scopes.ts';

/** What route modules are given. */
export interface ApiDependencies {
  readonly chains: IndexedChains;
  /** The primary: for what writes, and what has to see what was written just now; rows that pages show by `select`. */
  readonly database: Database;
  /** For what only reads. Standbys may answer it, none with an older state than the pages before showed. */
  readonly reads: ReadDatabase;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly keys: KeyStore;
  /** For `withScope`. */
  readonly routeScopes: RouteScopes;
  readonly limits: ApiLimits;
  readonly paging: Paging;
  readonly parameters: Parameters;
}

/** What a request and its answer may come to. */
export interface ApiLimits {
  /** Largest request body. Bytes. */
  readonly bodyBytesMax: number;
  /** Rows a page at most (`PAGE_LIMIT_MAX`). */
  readonly pageLimitMax: number;
  /** After this a request is answered 503. Milliseconds. */
  readonly requestTimeoutMs: number;
  /** Per key; null (the default of the program): none. */
  readonly rateLimit: RateLimit | null;
}
