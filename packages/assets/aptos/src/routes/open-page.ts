import { InvalidParameterError, type Page, type RoutePaging } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { AptosNetwork } from '../transaction.ts';

/** Bound to a cursor, normalized; null: absent. */
export type CursorFilter = Readonly<Record<string, string | number | readonly string[] | null>>;

export const filterSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.array(z.string()).readonly(), z.null()]),
);

export type Run = Page<CursorFilter, string[]>;

interface RunRequest {
  readonly cursor: string | null;
  readonly limit: number;
  readonly filter: CursorFilter;
  /** Null: the cursor's. */
  readonly network: AptosNetwork | null;
}

/** Returns the broken rule of a wrong cursor. */
export function openPage(
  paging: RoutePaging<CursorFilter, string[]>,
  request: RunRequest,
): { readonly run: Run } | { readonly problems: readonly string[] } {
  const filter = Object.entries({ ...request.filter, network: request.network });
  try {
    const page = paging.open({
      cursor: request.cursor ?? undefined,
      // It is also required with a cursor, and may differ on each page.
      limit: undefined,
      order: undefined,
      filter: Object.fromEntries(filter.map(([name, value]) => [name, value ?? undefined])),
    });
    return { run: { ...page, limit: request.limit } };
  } catch (error) {
    if (error instanceof InvalidParameterError) return { problems: [error.message] };
    throw error;
  }
}

export function networkIn(run: Run): AptosNetwork {
  return run.filter.network === 'testnet' ? 'testnet' : 'mainnet';
}
