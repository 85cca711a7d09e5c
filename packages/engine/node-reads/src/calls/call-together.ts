import type { ChainsteadError, Hex } from '@chainstead/core';
import type { ContractCall } from './aggregate-calls.ts';
import { isUnread, settleTogether, TOO_LATE, whyNothing } from './settle-together.ts';

export interface CallAnswer {
  readonly data: Hex | null;
  readonly upstream: string;
  readonly unread?: ChainsteadError;
}

/** `many` null: does not work. `late` aborts when the others waited enough. */
export interface CallMeans {
  readonly one: (call: ContractCall, late: AbortSignal) => Promise<CallAnswer>;
  readonly many: ((calls: readonly ContractCall[], late: AbortSignal) => Promise<CallAnswer[] | null>) | null;
  readonly lateCalls: LateCalls;
}

/** Far below the 50,000,000 gas that nodes give an eth_call, for balances. */
const TOGETHER_MAX = 100;
/** So few are not worth another aggregate. */
const ALONE_MAX = 8;
/** One endless contract holds up its aggregate: its calls are then made alone. */
const AGGREGATE_MS = 1_500;

/** A call that can't be read or is far later is `unread`. @throws the first error if all are */
export async function callTogether(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
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

/** One contract may burn all gas: calls without data are repeated in halves, or alone. */
async function callSome(calls: readonly ContractCall[], means: CallMeans): Promise<CallAnswer[]> {
  if (means.many === null || calls.length < 2) return callAlone(calls, means);
  const together = await inTime(calls, means.many);
  if (together === 'none') return callAlone(calls, means);
  const isMissing = (index: number): boolean => (together?.[index]?.data ?? null) === null;
  const missing = calls.filter((_, index) => isMissing(index));
  const half = Math.ceil(missing.length / 2);
  const again =
    missing.length <= ALONE_MAX
      ? await callAlone(missing, means)
      : await Promise.all([callSome(missing.slice(0, half), means), callSome(missing.slice(half), means)]);
  const rest = again.flat().values();
  return calls.flatMap((_, index) => (isMissing(index) ? rest.next().value : together?.[index]) ?? []);
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
  return settled.map((answer, index) => {
    if ('value' in answer) return answer.value;
    const call = calls[index];
    if (isNodeThere && answer.unread === TOO_LATE && call !== undefined) lateCalls.add(call);
    return { ...NOTHING, unread: answer.unread };
  });
}

const NOTHING = { data: null, upstream: '' } as const;
const LEFT_OUT: CallAnswer = { ...NOTHING, unread: TOO_LATE };

/** Far later than others of their group, which does not wait for them again soon. */
export interface LateCalls {
  has(call: ContractCall): boolean;
  add(call: ContractCall): void;
}

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
