import { ALL_SCOPES, type KeyScopes, parseScopes } from './key-scope.ts';

/** A key of `API_KEYS`. */
export interface ConfiguredKey {
  readonly key: string;
  readonly scopes: KeyScopes;
}

/** Form of a key. */
export const KEY_PATTERN = /^[A-Za-z0-9._-]{8,128}$/;

/** Parses an entry of `API_KEYS`: `key`, which has all scopes, or `key:rpc+data`. Null if malformed. */
export function parseConfiguredKey(text: string): ConfiguredKey | null {
  const [key = '', names, ...rest] = text.split(':');
  const scopes = names === undefined ? ALL_SCOPES : parseScopes(names.split('+'));
  return KEY_PATTERN.test(key) && scopes !== null && rest.length === 0 ? { key, scopes } : null;
}
