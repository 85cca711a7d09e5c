import type { Hash } from '@chainstead/core';
import { ZERO_HASH } from '@chainstead/core';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { WRAPPED_COIN_DEPOSIT, WRAPPED_COIN_WITHDRAWAL } from '@chainstead/events/wrapped-coin-move';
import { APPROVAL_EVENTS } from '../approvals/read-approvals.ts';
import type { EvidenceLog } from './evidence.ts';
import { COMET_WITHDRAW, EVIDENCE_EVENTS, PAIR_BURN, PAIR_MINT, VAULT_CHANGED } from './evidence-events.ts';
import { RECEIVERS_MIN } from './token-evidence.ts';

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
