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

export interface TokenHolder extends RecordKey {
  /** Possible holders of an ERC-1155 if transfers don't show them: newest receipt first. */
  readonly candidates: readonly HolderCandidate[];
}

interface HolderCandidate {
  readonly owner: Address;
  readonly blockNumber: number;
  /** Known to have received more than it gave. */
  readonly isLikely: boolean;
}

/**
 * In token order. Null without an indexed transfer. ERC-1155: the newest receiver that holds it.
 * @param isWhole whether a contract's history is complete, as sums of ERC-1155 need
 */
export async function getTokenHolders(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly TokenKey[],
  { isWhole, ...reading }: HoldersReading & { readonly isWhole: (contract: Address) => boolean },
): Promise<readonly (TokenHolder | null)[]> {
  if (tokens.length === 0) return [];
  const rows = await readTogether(tokens, reading.isSpread === true, (some) =>
    database.select<HolderColumns>(tokenHoldersStatement(chain, some, reading)),
  );
  return tokens.map(({ address, tokenId }, index) => {
    const row = rows[index];
    const held = row === undefined ? null : heldOf(row, isWhole(address));
    return held && { address, tokenId, ...held };
  });
}

interface HolderColumns {
  readonly kind: number | null;
  readonly newestOwner: Address | null;
  /** Null if only transfers from an account to itself are known. */
  readonly newestBlock: number | null;
  readonly accounts: readonly AccountEntry[] | null;
  readonly moves: number | null;
  readonly rangeOwner: Address | null;
  readonly rangeBlock: number | null;
}

type Held = Omit<TokenHolder, 'address' | 'tokenId'>;

function heldOf(row: HolderColumns, isWhole: boolean): Held | null {
  if (row.kind === null || row.newestOwner === null)
    return row.rangeOwner === null ? null : ofOne(row.rangeOwner, row.rangeBlock);
  if (!BATCHABLE.includes(row.kind)) return ofOne(row.newestOwner, row.newestBlock);
  const accounts = (row.accounts ?? []).map(([digits, amount, blockNumber]) => {
    return { owner: `0x${digits}` as Address, amount, blockNumber, isLikely: BigInt(amount) > 0n };
  });
  const nobody = ofOne(ZERO_ADDRESS, row.newestBlock);
  if (!isWhole || (row.moves ?? 0) > ADDED_UP_MAX) return { ...nobody, candidates: accounts.map(candidateOf) };
  const holder = accounts.find(({ isLikely }) => isLikely);
  if (holder !== undefined)
    return { owner: holder.owner, amount: holder.amount, blockNumber: holder.blockNumber, candidates: [] };
  return accounts.every(({ amount }) => amount === '0')
    ? nobody
    : { ...nobody, candidates: accounts.map(candidateOf) };
}

function candidateOf({ owner, blockNumber, isLikely }: HolderCandidate): HolderCandidate {
  return { owner, blockNumber, isLikely };
}

function ofOne(owner: Address, blockNumber: number | null): Held {
  const isBurned = owner === ZERO_ADDRESS;
  return { owner: isBurned ? null : owner, amount: isBurned ? null : '1', blockNumber, candidates: [] };
}
