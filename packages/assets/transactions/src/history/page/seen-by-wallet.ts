import type { Chain } from '@chainstead/chains';
import { isDeposit } from '@chainstead/chains/fees';
import { type Address, type Hash, type Hex, parseAddress } from '@chainstead/core';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import type { BooksOf } from '../../abis/abi-books.ts';
import { type GivenApproval, readApprovals } from '../../approvals/read-approvals.ts';
import { decodeEvidence, evidenceOf } from '../../evidence/decode-evidence.ts';
import type { StoredEvidence } from '../../evidence/evidence-bits.ts';
import { decodedCall } from '../../records/decoded-response.ts';
import type { InternalTransactionRecord } from '../../records/internal-transaction-record.ts';
import type { TransactionRecord } from '../../records/transaction-record.ts';
import type { CoinLeg, WalletTransaction } from '../classification/wallet-transaction.ts';
import type { IndexedLegs, ShownNftLeg } from './read-asset-movements.ts';

export interface SeenTransaction extends WalletTransaction {
  readonly nfts: readonly ShownNftLeg[];
  readonly approvals: readonly GivenApproval[];
}

interface TransactionFacts {
  readonly record: TransactionRecord;
  readonly said: StoredEvidence | null;
  readonly block: number;
  readonly legs: IndexedLegs;
  readonly calls: readonly InternalTransactionRecord[] | null;
  readonly booksOf: BooksOf;
}

/** Pure. A failed transaction moved nothing. */
export function seenByWallet(
  chain: Chain,
  wallet: Address,
  { record, said, block, legs, calls, booksOf }: TransactionFacts,
): SeenTransaction {
  const from = parseAddress(record.from);
  const to = addressOrNull(record.to);
  const hasFailed = record.status === 0;
  const logs = hasFailed ? [] : record.logs.map(brandedLog);
  return {
    ...{ wallet, from, to },
    tokens: hasFailed ? [] : legs.tokens,
    status: record.status === null ? null : hasFailed ? 0 : 1,
    method: decodedCall(record, block, booksOf)?.label ?? null,
    selector:
      to === null || record.input.length < SELECTOR_LENGTH ? null : record.input.slice(0, SELECTOR_LENGTH),
    coins: hasFailed
      ? []
      : [...ownValue(chain, wallet, record), ...(legs.inside ?? movedInside(wallet, calls ?? []))],
    nfts: hasFailed ? [] : legs.nfts,
    listed: new Set(),
    approvals: said === null ? readApprovals(wallet, logs, chain) : legs.approvals,
    trades: legs.trades,
    evidence: said?.evidence ?? evidenceOf(decodeEvidence({ from, to, logs }, chain), wallet),
    isTraced: legs.inside !== null || calls !== null,
  };
}

/** NFT contracts have no ERC-20 legs, in any format. */
export function withKnownTokens(
  seen: SeenTransaction,
  tokenOf: (token: Address) => Pick<TokenFacts, 'verified' | 'isNft'>,
): SeenTransaction {
  const tokens = seen.tokens.filter(({ token }) => !tokenOf(token).isNft);
  const listed = tokens.flatMap(({ token }) => (tokenOf(token).verified ? [token] : []));
  return { ...seen, tokens, listed: new Set(listed) };
}

const SELECTOR_LENGTH = 10;

function ownValue(
  chain: Chain,
  wallet: Address,
  { type, value, contractAddress, ...record }: TransactionRecord,
): readonly CoinLeg[] {
  const from = parseAddress(record.from);
  const receiver = addressOrNull(record.to ?? contractAddress);
  // The sender of a deposit pays on the chain below.
  const isMinted = isDeposit(type, chain.id);
  const isSide = receiver === wallet || (from === wallet && !isMinted);
  if (value === '0' || receiver === null || !isSide) return [];
  return [{ from, to: receiver, value: BigInt(value), isInternal: false, ...(isMinted && { isMinted }) }];
}

function movedInside(wallet: Address, calls: readonly InternalTransactionRecord[]): readonly CoinLeg[] {
  return calls.flatMap(({ from, to, value, error, isReverted }) => {
    const isSide = from === wallet || to === wallet;
    if (value === '0' || error !== null || isReverted || !isSide) return [];
    return [{ from: parseAddress(from), to: parseAddress(to), value: BigInt(value), isInternal: true }];
  });
}

function brandedLog({ index, address, topics, data }: TransactionRecord['logs'][number]) {
  return {
    index,
    address: address as Address,
    topics: topics as readonly string[] as readonly Hash[],
    data: data as Hex,
  };
}

function addressOrNull(text: string | null): Address | null {
  return text === null ? null : parseAddress(text);
}
