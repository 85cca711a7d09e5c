import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { TokenKey } from '../collections/token-rows.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { readTogether } from '../records/requested-tokens.ts';
import {
  type AccountEntry,
  ADDED_UP_MAX,
  BATCHABLE,
  type HoldersReading,
  tokenHoldersStatement,
} from './token-holders-statement.ts';

/** The holder of a token, as far as transfers show. */
export interface TokenHolder extends RecordKey {
  /**
   * Possible holders of an ERC-1155 if transfers don't show them: newest receipt first, those without a known receipt
   * last. Empty if transfers do.
   */
  readonly candidates: readonly HolderCandidate[];
}

/** An account that may hold an id. */
export interface HolderCandidate {
  readonly owner: Address;
  /** Block of the newest transfer that changed its balance. */
  readonly blockNumber: number;
  /** Whether it is known to have received more than it gave. */
  readonly isLikely: boolean;
}

/**
 * Returns the holders of tokens, in token order: for ERC-721 the receiver of the newest transfer, for ERC-1155 the
 * holder with the newest receipt, and none for burned tokens. Null for a token without an indexed transfer.
 * @param isWhole whether a contract's history is complete: amounts of ERC-1155 are sums of all of it
 */
export async function getTokenHolders(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly TokenKey[],
  { isWhole, ...reading }: HoldersReading & { readonly isWhole: (contract: Address) => boolean },
): Promise<readonly (TokenHolder | null)[]> {
  if (tokens.length === 0) return [];
  const rows = await readTogether(tokens, reading.isSpread === true, (some) =>
    database.select<Row>(tokenHoldersStatement(chain, some, reading)),
  );
  return tokens.map((token, index) => {
    const row = rows[index];
    const held = row === undefined ? null : heldOf(row, isWhole(token.address));
    return held === null ? null : { address: token.address, tokenId: token.tokenId, ...held };
  });
}

interface Row {
  readonly kind: number | null;
  /** Null exactly if `kind` is. */
  readonly newest_owner: Address | null;
  /** Null if only transfers from an account to itself are known. */
  readonly newest_block: number | null;
  /** Only for ERC-1155; null if no account is known. */
  readonly accounts: readonly AccountEntry[] | null;
  readonly moves: number | null;
  readonly range_owner: Address | null;
  /** Null exactly if `range_owner` is. */
  readonly range_block: number | null;
}

type Held = Omit<TokenHolder, 'address' | 'tokenId'>;

function heldOf(row: Row, isWhole: boolean): Held | null {
  if (row.kind === null || row.newest_owner === null)
    return row.range_owner === null ? null : ofOne(row.range_owner, row.range_block);
  if (!BATCHABLE.includes(row.kind)) return ofOne(row.newest_owner, row.newest_block);
  const accounts = (row.accounts ?? []).map(([digits, amount, blockNumber]) => ({
    owner: `0x${digits}` as Address,
    amount,
    blockNumber,
    isLikely: amount !== '0' && !amount.startsWith('-'),
  }));
  const nobody = ofOne(ZERO_ADDRESS, row.newest_block);
  if (!isWhole || (row.moves ?? 0) > ADDED_UP_MAX) return { ...nobody, candidates: accounts.map(candidateOf) };
  const holder = accounts.find(({ isLikely }) => isLikely);
  if (holder !== undefined)
    return { owner: holder.owner, amount: holder.amount, blockNumber: holder.blockNumber, candidates: [] };
  // An account that gave more than existed got it by other means than transfers.
  return accounts.every(({ amount }) => amount === '0') ? nobody : { ...nobody, candidates: accounts.map(candidateOf) };
}

function candidateOf({ owner, blockNumber, isLikely }: HolderCandidate): HolderCandidate {
  return { owner, blockNumber, isLikely };
}

/** One unit, or none if it has no holder. */
function ofOne(owner: Address, blockNumber: number | null): Held {
  const isBurned = owner === ZERO_ADDRESS;
  return { owner: isBurned ? null : owner, amount: isBurned ? null : '1', blockNumber, candidates: [] };
}
