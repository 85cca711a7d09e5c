import type { ChainsteadError, Hex } from '@chainstead/core';
import type { ContractCall } from './aggregate-calls.ts';
import { isUnread, settleTogether, TOO_LATE, whyNothing } from './settle-together.ts';

/** What a call came to, and at which upstream. */
export interface CallAnswer {
  /** Null where it failed or returned nothing. */
  readonly data: Hex | null;
  readonly upstream: string;
  /** Why no node returned the result of the call: `data` is meaningless then. */
  readonly unread?: ChainsteadError;
}

/** How calls are made: one, or many in one; null where an aggregate does not work. */
export interface CallMeans {
  /** @param late aborts when the others of its company have waited long enough */
  readonly one: (call: ContractCall, late: AbortSignal) => Promise<CallAnswer>;
  /** Null: the chain has nothing that makes many. */
  readonly many: ((calls: readonly ContractCall[], late: AbortSignal) => Promise<CallAnswer[] | null>) | null;
  /** Calls that their company was tired of. */
  readonly lateCalls: LateCalls;
}

/** In one aggregate: so many balances stay far below the 50,000,000 gas that nodes give an eth_call. */
const TOGETHER_MAX = 100;
/** So few are not worth another aggregate. */
const ALONE_MAX = 8;
/** One endless contract holds up its aggregate: after this, its calls are made alone. Milliseconds. */
const AGGREGATE_MS = 1_500;

/**
 * Results in the order of the calls; null for a call that failed alone. An unreadable one spoils no other: it is `unread`, as is one that takes
 * far longer than the others.
 * @throws why the first could not be read, where none could
 */
export async function callTogether(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  // Decided once: what turns out to be late now has its place among the answers.
  const heldBack = new Set(calls.length > 1 ? calls.filter((call) => means.lateCalls.has(call)) : []);
  const prompt = calls.filter((call) => !heldBack.has(call));
  const read: CallAnswer[] = [];
  for (let from = 0; from < prompt.length; from += TOGETHER_MAX)
    read.push(...(await callSome(prompt.slice(from, from + TOGETHER_MAX), means)));
  const rest = read.values();
  const answers = calls.map((call) => (heldBack.has(call) ? LEFT_OUT : (rest.next().value ?? LEFT_OUT)));
  const reason = whyNothing(answers);
  if (reason !== null) throw reason;
  return answers;
}

/** One contract may burn the gas of all behind it: what came to nothing is asked again in halves, and few alone. */
async function callSome(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  if (means.many === null || calls.length < 2) return callAlone(calls, means);
  const together = await inTime(calls, means.many);
  if (together === 'none') return callAlone(calls, means);
  const isMissing = (place: number): boolean => (together?.[place]?.data ?? null) === null;
  const missing = calls.filter((_, place) => isMissing(place));
  const again = await (missing.length <= ALONE_MAX ? callAlone(missing, means) : callHalves(missing, means));
  const rest = again.values();
  return calls.flatMap((_, place) => (isMissing(place) ? rest.next().value : together?.[place]) ?? []);
}

/** `none`: no response to the aggregate, or not in time. */
async function inTime(
  calls: readonly ContractCall[],
  many: NonNullable<CallMeans['many']>,
): Promise<CallAnswer[] | null | 'none'> {
  const late = AbortSignal.timeout(AGGREGATE_MS);
  try {
    return await many(calls, late);
  } catch (error) {
    if (isUnread(error, late)) return 'none';
    throw error;
  }
}

async function callAlone(calls: readonly ContractCall[], { one, lateCalls }: CallMeans): Promise<CallAnswer[]> {
  const settled = await settleTogether(calls, one);
  const isNodeThere = settled.some((answer) => 'value' in answer);
  return settled.map((answer, place) => {
    if ('value' in answer) return answer.value;
    const call = calls[place];
    if (isNodeThere && answer.unread === TOO_LATE && call !== undefined) lateCalls.add(call);
    return { ...NOTHING, unread: answer.unread };
  });
}

async function callHalves(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  const half = Math.ceil(calls.length / 2);
  return (await Promise.all([callSome(calls.slice(0, half), means), callSome(calls.slice(half), means)])).flat();
}

const NOTHING = { data: null, upstream: '' } as const;
const LEFT_OUT: CallAnswer = { ...NOTHING, unread: TOO_LATE };

/** Calls that took far longer than their company, which is not to wait for them again at once. */
export interface LateCalls {
  has(call: ContractCall): boolean;
  add(call: ContractCall): void;
}

/** So long they are left out. Milliseconds. */
const LEFT_OUT_MS = 60_000;
const REMEMBERED_MAX = 10_000;

export function createLateCalls(): LateCalls {
  const until = new Map<string, number>();
  return {
    has: ({ to, data }) => (until.get(`${to}${data}`) ?? 0) > performance.now(),
    add({ to, data }) {
      if (until.size >= REMEMBERED_MAX) until.clear();
      until.set(`${to}${data}`, performance.now() + LEFT_OUT_MS);
    },
  };
}
