import type { Hex } from '@chainstead/core';
import type { ContractCall } from './aggregate-calls.ts';

/** How calls are made: one, or many in one; null where an aggregate does not work. */
export interface CallMeans {
  readonly one: (call: ContractCall) => Promise<Hex | null>;
  /** Null: the chain has nothing that makes many. */
  readonly many: ((calls: readonly ContractCall[]) => Promise<(Hex | null)[] | null>) | null;
}

/** In one aggregate: so many balances stay far below the 50,000,000 gas that nodes give an eth_call. */
const TOGETHER_MAX = 100;
/** So few are not worth another aggregate. */
const ALONE_MAX = 8;

/** Answers in the order of the calls; null is what a call alone came to. */
export async function callTogether(calls: readonly ContractCall[], means: CallMeans): Promise<(Hex | null)[]> {
  const answers: (Hex | null)[] = [];
  for (let from = 0; from < calls.length; from += TOGETHER_MAX)
    answers.push(...(await callSome(calls.slice(from, from + TOGETHER_MAX), means)));
  return answers;
}

/** One contract may burn the gas of all behind it: what came to nothing is asked again in halves, and few alone. */
async function callSome(calls: readonly ContractCall[], means: CallMeans): Promise<(Hex | null)[]> {
  const together = means.many === null || calls.length < 2 ? null : await means.many(calls);
  const places = [...calls.keys()].filter((place) => (together?.[place] ?? null) === null);
  const missing = places.flatMap((place) => calls[place] ?? []);
  const again =
    means.many === null || missing.length <= ALONE_MAX ? callAlone(missing, means) : callHalves(missing, means);
  const answers = calls.map((_, place) => together?.[place] ?? null);
  for (const [index, answer] of (await again).entries()) answers[places[index] ?? 0] = answer;
  return answers;
}

function callAlone(calls: readonly ContractCall[], { one }: CallMeans): Promise<(Hex | null)[]> {
  return Promise.all(calls.map(one));
}

async function callHalves(calls: readonly ContractCall[], means: CallMeans): Promise<(Hex | null)[]> {
  const half = Math.ceil(calls.length / 2);
  return (await Promise.all([callSome(calls.slice(0, half), means), callSome(calls.slice(half), means)])).flat();
}
