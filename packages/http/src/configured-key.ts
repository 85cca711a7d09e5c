import { ALL_SCOPES, type KeyScopes, parseScopes } from './key-scope.ts';

/** A key of `API_KEYS`. */
export interface ConfiguredKey {
  readonly key: string;
  readonly scopes: KeyScopes;
}

/** What a key looks like. */
export const KEY_PATTERN = /^[A-Za-z0-9._-]{8,128}$/;

/** A key as written in `API_KEYS`, its scopes behind it: `key`, which has all, or `key:rpc+data`. Null: it is malformed. */
export function parseConfiguredKey(text: string): ConfiguredKey | null {
  const [key = '', names, ...rest] = text.split(':');
  const scopes = names === undefined ? ALL_SCOPES : parseScopes(names.split('+'));
  return KEY_PATTERN.test(key) && scopes !== null && rest.length === 0 ? { key, scopes } : null;
}
