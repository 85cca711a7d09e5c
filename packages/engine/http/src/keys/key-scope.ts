/** `data`: data routes; `rpc`: the JSON-RPC gateway; `streams`; `admin`: server-wide settings. */
export const KEY_SCOPES = ['data', 'rpc', 'streams', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
export type KeyScopes = ReadonlySet<KeyScope>;

export const ALL_SCOPES: KeyScopes = new Set(KEY_SCOPES);
export const DEFAULT_SCOPES = ['data', 'rpc', 'streams'] as const satisfies readonly KeyScope[];

/** Null if there are none or one is unknown. */
export function parseScopes(names: readonly string[]): KeyScopes | null {
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  return scopes.length === 0 || names.some((name) => !scopes.some((scope) => scope === name))
    ? null
    : new Set(scopes);
}

export interface ConfiguredKey {
  readonly key: string;
  readonly scopes: KeyScopes;
}

export const KEY_PATTERN = /^[A-Za-z0-9._-]{8,128}$/;

/** `key`, which has all scopes, or `key:rpc+data`. Null if malformed. */
export function parseConfiguredKey(text: string): ConfiguredKey | null {
  const [key = '', names, ...rest] = text.split(':');
  const scopes = names === undefined ? ALL_SCOPES : parseScopes(names.split('+'));
  return KEY_PATTERN.test(key) && scopes !== null && rest.length === 0 ? { key, scopes } : null;
}

export interface Principal {
  /** Safe to log: the start of a stored key, or `config:<n>` for one of `API_KEYS`. */
  readonly id: string;
  readonly name: string;
  readonly scopes: KeyScopes;
  readonly rateLimit?: number | null;
}
