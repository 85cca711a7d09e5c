import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import type { StateAt } from '@chainstead/node-reads';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import type { ConcentratedState, Reserves } from '../events/pool-event.ts';
import type { ChainExchanges } from '../exchanges/exchanges-of-chain.ts';
import type { ProofCall } from '../proofs/pool-proof-steps.ts';
import type { SeenPool } from '../proofs/pool-verdict.ts';
import {
  type FactoryForm,
  formCalls,
  poolOfResult,
  poolQuestions,
  possibleForms,
  usableForm,
} from './factory-forms.ts';
import { stateCalls, stateGettersOf } from './state-getters.ts';

export interface PoolSearch {
  readonly chain: Chain;
  readonly exchanges: ChainExchanges;
  readonly state: Pick<StateAt, 'fetchTogether'>;
}

export interface FoundPool extends SeenPool {
  readonly pool: Address;
  readonly tokens: readonly [Address, Address];
  readonly family: string;
}

/** @throws ChainsteadError if a node could not return a result */
export async function findPools(
  tokens: readonly Address[],
  search: PoolSearch,
  signal: AbortSignal,
): Promise<readonly FoundPool[]> {
  const { chain, exchanges } = search;
  const forms = await readForms(exchanges, search, signal);
  const anchors = Object.values(anchorsOf(chain)).flat();
  const questions = poolQuestions(forms, tokens, anchors);
  const results = await call(questions, search, signal);
  const pools = new Map<Address, FoundPool>();
  questions.forEach(({ tokens: pair, family, word }, index) => {
    const pool = poolOfResult({ word }, results[index] ?? null);
    if (pool !== null) pools.set(pool, { pool, emitter: pool, tokens: pair, family });
  });
  return [...pools.values()];
}

export interface PoolReading {
  readonly pool: Address;
  readonly state: Reserves | ConcentratedState;
}

/** Without pools that have no price. @throws ChainsteadError if a node could not return a result */
export async function readPoolStates(
  pools: readonly Pick<FoundPool, 'pool' | 'family'>[],
  search: Pick<PoolSearch, 'state'>,
  signal: AbortSignal,
): Promise<readonly PoolReading[]> {
  const read = pools.flatMap(({ pool, family }) => {
    const getters = stateGettersOf(family);
    return getters === null ? [] : [{ pool, getters }];
  });
  const results = (await call(stateCalls(read), search, signal)).values();
  return read.flatMap(({ pool, getters }) => {
    const state = getters.decode(getters.calls.map(() => results.next().value ?? null));
    return state === null ? [] : [{ pool, state }];
  });
}

const FORMS_MAX_AGE_MS = 86_400_000;
const knownForms = new WeakMap<
  ChainExchanges,
  { readonly forms: readonly FactoryForm[]; readonly readAt: number }
>();

async function readForms(exchanges: ChainExchanges, search: Pick<PoolSearch, 'state'>, signal: AbortSignal) {
  const known = knownForms.get(exchanges);
  if (known !== undefined && performance.now() - known.readAt < FORMS_MAX_AGE_MS) return known.forms;
  const possible = possibleForms(exchanges).map((form) => ({ form, calls: formCalls(form) }));
  const all = possible.flatMap(({ calls }) => calls);
  const results = (await call(all, search, signal)).values();
  const forms = possible.flatMap(({ form, calls }) => {
    const ofForm = calls.map(() => results.next().value ?? null);
    return usableForm(form, ofForm) ?? [];
  });
  knownForms.set(exchanges, { forms, readAt: performance.now() });
  return forms;
}

async function call(calls: readonly ProofCall[], { state }: Pick<PoolSearch, 'state'>, signal: AbortSignal) {
  if (calls.length === 0) return [];
  const results = await state.fetchTogether(calls, signal);
  return results.map(({ data, unread }) => {
    if (unread !== undefined) throw unread;
    return data === null ? null : (data.toLowerCase() as Hex);
  });
}
