import type { Hex } from '@chainstead/core';
import type { ContractCall } from './aggregate-calls.ts';

/** What a call came to, and at which upstream. */
export interface CallAnswer {
  /** Null where it reverted or returned nothing. */
  readonly data: Hex | null;
  readonly upstream: string;
}

/** How calls are made: one, or many in one; null where an aggregate does not work. */
export interface CallMeans {
  readonly one: (call: ContractCall) => Promise<CallAnswer>;
  /** Null: the chain has nothing that makes many. */
  readonly many: ((calls: readonly ContractCall[]) => Promise<CallAnswer[] | null>) | null;
}

/** In one aggregate: so many balances stay far below the 50,000,000 gas that nodes give an eth_call. */
const TOGETHER_MAX = 100;
/** So few are not worth another aggregate. */
const ALONE_MAX = 8;

/** Answers in the order of the calls; null is what a call alone came to. */
export async function callTogether(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  const answers: CallAnswer[] = [];
  for (let from = 0; from < calls.length; from += TOGETHER_MAX)
    answers.push(...(await callSome(calls.slice(from, from + TOGETHER_MAX), means)));
  return answers;
}

/** One contract may burn the gas of all behind it: what came to nothing is asked again in halves, and few alone. */
async function callSome(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  const together = means.many === null || calls.length < 2 ? null : await means.many(calls);
  const isMissing = (place: number): boolean => (together?.[place]?.data ?? null) === null;
  const missing = calls.filter((_, place) => isMissing(place));
  const isAlone = means.many === null || missing.length <= ALONE_MAX;
  const again = (await (isAlone ? callAlone(missing, means) : callHalves(missing, means))).values();
  return calls.flatMap((_, place) => (isMissing(place) ? again.next().value : together?.[place]) ?? []);
}

function callAlone(calls: readonly ContractCall[], { one }: CallMeans): Promise<CallAnswer[]> {
  return Promise.all(calls.map(one));
}

async function callHalves(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  const half = Math.ceil(calls.length / 2);
  return (await Promise.all([callSome(calls.slice(0, half), means), callSome(calls.slice(half), means)])).flat();
}
