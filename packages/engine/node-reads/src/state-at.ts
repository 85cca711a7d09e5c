import type { Chain } from '@chainstead/chains';
import { type Address, createAnswerBudget, getOrCompute, type Hex, parseBigQuantity } from '@chainstead/core';
import {
  type Answer,
  isAnswerOfCall,
  MalformedAnswerError,
  type RequestOptions,
  type UpstreamPool,
} from '@chainstead/rpc';
import {
  beginningOf,
  type CallAnswer,
  type ContractCall,
  callTogether,
  createLateCalls,
  decodeAggregate,
  encodeAggregate,
  type LateCalls,
} from './calls/call-together.ts';
import { type BlockToRead, createBlockReader, type StateBlockReader } from './read-at-block.ts';

/** @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError */
export interface StateAt {
  /** Null before the first result. */
  readonly upstream: string | null;
  /** Null if the call reverted or returned nothing. */
  call(to: Address, data: Hex, signal: AbortSignal): Promise<Hex | null>;
  /** Through Multicall3 if possible; calls without data are repeated. Null if unreadable, too. */
  callTogether(calls: readonly ContractCall[], signal: AbortSignal): Promise<(Hex | null)[]>;
  fetchTogether(calls: readonly ContractCall[], signal: AbortSignal): Promise<CallAnswer[]>;
  account(method: AccountMethod, account: Address, signal: AbortSignal): Promise<string>;
  /** Wei. */
  balance(address: Address, signal: AbortSignal): Promise<bigint>;
  balances(addresses: readonly Address[], signal: AbortSignal): Promise<bigint[]>;
  /** `0x` without a contract. */
  code(address: Address, signal: AbortSignal): Promise<Hex>;
  codes(addresses: readonly Address[], signal: AbortSignal): Promise<Hex[]>;
  /** Words of 32 bytes. */
  storage(slots: readonly { address: Address; slot: Hex }[], signal: AbortSignal): Promise<Hex[]>;
}

export type AccountMethod = 'eth_getTransactionCount' | 'eth_getBalance';

export interface StateAtOptions {
  readonly notFrom?: string | ReadonlySet<string>;
  /** The rest of a call's result is cut off. @default 8192 */
  readonly answerBytesMax?: number;
  /** Waits for calls that are far later than the others. @default false */
  readonly isPatient?: boolean;
}

/** A contract may return megabytes to each of many calls, free of charge. */
const BUDGET = { bytesMax: 48 * 1_048_576, requestsMax: 24 };
/** By hash (EIP-1898), or by number with the hash compared before and after. */
export function stateAt(
  pool: UpstreamPool,
  chain: Chain,
  block: BlockToRead,
  options: StateAtOptions = {},
): StateAt {
  const { notFrom = [], answerBytesMax = 8_192, isPatient = false } = options;
  const reader = createBlockReader(pool, block, new Set(typeof notFrom === 'string' ? [notFrom] : notFrom));
  const { multicall3 } = chain;
  const hasMulticall = multicall3 !== null && (block === 'latest' || block.number >= multicall3.blockCreated);
  const many = hasMulticall ? multicall3.address : null;
  const { fetchOne, fetchTogether } = createCalls(pool, reader, many, answerBytesMax, isPatient);

  async function readMany(
    method: string,
    keys: readonly (readonly Hex[])[],
    signal: AbortSignal,
  ): Promise<string[]> {
    if (keys.length === 0) return [];
    const { value: values } = await reader.ask(async (tag, given): Promise<Answer<readonly unknown[]>> => {
      const params = keys.map((key) => [...key, tag]);
      const answers = await pool.requestMany(method, params, given);
      return { value: answers.map(({ value }) => value), upstream: answers.at(-1)?.upstream ?? '' };
    }, signal);
    return values.map((value) => {
      if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value))
        throw new MalformedAnswerError(`${method} was answered with ${JSON.stringify(value)?.slice(0, 100)}`);
      return value.toLowerCase();
    });
  }

  const balances: StateAt['balances'] = async (addresses, signal) =>
    (await readMany('eth_getBalance', addresses.map(alone), signal)).map(parseBigQuantity);
  const codes: StateAt['codes'] = async (addresses, signal) =>
    (await readMany('eth_getCode', addresses.map(alone), signal)) as Hex[];

  return {
    get upstream() {
      return reader.upstream;
    },
    call: async (to, data, signal) => (await fetchOne(to, data, signal)).data,
    callTogether: async (calls, signal) => (await fetchTogether(calls, signal)).map(({ data }) => data),
    fetchTogether,
    async account(method, account, signal) {
      const [value = '0x0'] = await readMany(method, [[account]], signal);
      return value;
    },
    balances,
    codes,
    async storage(slots, signal) {
      const keys = slots.map(({ address, slot }) => [address, slot]);
      const words = await readMany('eth_getStorageAt', keys, signal);
      // Some nodes leave leading zeros out.
      return words.map((word): Hex => `0x${word.slice(2).padStart(64, '0')}`);
    },
    async balance(address, signal) {
      const [wei = 0n] = await balances([address], signal);
      return wei;
    },
    async code(address, signal) {
      const [code = '0x'] = await codes([address], signal);
      return code;
    },
  };
}

/** @param many the address of Multicall3; null: none */
function createCalls(
  pool: UpstreamPool,
  reader: StateBlockReader,
  many: Address | null,
  answerBytesMax: number,
  isPatient: boolean,
) {
  const budget = createAnswerBudget(BUDGET);

  async function ask(to: Address, data: Hex, signal: AbortSignal): Promise<CallAnswer> {
    try {
      const call = (tag: unknown, given: RequestOptions) => pool.request('eth_call', [{ to, data }, tag], given);
      const { value, upstream } = await reader.ask(call, signal);
      if (typeof value !== 'string' || value.length <= 2) return { data: null, upstream };
      budget.observe(value.length);
      return { data: value as Hex, upstream };
    } catch (error) {
      // The call failed in execution: a result. A failure that may be temporary is not.
      if (isAnswerOfCall(error)) return { data: null, upstream: error.upstream };
      throw error;
    }
  }

  const fetchOne = (to: Address, data: Hex, signal: AbortSignal): Promise<CallAnswer> =>
    budget.run(async () => {
      const answer = await ask(to, data, signal);
      return { ...answer, data: answer.data === null ? null : beginningOf(answer.data, answerBytesMax) };
    });

  async function aggregate(
    at: Address,
    calls: readonly ContractCall[],
    signal: AbortSignal,
  ): Promise<CallAnswer[] | null> {
    const { data, upstream } = await budget.run(() => ask(at, encodeAggregate(calls), signal));
    const answers = data === null ? null : decodeAggregate(data, calls.length);
    return answers?.map((answer) => ({ data: answer, upstream })) ?? null;
  }

  const lateCalls = isPatient ? NEVER_LATE : getOrCompute(LATE_CALLS, pool, createLateCalls);
  const until = (late: AbortSignal, signal: AbortSignal): AbortSignal =>
    isPatient ? signal : AbortSignal.any([signal, late]);
  const fetchTogether: StateAt['fetchTogether'] = (calls, signal) =>
    callTogether(calls, {
      one: ({ to, data }, late) => fetchOne(to, data, until(late, signal)),
      many: many === null ? null : (some, late) => aggregate(many, some, until(late, signal)),
      lateCalls,
    });

  return { fetchOne, fetchTogether };
}

const NEVER_LATE: LateCalls = { has: () => false, add: () => undefined };

const LATE_CALLS = new WeakMap<UpstreamPool, LateCalls>();

function alone(address: Address): readonly Hex[] {
  return [address];
}
