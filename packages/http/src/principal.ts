import type { KeyScopes } from './key-scope.ts';

/** Whose key a request carried. */
export interface Principal {
  /** Stable and harmless to log: the first characters of a stored key, `config:<n>` for one of `API_KEYS`. */
  readonly id: string;
  readonly name: string;
  readonly scopes: KeyScopes;
  /** Requests a second to the API; null: what `RATE_LIMIT` says. */
  readonly rateLimit?: number | null;
}
