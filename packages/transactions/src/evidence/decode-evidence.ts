import { addressAt, bigIntAt, wordCount } from '@chainstead/abi';
import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { decodeErc20Transfer, decodeWrappedCoinMove } from '@chainstead/token-events';
import type { Evidence } from './evidence.ts';
import {
  COMET_WITHDRAW,
  EVIDENCE_EVENTS,
  type EvidenceEvent,
  type Named,
  PAIR_BURN,
  PAIR_MINT,
} from './evidence-events.ts';

/** A log as far as evidence is read from it. */
export interface EvidenceLog {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}

/** Whose transaction it is. */
export interface EvidenceTransaction {
  readonly from: Address;
  readonly to: Address | null;
  /** All of them. */
  readonly logs: readonly EvidenceLog[];
}

export type EvidenceChain = Pick<Chain, 'wrappedNative' | 'erc20Exclusions'>;

/** What a transaction's logs say of accounts. */
export interface TransactionEvidence {
  readonly ofAccount: ReadonlyMap<Address, ReadonlySet<Evidence>>;
  /** What counts for everybody who took part. */
  readonly ofAll: ReadonlySet<Evidence>;
}

/** Reads the events of protocols among a transaction's logs. Pure; nothing throws on what a contract emits. */
export function decodeEvidence(transaction: EvidenceTransaction, chain: EvidenceChain): TransactionEvidence {
  const ofAccount = new Map<Address, Set<Evidence>>();
  const ofAll = new Set<Evidence>();
  const note = (account: Address | null, says: readonly Evidence[]): void => {
    if (account === null || account === ZERO_ADDRESS) return;
    const known = ofAccount.get(account) ?? new Set();
    for (const one of says) known.add(one);
    ofAccount.set(account, known);
  };
  for (const log of transaction.logs) {
    const [topic0] = log.topics;
    if (topic0 === undefined) continue;
    for (const event of EVENTS.get(topic0) ?? [])
      if (isEvent(event, log)) for (const named of event.names) note(accountOf(named, log, transaction), event.says);
    if (log.address === chain.wrappedNative) {
      const moved = decodeWrappedCoinMove(log);
      if (moved !== null) note(moved.account, [moved.kind === 'deposit' ? 'wrap' : 'unwrap']);
      if (moved?.kind === 'withdrawal' && moved.account === transaction.to) ofAll.add('calledUnwrapped');
    }
    if (isOf(PAIR_MINT, log))
      for (const account of minted(log.address, transaction, chain)) note(account, ['supply', 'liquidityAdd']);
    if (isOf(PAIR_BURN, log)) {
      const receiver = addressAt(log.topics[2]);
      // A router gets what it passes on to who called it.
      note(receiver === transaction.to ? transaction.from : receiver, ['takeBack', 'liquidityRemove']);
    }
    if (isOf(COMET_WITHDRAW, log) && wordCount(log.data) === 1) {
      const account = addressAt(log.topics[1]);
      if (account !== null) note(account, [isLoan(log, account, transaction, chain) ? 'borrow' : 'takeBack']);
    }
  }
  return { ofAccount, ofAll };
}

/** What is known of one account. */
export function evidenceOf({ ofAccount, ofAll }: TransactionEvidence, account: Address): ReadonlySet<Evidence> {
  return new Set([...(ofAccount.get(account) ?? []), ...ofAll]);
}

const EVENTS: ReadonlyMap<Hash, readonly EvidenceEvent[]> = Map.groupBy(EVIDENCE_EVENTS, ({ topic0 }) => topic0);

function isEvent({ topics, words }: EvidenceEvent, log: EvidenceLog): boolean {
  return log.topics.length === topics && (wordCount(log.data) ?? -1) >= words;
}

function isOf({ topic0, topics }: { readonly topic0: Hash; readonly topics: number }, log: EvidenceLog): boolean {
  return log.topics[0] === topic0 && log.topics.length === topics;
}

function accountOf(named: Named, log: EvidenceLog, { from }: EvidenceTransaction): Address | null {
  if (named === 'sender') return from;
  return 'topic' in named ? addressAt(log.topics[named.topic]) : addressAt(log.data, named.word);
}

/** Who got new tokens of a contract. */
function minted(token: Address, { logs }: EvidenceTransaction, chain: EvidenceChain): readonly Address[] {
  return logs.flatMap((log) => {
    const transfer = log.address === token ? decodeErc20Transfer(log, chain) : null;
    return transfer === null || transfer.from !== ZERO_ADDRESS ? [] : [transfer.to];
  });
}

/** Whether more was taken than the account had there, which is burnt. */
function isLoan(
  withdrawal: EvidenceLog,
  account: Address,
  { logs }: EvidenceTransaction,
  chain: EvidenceChain,
): boolean {
  const burnt = logs.reduce((sum, log) => {
    const transfer = log.address === withdrawal.address ? decodeErc20Transfer(log, chain) : null;
    return transfer !== null && transfer.from === account && transfer.to === ZERO_ADDRESS
      ? sum + BigInt(transfer.value)
      : sum;
  }, 0n);
  return bigIntAt(withdrawal.data) > burnt;
}
