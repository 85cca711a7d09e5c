import type { Chain } from '@chainstead/chains';
import { type Address, defineError } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import type { CommittedBlocks } from '@chainstead/sync/datasets';
import type { ChildSet } from '../definitions/child-sets.ts';
import { isComplete } from '../factories/child-rows.ts';
import type { EventTable } from '../tables/event-table.ts';
import { formAt, implementationsOf, isBefore, type Upgrade } from '../tables/form-at-log.ts';
import { placeOfLine } from '../tables/row-table.ts';

export interface ImplementationForms {
  readonly upgrades: ChildSet;
  readonly forms: readonly EventTable[];
}

export class ImplementationsUnknownError extends defineError(
  'CONTRACT_IMPLEMENTATIONS_UNKNOWN',
  ({ table }: ChildSet, chain: Chain) => ({
    message: `Blocks of ${table} are missing on ${chain.key}, so that the implementations of the contract are not known yet`,
    remedy: 'Nothing: events whose form depends on the implementation are read once the upgrades are complete',
    retryable: true,
    facts: {},
  }),
) {}

/** Under the commit lock. @throws ImplementationsUnknownError if upgrades are missing up to here */
export async function linesOfForm(
  transaction: Transaction,
  chain: Chain,
  { name, upgrades, forms }: ImplementationForms & Pick<EventTable, 'name'>,
  { range, datasets }: CommittedBlocks,
  lines: readonly string[],
): Promise<readonly string[]> {
  const to = datasets.has(upgrades.table) ? range.from - 1 : range.to;
  if (!(await isComplete(transaction, chain.id, upgrades, to)))
    throw new ImplementationsUnknownError(upgrades, chain);
  if (lines.length === 0) return lines;
  const placed = lines.map((line) => ({ line, ...placeOfLine(line) }));
  const emitters = new Set(placed.map(({ emitter }) => emitter));
  const known = await readUpgrades(transaction, chain, { upgrades, forms }, { emitters, to: range.to });
  return placed.flatMap(({ line, emitter, block, log }) =>
    formAt(forms, { block, log }, lastBefore(known.get(emitter), { block, log }))?.name === name ? [line] : [],
  );
}

export async function readUpgrades(
  database: Pick<Database, 'query'>,
  chain: Chain,
  { upgrades, forms }: ImplementationForms,
  { emitters, to }: { readonly emitters: ReadonlySet<Address>; readonly to: number },
): Promise<ReadonlyMap<Address, readonly Upgrade[]>> {
  const implementations = implementationsOf(forms);
  const statement = upgradesStatement(chain, upgrades, { implementations, emitters: [...emitters], to });
  const upgradesOfProxies = await database.query<Upgrade & { readonly proxy: Address }>(statement);
  return Map.groupBy(upgradesOfProxies, ({ proxy }) => proxy);
}

export function lastBefore(
  upgrades: readonly Upgrade[] | undefined,
  place: { readonly block: number; readonly log: number },
): Upgrade | null {
  return upgrades?.findLast((one) => isBefore(one, place)) ?? null;
}

interface WantedUpgrades {
  readonly implementations: readonly Address[];
  readonly emitters: readonly Address[];
  readonly to: number;
}

/** Ascending. Few: a name has at most a thousand addresses. */
export function upgradesStatement(
  { id }: Pick<Chain, 'id'>,
  { table, column }: Pick<ChildSet, 'table' | 'column'>,
  { implementations, emitters, to }: WantedUpgrades,
): Sql {
  return sql`SELECT ${hexText('upgrade.contract')} AS proxy, ${hexText('given.implementation')} AS implementation,
         upgrade.block_number AS block, upgrade.log_index AS log
       FROM unnest(${implementations.map(addressBytes)}::bytea[]) AS given (implementation)
       CROSS JOIN LATERAL (
         SELECT contract, block_number, log_index FROM ${rawSql(table)} AS named
          WHERE named.${rawSql(column)} = given.implementation AND chain_id = ${id} AND block_number <= ${to}
            AND contract = ANY (${emitters.map(addressBytes)}::bytea[]) OFFSET 0) AS upgrade
       ORDER BY upgrade.block_number, upgrade.log_index`;
}
