/**
 * Token contracts as the rows mention them: `tokens` has one row for each, which remembers as what its events show it.
 */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { MentionedContract, TokenStandard } from './dataset.ts';

/** A contract, and all that it was seen as: bits of {@link SEEN_AS}. */
export interface SeenContract {
  readonly address: Address;
  readonly seenAs: number;
}

/** Bits of `tokens.seen_as`. */
export const SEEN_AS: Readonly<Record<TokenStandard, number>> = { erc20: 1, erc721: 2, erc1155: 4 };

/** Contracts that this process has committed already, with what they were seen as, so that busy ones cost nothing. */
export interface KnownContracts {
  /** True when the contract is known, as all of this. */
  has(contract: SeenContract): boolean;
  add(contracts: readonly SeenContract[]): void;
}

/** Remembers up to `limit` contracts, forgetting all at once when full: a miss only costs one insert. */
export function createKnownContracts(limit = 200_000): KnownContracts {
  const known = new Map<Address, number>();
  return {
    has: ({ address, seenAs }) => ((known.get(address) ?? 0) & seenAs) === seenAs,
    add: (contracts) => {
      if (known.size >= limit) known.clear();
      for (const { address, seenAs } of contracts) known.set(address, (known.get(address) ?? 0) | seenAs);
    },
  };
}

/** Each contract once, with all that it is mentioned as, sorted by address. */
export function joinMentions(mentions: Iterable<MentionedContract>): SeenContract[] {
  const seen = new Map<Address, number>();
  for (const { address, standard } of mentions) seen.set(address, (seen.get(address) ?? 0) | SEEN_AS[standard]);
  return [...seen]
    .map(([address, seenAs]) => ({ address, seenAs }))
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
}

/**
 * Writes contracts that are new to this process, or new in what they are seen as. Under the commit lock: two writers of the
 * same contract would wait for each other otherwise. @returns those written, to be remembered once the transaction has committed.
 */
export async function writeContracts(
  transaction: Transaction,
  chain: Chain,
  contracts: readonly SeenContract[],
  known: KnownContracts,
): Promise<readonly SeenContract[]> {
  const fresh = contracts.filter((contract) => !known.has(contract));
  if (fresh.length === 0) return fresh;
  await transaction.query(
    `INSERT INTO tokens (address, chain_id, seen_as)
     SELECT decode(substr(seen.address, 3), 'hex'), $1, seen.seen_as
       FROM unnest($2::text[], $3::smallint[]) AS seen(address, seen_as) ORDER BY seen.address
     ON CONFLICT (address, chain_id) DO UPDATE SET seen_as = tokens.seen_as | excluded.seen_as
       WHERE (tokens.seen_as | excluded.seen_as) <> tokens.seen_as`,
    [chain.id, fresh.map(({ address }) => address), fresh.map(({ seenAs }) => seenAs)],
  );
  return fresh;
}
