import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, bigIntAt, wordCount } from '@chainstead/events/abi';
import { decodeWrappedCoinMove } from '@chainstead/events/topics';
import type { Evidence, EvidenceLog } from './evidence.ts';
import {
  COMET_WITHDRAW,
  EVIDENCE_EVENTS,
  type EvidenceEvent,
  type Named,
  PAIR_BURN,
  PAIR_MINT,
  VAULT_CHANGED,
} from './evidence-events.ts';
import { type TokenMove, tokenEvidence, tokensMoved } from './token-evidence.ts';

export interface EvidenceTransaction {
  readonly from: Address;
  readonly to: Address | null;
  readonly logs: readonly EvidenceLog[];
}

export type EvidenceChain = Pick<Chain, 'wrappedNative' | 'erc20Exclusions'>;

export interface TransactionEvidence {
  readonly ofAccount: ReadonlyMap<Address, ReadonlySet<Evidence>>;
  readonly ofAll: ReadonlySet<Evidence>;
}

/** Pure, linear, never throws on contract output. */
export function decodeEvidence(transaction: EvidenceTransaction, chain: EvidenceChain): TransactionEvidence {
  const ofAccount = new Map<Address, Set<Evidence>>();
  const ofAll = new Set<Evidence>();
  const note = (account: Address | null, says: readonly Evidence[]): void => {
    if (account === null || account === ZERO_ADDRESS) return;
    const noted = ofAccount.get(account) ?? new Set();
    for (const evidence of says) noted.add(evidence);
    ofAccount.set(account, noted);
  };
  const moved = tokensMoved(transaction.logs, chain);
  const pairs = new Set<Address>();
  const loans: EvidenceLog[] = [];
  for (const log of transaction.logs) {
    const [topic0] = log.topics;
    if (topic0 === undefined) continue;
    for (const event of EVENTS.get(topic0) ?? []) {
      if (log.topics.length !== event.topics || (wordCount(log.data) ?? -1) < event.words) continue;
      for (const named of event.names) note(accountOf(named, log, transaction), event.says);
    }
    if (log.address === chain.wrappedNative) {
      const wrapped = decodeWrappedCoinMove(log);
      if (wrapped !== null) note(wrapped.account, [wrapped.kind === 'deposit' ? 'wrap' : 'unwrap']);
      if (wrapped?.kind === 'withdrawal' && wrapped.account === transaction.to) ofAll.add('calledUnwrapped');
    }
    if (isOf(PAIR_MINT, log)) pairs.add(log.address);
    if (isOf(PAIR_BURN, log)) {
      const receiver = addressAt(log.topics[2]);
      // A router receives what it then passes to its caller.
      note(receiver === transaction.to ? transaction.from : receiver, ['takeBack', 'liquidityRemove']);
    }
    for (const account of borrowersIn(log, transaction)) note(account, ['borrow']);
    if (isOf(COMET_WITHDRAW, log) && wordCount(log.data) === 1) loans.push(log);
  }
  for (const { token, from, to } of moved)
    if (from === ZERO_ADDRESS && pairs.has(token)) note(to, ['supply', 'liquidityAdd']);
  const burnt = burntOf(loans.length === 0 ? [] : moved);
  for (const { address, topics, data } of loans) {
    const account = addressAt(topics[1]);
    // An amount above the burnt balance is a loan.
    const isLoan = bigIntAt(data) > (burnt.get(`${address} ${account}`) ?? 0n);
    note(account, [isLoan ? 'borrow' : 'takeBack']);
  }
  for (const [account, says] of tokenEvidence(moved)) note(account, says);
  return { ofAccount, ofAll };
}

export function evidenceOf({ ofAccount, ofAll }: TransactionEvidence, account: Address): ReadonlySet<Evidence> {
  return new Set([...(ofAccount.get(account) ?? []), ...ofAll]);
}

const EVENTS: ReadonlyMap<Hash, readonly EvidenceEvent[]> = Map.groupBy(EVIDENCE_EVENTS, ({ topic0 }) => topic0);

function isOf({ topic0, topics }: { readonly topic0: Hash; readonly topics: number }, log: EvidenceLog): boolean {
  return log.topics[0] === topic0 && log.topics.length === topics;
}

function accountOf(named: Named, log: EvidenceLog, { from }: EvidenceTransaction): Address | null {
  if (named === 'sender') return from;
  return 'topic' in named ? addressAt(log.topics[named.topic]) : addressAt(log.data, named.word);
}

/** Contracts hold most vaults for others: the owner, the receiver of new tokens, the sender. */
function borrowersIn(log: EvidenceLog, { from }: EvidenceTransaction): readonly (Address | null)[] {
  if (!isOf(VAULT_CHANGED, log) || wordCount(log.data) !== VAULT_CHANGED.words) return [];
  const words = `0x${log.data.slice(CALLDATA_WORDS_FROM)}`;
  const debt = BigInt.asIntN(256, bigIntAt(words, 5));
  return debt > 0n ? [addressAt(words, 1), addressAt(words, 3), from] : [];
}

const CALLDATA_WORDS_FROM = 2 + 2 * 64 + 2 * 4;

function burntOf(moved: readonly TokenMove[]): ReadonlyMap<string, bigint> {
  const burnt = new Map<string, bigint>();
  for (const { token, from, to, value } of moved) {
    const key = `${token} ${from}`;
    if (to === ZERO_ADDRESS) burnt.set(key, (burnt.get(key) ?? 0n) + value);
  }
  return burnt;
}
