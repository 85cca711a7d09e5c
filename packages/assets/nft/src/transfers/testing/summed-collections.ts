/** Computes the owners of collections from transfers, independently of the SQL that maintains them. */
import { createHash } from 'node:crypto';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import type { Move } from './example-moves.ts';

/** A move, its block, and whether its event is for single items. */
export interface MovedIn {
  readonly block: number;
  readonly move: Move;
  readonly isSingle: boolean;
}

interface Amount {
  readonly token: Address;
  readonly id: bigint;
  readonly owner: Address;
  amount: bigint;
  last: number;
  isSum: boolean;
}

/**
 * Returns all state rows of these moves' collections, which are in chain order, as sorted lines of text, in the format
 * of {@link storedCollections}.
 */
export function summedCollections(moves: readonly MovedIn[]): string[] {
  const amounts = new Map<string, Amount>();
  const transfers = new Map<Address, number>();
  const receivers = new Map<string, Address>();
  for (const { block, move, isSingle } of moves) {
    const { token, id, from, to, amount } = move;
    transfers.set(token, (transfers.get(token) ?? 0) + 1);
    if (amount === 0n || move.last !== undefined) continue;
    // A transfer to oneself changes nothing, but shows the owner of a single item.
    if (from === to && (!isSingle || to === ZERO_ADDRESS)) continue;
    if (isSingle) receivers.set(`${token} ${id}`, to);
    for (const [owner, delta] of [
      [from, -amount],
      [to, amount],
    ] as const) {
      if (owner === ZERO_ADDRESS) continue;
      const key = `${token} ${id} ${owner}`;
      const held = amounts.get(key) ?? { token, id, owner, amount: 0n, last: -1, isSum: false };
      amounts.set(key, held);
      if (!isSingle) held.amount += delta;
      held.isSum ||= !isSingle;
      if (from !== to) held.last = Math.max(held.last, block);
    }
  }
  const all = [...amounts.values()];
  for (const held of all) if (receivers.get(`${held.token} ${held.id}`) === held.owner) held.amount += 1n;
  const holding = all.filter(({ amount }) => amount > 0n);
  const ids = new Map(all.map(({ token, id }) => [`${token} ${id}`, { token, id }]));
  const owners = new Map(holding.map(({ token, owner }) => [`${token} ${owner}`, { token, owner }]));
  return [
    ...all.map(
      ({ token, id, owner, amount, last, isSum }) => `amount ${token} ${id} ${owner} ${amount} ${last} ${isSum}`,
    ),
    ...[...ids.values()].map(({ token, id }) => {
      const own = all.filter((one) => one.token === token && one.id === id);
      const held = own.filter(({ amount }) => amount > 0n);
      const supply = held.reduce((sum, { amount }) => sum + amount, 0n);
      const last = Math.max(...own.map((one) => one.last));
      const receiver = receivers.get(`${token} ${id}`) ?? null;
      const isHeld = receiver === null ? held.length > 0 : receiver !== ZERO_ADDRESS;
      return `id ${token} ${id} ${hashOf(token, id)} ${held.length} ${supply} ${last} ${receiver ?? 'none'} ${isHeld}`;
    }),
    ...[...owners.values()].map(
      ({ token, owner }) =>
        `owner ${token} ${owner} ${holding.filter((one) => one.token === token && one.owner === owner).length}`,
    ),
    ...[...transfers].map(([token, count]) => {
      const held = holding.filter((one) => one.token === token);
      return `counts ${token} ${count} ${new Set(held.map(({ id }) => id)).size} ${new Set(held.map(({ owner }) => owner)).size}`;
    }),
  ].sort();
}

function hashOf(token: Address, id: bigint): string {
  return createHash('md5').update(`${token}${id}`).digest('hex');
}

/** Returns all stored rows of a chain's collections as sorted lines of text. */
export async function storedCollections(database: Database, chainId: number): Promise<string[]> {
  const [token, owner] = [hexText('token_address'), hexText('owner')];
  const rows = await database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', 'amount', ${token}, token_id, ${owner}, amount, last_block, is_sum::text) AS line FROM nft_collection_balances WHERE chain_id = ${chainId}
     UNION ALL SELECT concat_ws(' ', 'id', ${token}, token_id, encode(token_hash, 'hex'), holders, supply, last_block,
         coalesce(${hexText('receiver')}, 'none'), is_held::text) FROM nft_collection_ids WHERE chain_id = ${chainId}
     UNION ALL SELECT concat_ws(' ', 'owner', ${token}, ${owner}, ids_held) FROM nft_collection_owners WHERE chain_id = ${chainId}
     UNION ALL SELECT concat_ws(' ', 'counts', ${token}, transfers, ids, owners) FROM nft_collection_counts WHERE chain_id = ${chainId}`,
  );
  return rows.map(({ line }) => line).sort();
}
