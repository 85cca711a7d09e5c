/** A repaired block is one fault of its upstream, however many datasets it affects. */
import type { ChainId } from '@chainstead/core';
import { sql, type Transaction } from '@chainstead/db';
import type { FaultKind } from '@chainstead/rpc';

export interface Repair {
  readonly dataset: string;
  readonly block: number;
  readonly missing: number;
  readonly surplus: number;
  /** Null if not known any more. */
  readonly upstream: string | null;
}

export interface RepairedBlock {
  readonly block: number;
  readonly upstream: string | null;
  readonly kind: FaultKind;
  readonly missing: number;
  readonly surplus: number;
  readonly datasets: Readonly<Record<string, { readonly missing: number; readonly surplus: number }>>;
}

export function repairedBlocks(repairs: readonly Repair[]): RepairedBlock[] {
  const groups = Object.values(Object.groupBy(repairs, ({ block, upstream }) => `${block} ${upstream}`));
  return groups.flatMap((group) => {
    const [first] = group ?? [];
    if (group === undefined || first === undefined) return [];
    const missing = group.reduce((sum, repair) => sum + repair.missing, 0);
    return [
      {
        block: first.block,
        upstream: first.upstream,
        kind: missing > 0 ? ('missing-logs' as const) : ('surplus-logs' as const),
        missing,
        surplus: group.reduce((sum, repair) => sum + repair.surplus, 0),
        datasets: Object.fromEntries(
          group.map(({ dataset, missing, surplus }) => [dataset, { missing, surplus }]),
        ),
      },
    ];
  });
}

export async function recordFaults(
  transaction: Transaction,
  chainId: ChainId,
  repaired: readonly RepairedBlock[],
): Promise<void> {
  for (const { block, upstream, kind, missing, surplus, datasets } of repaired)
    await transaction.query(
      sql`INSERT INTO upstream_errors (chain_id, upstream, kind, block_number, facts) VALUES (${chainId}, ${upstream ?? 'unknown'}, ${kind}, ${block}, ${JSON.stringify({ missing, surplus, datasets })})
       ON CONFLICT (chain_id, upstream, kind, block_number) DO UPDATE
         SET occurrences = upstream_errors.occurrences + 1, facts = excluded.facts, seen_at = now()`,
    );
}
