import type { Logger, Registry } from '@chainstead/core';
import type { Database, ReadDatabase } from '@chainstead/db';
import type { RateLimit } from './access/rate-limit.ts';
import type { RouteScopes } from './access/route-scopes.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { IndexedChains } from './parameters/indexed-chains.ts';
import type { Paging } from './parameters/paging.ts';
import type { Parameters } from './parameters/parameters.ts';
import type { ResponseBytes } from './requests/response-bytes.ts';

/** Dependencies of route modules. */
export interface ApiDependencies {
  readonly chains: IndexedChains;
  /** The primary: for writes and for reads that must see recent writes. Use `select` for rows shown on pages. */
  readonly database: Database;
  /** For reads only. Standbys may serve them, but never with an older state than earlier pages showed. */
  readonly reads: ReadDatabase;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly keys: KeyStore;
  /** For `withScope`. */
  readonly routeScopes: RouteScopes;
  readonly limits: ApiLimits;
  readonly paging: Paging;
  /** For reads that can be repeated with fewer rows. */
  readonly responseBytes: Pick<ResponseBytes, 'attempt'>;
  readonly parameters: Parameters;
}

/** Limits of requests and responses. */
export interface ApiLimits {
  /** Maximum request body. Bytes. */
  readonly bodyBytesMax: number;
  /** Maximum rows per page (`PAGE_LIMIT_MAX`). */
  readonly pageLimitMax: number;
  /** A request that takes longer gets a 503. Milliseconds. */
  readonly requestTimeoutMs: number;
  /** Per key; null (the program's default): unlimited. */
  readonly rateLimit: RateLimit | null;
  /** Node calls per second that the requests of a key may cause (`ON_DEMAND_CALLS_PER_KEY`). @default unlimited */
  readonly nodeCallsPerSecond?: number;
}
