/**
 * What a key may be used for: `data` (data routes of EVM chains and Aptos), `rpc` (the JSON-RPC gateway), `streams` (streams,
 * their statistics and history), `admin` (what holds for the whole server, such as the secret that signs webhooks).
 */
export const KEY_SCOPES = ['data', 'rpc', 'streams', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
export type KeyScopes = ReadonlySet<KeyScope>;

export const ALL_SCOPES: KeyScopes = new Set(KEY_SCOPES);
/** Scopes of a key that is made without naming any: all but `admin`, which only a key that is meant for it gets. */
export const DEFAULT_SCOPES = ['data', 'rpc', 'streams'] as const satisfies readonly KeyScope[];

/** Scopes by their names, each one of {@link KEY_SCOPES}; null when there is none, or something else among them. */
export function parseScopes(names: readonly string[]): KeyScopes | null {
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  return scopes.length === 0 || names.some((name) => !scopes.some((scope) => scope === name)) ? null : new Set(scopes);
}
