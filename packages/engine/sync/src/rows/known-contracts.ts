/** `tokens` has one row per contract, with the standards its events show. */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Sql, sql, type Transaction } from '@chainstead/db';
import { dueChannel, TOKEN_FACTS_WORK } from '@chainstead/jobs';
import type { MentionedContract, TokenStandard } from '../dataset/dataset.ts';

export interface SeenContract {
  readonly address: Address;
  readonly seenAs: number;
}

export const SEEN_AS: Readonly<Record<TokenStandard, number>> = { erc20: 1, erc721: 2, erc1155: 4 };

/** Busy contracts then need no write. */
export interface KnownContracts {
  has(contract: SeenContract): boolean;
  add(contracts: readonly SeenContract[]): void;
}

const FORGOTTEN_MS = 86_400_000;

/** Cleared when full, and once a day: a miss costs only one insert. */
export function createKnownContracts(limit = 200_000, now: () => number = Date.now): KnownContracts {
  const known = new Map<Address, number>();
  let clearedAt = now();
  return {
    has: ({ address, seenAs }) => ((known.get(address) ?? 0) & seenAs) === seenAs,
    add: (contracts) => {
      if (known.size >= limit || now() - clearedAt >= FORGOTTEN_MS) {
        known.clear();
        clearedAt = now();
      }
      for (const { address, seenAs } of contracts) known.set(address, (known.get(address) ?? 0) | seenAs);
    },
  };
}

export function joinMentions(mentions: Iterable<MentionedContract>): SeenContract[] {
  const seen = new Map<Address, number>();
  for (const { address, standard } of mentions) seen.set(address, (seen.get(address) ?? 0) | SEEN_AS[standard]);
  return [...seen]
    .map(([address, seenAs]) => ({ address, seenAs }))
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
}

/** Age at which facts are read again; `nothing`: without name and symbol. */
const OLD_MS = { facts: 7 * 86_400_000, nothing: 86_400_000 };

/** Under the commit lock: two writers would deadlock. @returns what to add to `known` after it */
export async function writeContracts(
  transaction: Transaction,
  chain: Chain,
  contracts: readonly SeenContract[],
  known: KnownContracts,
): Promise<readonly SeenContract[]> {
  const fresh = contracts.filter((contract) => !known.has(contract));
  if (fresh.length === 0) return fresh;
  const isOld = isOldAt(Date.now());
  const changed = await transaction.query(
    sql`INSERT INTO tokens (address, chain_id, seen_as)
     SELECT decode(substr(seen.address, 3), 'hex'), ${chain.id}, seen.seen_as
       FROM unnest(${fresh.map(({ address }) => address)}::text[], ${fresh.map(({ seenAs }) => seenAs)}::smallint[]) AS seen(address, seen_as) ORDER BY seen.address
     ON CONFLICT (address, chain_id) DO UPDATE SET seen_as = tokens.seen_as | excluded.seen_as,
       facts_due_at = CASE WHEN ${isOld} THEN excluded.facts_due_at ELSE tokens.facts_due_at END
       WHERE (tokens.seen_as | excluded.seen_as) <> tokens.seen_as OR ${isOld}
     RETURNING chain_id`,
  );
  if (changed.length > 0) transaction.notify(dueChannel(TOKEN_FACTS_WORK, chain.id));
  return fresh;
}

/** Outdated and not due. Null: another worker read them. */
function isOldAt(now: number): Sql {
  const [facts, nothing] = [new Date(now - OLD_MS.facts), new Date(now - OLD_MS.nothing)];
  return sql`coalesce(tokens.facts_status = 'known' AND tokens.facts_due_at IS NULL AND tokens.facts_lease_until IS NULL
         AND tokens.facts_read_at < CASE WHEN coalesce(tokens.name, '') = '' AND coalesce(tokens.symbol, '') = '' THEN ${nothing}::timestamptz ELSE ${facts}::timestamptz END, false)`;
}
