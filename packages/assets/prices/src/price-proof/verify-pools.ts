import { isAddress } from '@chainstead/core';
import { decodePoolEvent } from '@chainstead/markets/decode-pool-event';
import type { PoolEvent } from '@chainstead/markets/requests';
import { poolStateView } from '../token-price/serve/price-candidates.ts';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import type { PriceProof, UnprovenFact } from '../token-price/serve/price-proof-document.ts';
import {
  addLiquidityChanges,
  type LiquidityChange,
  type ReportedState,
} from '../token-price/states/liquidity-in-range.ts';
import type { StateSince } from '../token-price/states/side-depths.ts';
import { type CountedPool, PriceProofError } from './proof-error.ts';
import { readState } from './rebuilt-price.ts';
import { compareLogs, type ProvenBlocks, type ProvenLog } from './verify-anchors.ts';

type Candidate = PriceExplanation['candidates'][number];
type StatedState = Candidate['states'][number];

type VerifiedPools = { readonly states: number; readonly unproven: readonly UnprovenFact[] };

export function verifyPools(
  counted: readonly CountedPool[],
  { pools, balances }: PriceProof,
  blocks: ProvenBlocks,
  logOf: (place: PriceProof['pools'][number]['logs'][number], at: string) => ProvenLog,
): VerifiedPools {
  if (pools.length !== counted.length)
    throw new PriceProofError('proof.pools', `has ${pools.length} pools, but ${counted.length} count`);
  const verified = pools.map((evidence, index) => {
    const at = `proof.pools[${index}]`;
    const { candidate, stated } = counted[index] ?? {};
    if (candidate === undefined || stated === undefined || evidence.pair_address !== candidate.pair_address)
      throw new PriceProofError(
        `${at}.pair_address`,
        'is not that of the pool at this place of those that count',
      );
    const logs = evidence.logs.map((log, position) => logOf(log, `${at}.logs[${position}]`));
    return verifyPool(candidate, { at, stated, start: evidence.start, logs }, blocks, balances);
  });
  return {
    states: verified.reduce((sum, { states }) => sum + states, 0),
    unproven: verified.flatMap(({ unproven }) => unproven),
  };
}

interface Evidence {
  readonly at: string;
  readonly stated: string;
  readonly start: PriceProof['pools'][number]['start'];
  readonly logs: readonly ProvenLog[];
}

function verifyPool(
  candidate: Candidate,
  evidence: Evidence,
  blocks: ProvenBlocks,
  balances: PriceProof['balances'],
): VerifiedPools {
  const { at, start } = evidence;
  const pool = candidate.pair_address;
  const isContract = isAddress(pool);
  const emitter = isContract ? pool : evidence.logs[0]?.address;
  const startBlock = start === null ? -1 : Number(start.block);
  const logs = evidence.logs.map((log, index): PoolLog => {
    const path = `${at}.logs[${index}]`;
    // The events of a vault name the pool.
    const event = decodePoolEvent(log, new Map([[log.address, '']]));
    if (event?.pool !== pool || log.address !== emitter)
      throw new PriceProofError(path, `is not an event of pool ${pool}`);
    const before = evidence.logs[index - 1];
    if (before !== undefined && compareLogs(before, log) >= 0)
      throw new PriceProofError(path, 'is not later than the log before it');
    if (log.block.number <= startBlock || log.block.number > blocks.price.number)
      throw new PriceProofError(path, 'is not in a block of the proven states');
    return { log, event };
  });
  const last = candidate.states.find(({ block }) => Number(block) === startBlock);
  if (start !== null && last === undefined)
    throw new PriceProofError(
      `${at}.start.block`,
      `is ${start.block}, which is not the block of an explained state`,
    );
  const changes = logs.flatMap(({ log, event }): LiquidityChange[] =>
    event.kind === 'liquidity' && event.range !== null ? [{ ...placeOf(log), ...event.range }] : [],
  );
  const expected = addLiquidityChanges(reportedStates(logs, last, start), changes);
  compareStates(candidate, evidence, expected);
  const unproven: UnprovenFact[] = [];
  if (start !== null)
    unproven.push({ fact: `States of pool ${pool} until block ${start.block}`, reason: start.reason });
  const hasBins = candidate.bin_step !== null;
  if (hasBins || candidate.states.some(({ sqrt_price_x96: root }) => root !== null))
    unproven.push(unprovenBalances(candidate, balances, isContract && !hasBins));
  if (!isContract) unproven.push({ fact: `Vault ${emitter} of pool ${pool}`, reason: 'no-address-rule' });
  return { states: expected.length - (start === null ? 0 : 1), unproven };
}

type PoolLog = { readonly log: ProvenLog; readonly event: PoolEvent };

/** Storage proves balances at the block's end; transfers lead to earlier ones. */
function unprovenBalances(
  { pair_address: pool, sides }: Candidate,
  balances: PriceProof['balances'],
  isRead: boolean,
): UnprovenFact {
  const isProven = sides.every(({ token_address: token }) =>
    balances.some((balance) => balance.pair_address === pool && balance.token_address === token),
  );
  const fact = isProven ? `Earlier balances of pool ${pool}` : `Balances of pool ${pool}`;
  return { fact, reason: isRead ? 'contract-call' : 'all-events' };
}

function placeOf({ block, index, log }: ProvenLog) {
  return { block: block.number, since: block.timestamp, transactionIndex: index, logIndex: log };
}

function reportedStates(
  logs: readonly PoolLog[],
  last: StatedState | undefined,
  start: Evidence['start'],
): readonly ReportedState[] {
  const states = logs.flatMap(({ log, event }): ReportedState[] => {
    const state = event.kind === 'liquidity' ? null : event.state;
    return state === null ? [] : [{ ...placeOf(log), state }];
  });
  if (last === undefined) return states;
  const state = readState(last, start?.tick ?? null);
  const place = {
    block: Number(last.block),
    since: last.time,
    transactionIndex: END_OF_BLOCK,
    logIndex: END_OF_BLOCK,
  };
  return [{ ...place, state }, ...states];
}

const END_OF_BLOCK = Number.MAX_SAFE_INTEGER;

/** Logs must lead to each stated state, and none may be left out. */
function compareStates(
  { states }: Candidate,
  { at, stated, start }: Evidence,
  expected: readonly Pick<StateSince, 'block' | 'since' | 'state'>[],
): void {
  const startBlock = start === null ? -1 : Number(start.block);
  for (const [index, state] of states.entries()) {
    if (Number(state.block) <= startBlock) continue;
    const path = `${stated}.states[${index}]`;
    const found = expected.findLast(({ block }) => block <= Number(state.block));
    if (found === undefined) throw new PriceProofError(path, 'has no log that proves it');
    const shown = poolStateView.show(found);
    for (const member of ['reserve0', 'reserve1', 'sqrt_price_x96', 'liquidity', 'active_bin'] as const)
      if (state[member] !== shown[member])
        throw new PriceProofError(
          `${path}.${member}`,
          `is ${state[member]}, but the logs prove ${shown[member]}`,
        );
    if (Number(state.block) === found.block && state.time !== found.since)
      throw new PriceProofError(
        `${path}.time`,
        `is ${state.time}, but that of block ${state.block} is ${found.since}`,
      );
  }
  const blocks = new Set(states.map(({ block }) => Number(block)));
  for (const { block } of expected)
    if (!blocks.has(block))
      throw new PriceProofError(at, `has a change in block ${block}, which is not among the explained states`);
}
