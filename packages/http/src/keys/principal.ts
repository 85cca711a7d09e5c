import type { KeyScopes } from './key-scope.ts';

/** The owner of a request's key. */
export interface Principal {
  /** Stable and safe to log: the first characters of a stored key, `config:<n>` for one of `API_KEYS`. */
  readonly id: string;
  readonly name: string;
  readonly scopes: KeyScopes;
  /** API requests per second; null: the `RATE_LIMIT` setting. */
  readonly rateLimit?: number | null;
}
