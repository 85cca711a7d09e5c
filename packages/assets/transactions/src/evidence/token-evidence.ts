import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '@chainstead/core';
import { decodeErc20Transfer, TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { WRAPPED_COIN_DEPOSIT, WRAPPED_COIN_WITHDRAWAL } from '@chainstead/events/topics';
import { APPROVAL_EVENTS } from '../approvals/read-approvals.ts';
import { EVIDENCE, type Evidence, type EvidenceLog } from './evidence.ts';
import { COMET_WITHDRAW, EVIDENCE_EVENTS, PAIR_BURN, PAIR_MINT, VAULT_CHANGED } from './evidence-events.ts';

export interface TokenMove {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

export function tokensMoved(
  logs: readonly EvidenceLog[],
  chain: Pick<Chain, 'erc20Exclusions'>,
): readonly TokenMove[] {
  return logs.flatMap((log) => {
    const transfer = decodeErc20Transfer(log, chain);
    const value = transfer === null ? 0n : BigInt(transfer.value);
    return transfer === null || value === 0n ? [] : [{ ...transfer, token: log.address, value }];
  });
}

const RECEIVERS_MIN = 10;

export function* tokenEvidence(moved: readonly TokenMove[]): Generator<readonly [Address, readonly Evidence[]]> {
  yield* handedOut(moved);
  const minted = moved.filter(({ from }) => from === ZERO_ADDRESS);
  if (minted.length === 0) return;
  const paid = tokensBy(moved, ({ from }) => from);
  const taken = tokensBy(moved, ({ to }) => to);
  for (const { token, to } of minted) {
    const [given, got] = [paid.get(to), taken.get(token)];
    if (given !== undefined && got !== undefined && !given.isDisjointFrom(got)) yield [to, ['shareMinted']];
  }
}

function* handedOut(moved: readonly TokenMove[]): Generator<readonly [Address, readonly Evidence[]]> {
  if (moved.length < RECEIVERS_MIN) return;
  for (const given of Map.groupBy(moved, ({ token, from }) => `${token} ${from}`).values()) {
    const receivers = new Set(given.map(({ to }) => to));
    if (receivers.size < RECEIVERS_MIN) continue;
    const isEqual = new Set(given.map(({ value }) => value)).size === 1;
    for (const receiver of receivers)
      yield [receiver, isEqual ? ['handedOut', 'handedOutEqually'] : ['handedOut']];
  }
}

function tokensBy(moved: readonly TokenMove[], side: (move: TokenMove) => Address) {
  return new Map(
    [...Map.groupBy(moved, side)].map(([account, moves]) => [account, new Set(moves.map(({ token }) => token))]),
  );
}

export interface StoredEvidence {
  readonly evidence: ReadonlySet<Evidence>;
  readonly approvesTokens: boolean;
  /** All NFTs, or by Permit2. */
  readonly approvesOtherwise: boolean;
}

const APPROVES_TOKENS = 1 << 29;
export const APPROVES_OTHERWISE = 1 << 30;

export function evidenceBits({ evidence, approvesTokens, approvesOtherwise }: StoredEvidence): number {
  const approvals = (approvesTokens ? APPROVES_TOKENS : 0) | (approvesOtherwise ? APPROVES_OTHERWISE : 0);
  return EVIDENCE.reduce((bits, kind, index) => bits | (evidence.has(kind) ? 1 << index : 0), approvals);
}

export function readEvidenceBits(bits: number): StoredEvidence {
  return {
    evidence: new Set(EVIDENCE.filter((_, index) => (bits & (1 << index)) !== 0)),
    approvesTokens: (bits & APPROVES_TOKENS) !== 0,
    approvesOtherwise: (bits & APPROVES_OTHERWISE) !== 0,
  };
}

const EVIDENCE_TOPICS: ReadonlySet<Hash> = new Set([
  ...[...EVIDENCE_EVENTS, PAIR_MINT, PAIR_BURN, COMET_WITHDRAW, VAULT_CHANGED].map(({ topic0 }) => topic0),
  WRAPPED_COIN_DEPOSIT.topic,
  WRAPPED_COIN_WITHDRAWAL.topic,
]);
const APPROVAL_TOPICS: ReadonlySet<Hash> = new Set(APPROVAL_EVENTS);
const TRANSFER_TOPICS = 3;

/** Rules out nearly all: no evidence event, and tokens neither new nor distributed to many. */
export function mayReport(logs: readonly Pick<EvidenceLog, 'topics'>[]) {
  let [evidence, approvals, transfers] = [false, false, 0];
  for (const { topics } of logs) {
    const topic0 = topics[0];
    if (topic0 === undefined) continue;
    if (topic0 === TRANSFER_TOPIC) {
      if (topics.length !== TRANSFER_TOPICS) continue;
      transfers++;
      evidence ||= topics[1] === ZERO_HASH || transfers >= RECEIVERS_MIN;
    } else if (APPROVAL_TOPICS.has(topic0)) approvals = true;
    else evidence ||= EVIDENCE_TOPICS.has(topic0);
  }
  return { evidence, approvals };
}
