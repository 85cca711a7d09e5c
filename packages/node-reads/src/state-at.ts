import type { Chain } from '@chainstead/chains';
import { type Address, createAnswerBudget, type Hex, parseBigQuantity } from '@chainstead/core';
import { type Answer, isAnswerOfCall, MalformedAnswerError, type UpstreamPool } from '@chainstead/rpc';
import { beginningOf, type ContractCall, decodeAggregate, encodeAggregate } from './calls/aggregate-calls.ts';
import { type CallAnswer, callTogether, createLateCalls, type LateCalls } from './calls/call-together.ts';
import { type BlockReader, type BlockToRead, createBlockReader } from './read-at-block.ts';

/**
 * What a chain's nodes say of one block. All throw StateNotArchivedError where every upstream says that it has not kept the block's state,
 * UpstreamsExhaustedError (retryable) where none answers or all have another block there, RequestAbortedError when the signal ends it.
 */
export interface StateAt {
  /** Upstream of the latest result; null before the first. */
  readonly upstream: string | null;
  /** Returned data; null where the call reverted or returned nothing. */
  call(to: Address, data: Hex, signal: AbortSignal): Promise<Hex | null>;
  /** As many calls, through Multicall3 where the chain has it; what comes to nothing in company is asked again alone. Null also for what could not be read. */
  callTogether(calls: readonly ContractCall[], signal: AbortSignal): Promise<(Hex | null)[]>;
  /** The same, with whose answer each is, and which could not be read: calls that are not made in one may be answered by different upstreams. */
  fetchTogether(calls: readonly ContractCall[], signal: AbortSignal): Promise<CallAnswer[]>;
  /** Result of a method that takes an account and a block, as the node returns it: a quantity. */
  account(method: AccountMethod, account: Address, signal: AbortSignal): Promise<string>;
  /** Native token balance. Wei. */
  balance(address: Address, signal: AbortSignal): Promise<bigint>;
  balances(addresses: readonly Address[], signal: AbortSignal): Promise<bigint[]>;
  /** `0x` where there is no contract. */
  code(address: Address, signal: AbortSignal): Promise<Hex>;
  codes(addresses: readonly Address[], signal: AbortSignal): Promise<Hex[]>;
  /** What contracts keep in slots: words of 32 bytes. */
  storage(places: readonly StoragePlace[], signal: AbortSignal): Promise<Hex[]>;
}

/** Methods that take an account and a block. */
export type AccountMethod = 'eth_getTransactionCount' | 'eth_getBalance';

/** A slot of a contract's storage. */
export interface StoragePlace {
  readonly address: Address;
  readonly slot: Hex;
}

export interface StateAtOptions {
  /** Asks other upstreams than this one (by name), or these. */
  readonly notFrom?: string | ReadonlySet<string>;
  /** Maximum size of a call's result; the rest is cut off. @default 8,192 bytes */
  readonly answerBytesMax?: number;
  /** Waits for calls that take far longer than their company, instead of leaving them unread. @default false */
  readonly isPatient?: boolean;
}

/** A contract may answer megabytes to each of many calls, free of charge: so much of it is in flight. */
const BUDGET = { bytesMax: 48 * 1_048_576, requestsMax: 24 };
const ANSWER_BYTES_MAX = 8_192;
/**
 * Reads the state of one block by its hash (EIP-1898), so that no other block can stand in for it. For upstreams without that, reads by its
 * number, with the hash that they have at it compared before and after. A number without a hash is read by number alone.
 */
export function stateAt(pool: UpstreamPool, chain: Chain, block: BlockToRead, options: StateAtOptions = {}): StateAt {
  const { answerBytesMax = ANSWER_BYTES_MAX, isPatient = false } = options;
  const reader = createBlockReader(pool, block, asSet(options.notFrom));
  const { multicall3 } = chain;
  const hasMulticall = multicall3 !== null && (block === 'latest' || block.number >= multicall3.blockCreated);
  const many = hasMulticall ? multicall3.address : null;
  const { fetchOne, fetchTogether } = createCalls(pool, reader, { many, answerBytesMax, isPatient });

  async function readMany(method: string, places: readonly (readonly Hex[])[], signal: AbortSignal): Promise<string[]> {
    if (places.length === 0) return [];
    const { value: values } = await reader.ask(async (tag, given): Promise<Answer<readonly unknown[]>> => {
      const answers = await pool.requestMany(
        method,
        places.map((place) => [...place, tag]),
        given,
      );
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
    async storage(places, signal) {
      const slots = places.map(({ address, slot }) => [address, slot]);
      // Some nodes leave leading zeros out.
      return (await readMany('eth_getStorageAt', slots, signal)).map(
        (word): Hex => `0x${word.slice(2).padStart(64, '0')}`,
      );
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

/** @param options.many where Multicall3 is; null where there is none */
function createCalls(
  pool: UpstreamPool,
  reader: BlockReader,
  {
    many,
    answerBytesMax,
    isPatient,
  }: Pick<Required<StateAtOptions>, 'answerBytesMax' | 'isPatient'> & { many: Address | null },
) {
  const budget = createAnswerBudget(BUDGET);

  async function ask(to: Address, data: Hex, signal: AbortSignal): Promise<CallAnswer> {
    try {
      const { value, upstream } = await reader.ask(
        (tag, given) => pool.request('eth_call', [{ to, data }, tag], given),
        signal,
      );
      if (typeof value !== 'string' || value.length <= 2) return { data: null, upstream };
      budget.observe(value.length);
      return { data: value as Hex, upstream };
    } catch (error) {
      // The node executed the call and it failed: a result. A failure that may be temporary is not.
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
    return answers?.map((one) => ({ data: one, upstream })) ?? null;
  }

  const lateCalls = isPatient ? NEVER_LATE : lateCallsOf(pool);
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

/** A pool is of one chain and process. */
const lateCalls = new WeakMap<UpstreamPool, LateCalls>();

function lateCallsOf(pool: UpstreamPool): LateCalls {
  const known = lateCalls.get(pool) ?? createLateCalls();
  lateCalls.set(pool, known);
  return known;
}

function alone(address: Address): readonly Hex[] {
  return [address];
}

function asSet(names: string | ReadonlySet<string> | undefined): ReadonlySet<string> {
  return typeof names === 'string' ? new Set([names]) : (names ?? new Set());
}
