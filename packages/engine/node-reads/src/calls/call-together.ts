import { type Address, ChainsteadError, type Hex } from '@chainstead/core';
import { decodeAbi } from '@chainstead/events/abi';
import { RequestAbortedError } from '@chainstead/rpc';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { StateUnavailableError } from '../state-error.ts';

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
const TOO_LATE = new StateUnavailableError('A contract responds far slower than others and was skipped');

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

type Settled<T> = { readonly value: T } | { readonly unread: ChainsteadError };

/** Time for the rest once half have ended, or twice the time of that half. */
const LATE_MS = 750;
/** If this many fail first, no node is there: the others are aborted. */
const FAULTS_MAX = 5;

/** A failure or delay spoils no other. @throws RequestAbortedError if the caller aborted */
export async function settleTogether<Item, T>(
  items: readonly Item[],
  work: (item: Item, late: AbortSignal) => Promise<T>,
): Promise<Settled<T>[]> {
  const late = new AbortController();
  const began = performance.now();
  let ended = 0;
  let faults = 0;
  let timer: NodeJS.Timeout | undefined;

  async function settle(item: Item): Promise<Settled<T>> {
    try {
      return { value: await work(item, late.signal) };
    } catch (error) {
      if (!isUnread(error, late.signal)) throw error;
      if (error instanceof RequestAbortedError) return { unread: TOO_LATE };
      if (++faults === FAULTS_MAX && ended < faults) late.abort();
      return { unread: error };
    } finally {
      if (++ended * 2 >= items.length)
        timer ??= setTimeout(() => late.abort(), Math.max(LATE_MS, 2 * (performance.now() - began)));
    }
  }

  try {
    return await Promise.all(items.map(settle));
  } finally {
    clearTimeout(timer);
  }
}

/** False if the caller aborted all of it, or this program is at fault. */
export function isUnread(error: unknown, late: AbortSignal): error is ChainsteadError {
  return error instanceof ChainsteadError && (late.aborted || !(error instanceof RequestAbortedError));
}

/** Null if something was read, or nothing was asked. */
function whyNothing(
  settled: readonly { readonly unread?: ChainsteadError | undefined }[],
): ChainsteadError | null {
  const reasons = settled.flatMap(({ unread }) => unread ?? []);
  if (reasons.length < settled.length) return null;
  return reasons.find((reason) => reason !== TOO_LATE) ?? reasons[0] ?? null;
}

export interface ContractCall {
  readonly to: Address;
  readonly data: Hex;
}

const MULTICALL3_ABI = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
]);

export function encodeAggregate(calls: readonly ContractCall[]): Hex {
  const requests = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
  return encodeFunctionData({ abi: MULTICALL3_ABI, functionName: 'aggregate3', args: [requests] });
}

/** Null: not Multicall3's. Null data proves nothing: one `INVALID` burns 63/64 of the gas. */
export function decodeAggregate(answer: Hex, calls: number): (Hex | null)[] | null {
  try {
    const [results] = decodeAbi(MULTICALL3_ABI[0].outputs, answer);
    if (results.length !== calls) return null;
    return results.map(({ success, returnData }) => (success && returnData.length > 2 ? returnData : null));
  } catch {
    // No Multicall3, or a contract that answers far too much: the single calls decide.
    return null;
  }
}

export function beginningOf(answer: Hex, bytesMax: number): Hex {
  if (answer.length <= 2 + 2 * bytesMax) return answer;
  // A copy: a slice would keep all of it in memory.
  return Buffer.from(answer.slice(0, 2 + 2 * bytesMax), 'latin1').toString('latin1') as Hex;
}
