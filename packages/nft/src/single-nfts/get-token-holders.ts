import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { TokenKey } from '../collections/token-rows.ts';
import { readTogether } from '../records/asked-tokens.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { ADDED_UP_MAX, BATCHABLE, type HoldersReading, tokenHoldersStatement } from './token-holders-statement.ts';

/**
 * Who holds tokens: of ERC-721 the receiver of the newest transfer, of ERC-1155 the holder with the newest receipt; nobody for what was
 * burned. In the order of the tokens; null for one that never moved in what is indexed.
 * @param isWhole whether no block of a contract's history is missing: amounts of ERC-1155 are sums of all of it
 */
export async function getTokenHolders(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly TokenKey[],
  { isWhole, ...reading }: HoldersReading & { readonly isWhole: (contract: Address) => boolean },
): Promise<readonly (RecordKey | null)[]> {
  if (tokens.length === 0) return [];
  const rows = await readTogether(tokens, reading.isSpread === true, (some) => {
    const { text, values } = tokenHoldersStatement(chain, some, reading);
    return database.select<Row>(text, values);
  });
  return tokens.map((token, index) => {
    const row = rows[index];
    const held = row === undefined ? null : heldOf(row, isWhole(token.address));
    return held === null ? null : { address: token.address, tokenId: token.tokenId, ...held };
  });
}

interface Row {
  readonly kind: number | null;
  readonly newest_owner: Address;
  /** Null where only transfers to oneself tell of it. */
  readonly newest_block: number | null;
  readonly holder: Address | null;
  readonly amount: string;
  readonly last_block: number;
  readonly moves: number;
  readonly range_owner: Address | null;
  readonly range_block: number;
}

type Held = Pick<RecordKey, 'owner' | 'amount' | 'blockNumber'>;

function heldOf(row: Row, isWhole: boolean): Held | null {
  if (row.kind === null)
    return row.range_owner === null ? null : { owner: row.range_owner, amount: '1', blockNumber: row.range_block };
  if (!BATCHABLE.includes(row.kind)) return ofOne(row.newest_owner, row.newest_block);
  if (row.holder === null) return ofOne(ZERO_ADDRESS, row.newest_block);
  const isAddedUp = isWhole && row.moves <= ADDED_UP_MAX;
  if (isAddedUp && row.amount.startsWith('-')) return { owner: row.holder, amount: null, blockNumber: row.last_block };
  if (isAddedUp && row.amount === '0') return ofOne(ZERO_ADDRESS, row.newest_block);
  return { owner: row.holder, amount: isAddedUp ? row.amount : null, blockNumber: row.last_block };
}

/** One unit, or none that anybody holds. */
function ofOne(owner: Address, blockNumber: number | null): Held {
  const isBurned = owner === ZERO_ADDRESS;
  return { owner: isBurned ? null : owner, amount: isBurned ? null : '1', blockNumber };
}
