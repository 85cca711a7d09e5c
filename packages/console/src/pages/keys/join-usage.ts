import type { GatewayUsage } from '@chainstead/gateway';
import type { ApiUsage } from '@chainstead/http';

/** The requests of one key to one route, or to one method of a chain's node, on one day. */
export interface UsageRow {
  readonly keyId: string;
  /** UTC, `2026-01-31`. */
  readonly day: string;
  /** `api` or `rpc`. */
  readonly kind: 'api' | 'rpc';
  /** The route's pattern; for the gateway, the chain. */
  readonly route: string;
  /** Of HTTP, or of JSON-RPC. */
  readonly method: string;
  readonly requests: number;
  readonly errors: number;
}

/** Merges both into one list, the newest day first. @param chainName of a chain's id */
export function joinUsage(
  api: readonly ApiUsage[],
  gateway: readonly GatewayUsage[],
  chainName: (chainId: number) => string,
): UsageRow[] {
  const rows: UsageRow[] = [
    ...api.map(({ keyId, day, route, method, requests, refused, failed }) => {
      return { keyId, day, kind: 'api' as const, route, method, requests, errors: refused + failed };
    }),
    ...gateway.map(({ keyId, day, chainId, method, calls, errors }) => {
      return { keyId, day, kind: 'rpc' as const, route: chainName(chainId), method, requests: calls, errors };
    }),
  ];
  return rows.toSorted((one, other) => other.day.localeCompare(one.day) || other.requests - one.requests);
}

/** Requests and errors of a key over all days. */
export interface KeyTotal {
  readonly keyId: string;
  readonly requests: number;
  readonly errors: number;
}

/** By key, most requests first. */
export function totalsByKey(usage: readonly UsageRow[]): KeyTotal[] {
  return [...Map.groupBy(usage, ({ keyId }) => keyId)]
    .map(([keyId, rows]) => ({ keyId, requests: sum(rows, 'requests'), errors: sum(rows, 'errors') }))
    .toSorted((one, other) => other.requests - one.requests);
}

/** By key, route and method over all days, most requests first. */
export function totalsByRoute(usage: readonly UsageRow[]): Omit<UsageRow, 'day'>[] {
  const groups = Map.groupBy(usage, ({ keyId, kind, route, method }) => JSON.stringify([keyId, kind, route, method]));
  return [...groups.values()]
    .flatMap((rows) => {
      const [first] = rows;
      if (first === undefined) return [];
      const { keyId, kind, route, method } = first;
      return [{ keyId, kind, route, method, requests: sum(rows, 'requests'), errors: sum(rows, 'errors') }];
    })
    .toSorted((one, other) => other.requests - one.requests);
}

function sum(rows: readonly UsageRow[], of: 'requests' | 'errors'): number {
  return rows.reduce((total, row) => total + row[of], 0);
}
