import { setMaxListeners } from 'node:events';
import {
  type Address,
  type AnswerBudget,
  defineError,
  errorText,
  getOrCompute,
  type Hash,
  type Hex,
  isAddress,
  parseAddress,
  parseBigQuantity,
} from '@chainstead/core';
import { decodeMeasured } from '@chainstead/events/abi';
import { isAnswerOfCall, type UpstreamPool } from '@chainstead/rpc';
import { type AbiFunction, BaseError, encodeFunctionData } from 'viem';
import { itemTypeOf, type SelectorType } from '../item-types.ts';
import { topicOf } from '../matching/compile-stream.ts';
import type { EnrichedMatch } from '../payload/render-body.ts';
import type { AbiItem, AbiParameter, StreamTrigger } from '../stream.ts';
import type { TriggerResult, WebhookContents } from '../webhook.ts';

/** A call without a response fails the whole read, or shows as failed. */
export type Unanswered = 'throw' | 'show';

interface ReadTriggersOptions {
  readonly state: BlockState;
  readonly unanswered: Unanswered;
  /** For one webhook. Calls beyond that show an error, once per trigger. */
  readonly callsMax: number;
  readonly budget: AnswerBudget;
  readonly inTurn: InTurn;
}

/** Keys take turns with their parts of a webhook's calls. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export const CALLS_TOGETHER = 25;
const ANSWER_BYTES_MAX = 1_048_576;

const RESULT_BYTES_MAX = 4 * ANSWER_BYTES_MAX;
const UNANSWERED = 'no node answered';

export async function readTriggers(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  options: ReadTriggersOptions,
): Promise<EnrichedMatch['triggers']> {
  const { budget, callsMax, inTurn } = options;
  const byType = new Map<StreamTrigger['type'], Map<number, readonly TriggerResult[]>>();
  const readings = planReadings(triggers, contents, callsMax);
  let bytesLeft = RESULT_BYTES_MAX;
  for (let at = 0; at < readings.length; at += CALLS_TOGETHER) {
    const together = readings.slice(at, at + CALLS_TOGETHER);
    const read = async (): Promise<void> => {
      const answers = await Promise.all(together.map((reading) => answer(reading, options)));
      budget.observe(answers.reduce((sum, { data }) => sum + (data?.length ?? 0), 0));
      for (const [number, { trigger, index }] of together.entries()) {
        const { data, failure } = answers[number] ?? { failure: UNANSWERED };
        const { results, bytes } =
          data === undefined
            ? { results: triggerError(failure), bytes: 0 }
            : triggerResults(trigger, data, Math.min(ANSWER_BYTES_MAX, bytesLeft));
        bytesLeft -= bytes;
        const items = getOrCompute(byType, trigger.type, () => new Map());
        items.set(index, [...(items.get(index) ?? []), ...results]);
      }
    };
    await inTurn(() => budget.run(read));
  }
  return Object.fromEntries(byType);
}

interface Reading {
  readonly trigger: StreamTrigger;
  readonly item: SelectedItem;
  readonly index: number;
  readonly isSurplus: boolean;
}

function planReadings(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  callsMax: number,
): Reading[] {
  const readings: Reading[] = [];
  let calls = 0;
  for (const trigger of triggers) {
    const topic0 = trigger.topic0 === undefined ? null : topicOf(trigger.topic0);
    const hasTopic = topic0 !== null && itemTypeOf(trigger.type).hasTopic0 === true;
    for (const [index, item] of itemsOf(trigger.type, contents).entries()) {
      if (hasTopic && !('topic0' in item && item.topic0 === topic0)) continue;
      const isSurplus = calls >= callsMax;
      readings.push({ trigger, item, index, isSurplus });
      if (isSurplus) break;
      calls += 1;
    }
  }
  return readings;
}

/** Calls of `readTriggers`, at most. */
export function triggerCalls(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  callsMax: number,
): number {
  return planReadings(triggers, contents, callsMax).filter(({ isSurplus }) => !isSurplus).length;
}

interface CallAnswer {
  readonly data?: Hex;
  readonly failure?: unknown;
}

async function answer({ trigger, item, isSurplus }: Reading, options: ReadTriggersOptions): Promise<CallAnswer> {
  const { state, unanswered, callsMax } = options;
  if (isSurplus) return { failure: `only ${callsMax} calls are made for the webhook of a block` };
  let call: ReturnType<typeof triggerCall>;
  try {
    call = triggerCall(trigger, item);
  } catch (error) {
    return { failure: error };
  }
  try {
    return { data: await state.call(call) };
  } catch (error) {
    const text = answerOf(error);
    if (text !== null) return { failure: text };
    if (unanswered === 'throw') throw error;
    return { failure: UNANSWERED };
  }
}

interface TriggerCall {
  readonly to: Address;
  readonly data: Hex;
  /** Null: the node's default, the zero address. */
  readonly from: Address | null;
}

class TriggerInputError extends defineError('TRIGGER_INPUT', (text: string, wanted: string) => ({
  message: `${text} has no ${wanted} in this item`,
  facts: { selector: text, wanted },
})) {}

/** @throws TriggerInputError, viem encoding errors; `triggerError` formats them */
function triggerCall(trigger: StreamTrigger, item: SelectedItem): TriggerCall {
  const { functionAbi, inputs = [], callFrom } = trigger;
  const args = (functionAbi.inputs ?? []).map(({ type }, index) => {
    const input = inputs[index] ?? '';
    if (typeof input === 'string') return value(type, input, item);
    const itemType = type.replace(/\[\d*\]$/, '');
    return input.map((text) => value(itemType, text, item));
  });
  return {
    to: addressFrom(trigger.contractAddress, item),
    data: encodeFunctionData({ abi: [functionOf(functionAbi)], args }),
    from: callFrom === undefined ? null : addressFrom(callFrom, item),
  };
}

interface CallResults {
  readonly results: readonly TriggerResult[];
  readonly bytes: number;
}

function triggerResults(trigger: StreamTrigger, answer: Hex, bytesMax: number): CallResults {
  const outputs = trigger.functionAbi.outputs ?? [];
  if (answer === '0x' && outputs.length > 0) return failed('the contract answered nothing');
  try {
    const parameters = functionOf(trigger.functionAbi).outputs;
    const decoded = decodeMeasured(parameters, answer, { outputBytesMax: bytesMax, overlaps: 'refuse' });
    const results = outputs.map(({ name }, index) => ({
      name: name === '' ? `output${index + 1}` : name,
      value: plain(decoded.values[index]),
    }));
    return { results, bytes: outputs.reduce((sum, { name }) => sum + name.length, decoded.outputBytes) };
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): CallResults {
  return { results: triggerError(error), bytes: 0 };
}

/** docs/api/streams-matching.md#matching */
function triggerError(error: unknown): readonly TriggerResult[] {
  const message = error instanceof BaseError ? error.shortMessage : errorText(error);
  return [{ name: 'error', value: message }];
}

function functionOf(item: AbiItem): AbiFunction {
  const { name = '', inputs = [], outputs = [] } = item;
  return {
    type: 'function',
    name,
    stateMutability: 'view',
    inputs: inputs.map(parameterOf),
    outputs: outputs.map(parameterOf),
  };
}

/** viem merges outputs with the same name: names are restored by position. */
function parameterOf({ type, components }: AbiParameter): AbiFunction['inputs'][number] {
  return Array.isArray(components) ? { type, components } : { type };
}

function addressFrom(text: string, item: SelectedItem): Address {
  const address = selectedAddress(text, item);
  if (address === null) throw new TriggerInputError(text, 'address');
  return address;
}

function value(type: string, text: string, item: SelectedItem): unknown {
  if (type === 'address') return addressFrom(text, item);
  const selected = selectedText(text, item);
  if (selected === null) throw new TriggerInputError(text, type);
  if (/^u?int/.test(type)) {
    if (!/^(?:-?\d+|0x[0-9a-f]+)$/i.test(selected)) throw new TriggerInputError(text, type);
    return BigInt(selected);
  }
  if (type === 'bool') return selected === 'true' || /^0x0*1$/.test(selected);
  return selected;
}

/** As JSON: numbers as decimal digits. */
function plain(decoded: unknown): unknown {
  if (typeof decoded === 'bigint' || typeof decoded === 'number') return decoded.toString();
  if (Array.isArray(decoded)) return decoded.map(plain);
  if (typeof decoded === 'object' && decoded !== null)
    return Object.fromEntries(Object.entries(decoded).map(([name, member]) => [name, plain(member)]));
  return decoded;
}

/** Read by block hash (EIP-1898), never from another block with the same number. */
export interface BlockState {
  /** @throws RpcCallError if the call itself fails; UpstreamsExhaustedError, RequestAbortedError */
  call(call: TriggerCall): Promise<Hex>;
  /** Wei. */
  balance(address: Address): Promise<bigint>;
}

class MalformedStateError extends defineError('STATE_MALFORMED', (method: string, upstream: string) => ({
  message: `${upstream} returned an unexpected value for ${method}`,
  facts: { method, upstream },
  retryable: true,
})) {}

class AnswerTooLargeError extends defineError('STATE_TOO_LARGE', (bytesMax: number) => ({
  message: `The contract returned more than ${bytesMax} bytes`,
  facts: { limit_bytes: bytesMax },
})) {}
/** Characters. Larger responses are not cached. */
const KEPT_LENGTH_MAX = 65_536;

export function openBlockState(
  pool: UpstreamPool,
  block: { readonly number: number; readonly hash: Hash },
  signal: AbortSignal,
): BlockState {
  setMaxListeners(0, signal);
  const at = { blockHash: block.hash };
  const options = { signal, minBlock: block.number };
  const calls = new Map<string, Promise<Hex>>();
  const balances = new Map<Address, Promise<bigint>>();
  return {
    call: (call) =>
      getOrCompute(calls, nameOf(call), async () => {
        const { to, data, from } = call;
        const request = from === null ? { to, data } : { from, to, data };
        const { value, upstream } = await pool.request('eth_call', [request, at], options);
        if (!isHex(value)) throw new MalformedStateError('eth_call', upstream);
        if (value.length > KEPT_LENGTH_MAX) calls.delete(nameOf(call));
        if (value.length > 2 + 2 * ANSWER_BYTES_MAX) throw new AnswerTooLargeError(ANSWER_BYTES_MAX);
        return value;
      }),
    balance: (address) =>
      getOrCompute(balances, address, async () => {
        const { value, upstream } = await pool.request('eth_getBalance', [address, at], options);
        if (!isHex(value)) throw new MalformedStateError('eth_getBalance', upstream);
        return parseBigQuantity(value);
      }),
  };
}

export function answerOf(error: unknown): string | null {
  if (isAnswerOfCall(error)) return error.rpcMessage;
  return error instanceof AnswerTooLargeError ? error.message : null;
}

function nameOf({ to, data, from }: TriggerCall): string {
  return `${from ?? ''}>${to}:${data}`;
}

function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value);
}

type SelectedItem = object;

export function itemsOf(type: SelectorType, contents: WebhookContents): readonly SelectedItem[] {
  return contents[itemTypeOf(type).list];
}

/** `$name` is the item's member, other text is literal. Null: no such member. */
export function selectedText(text: string, item: SelectedItem): string | null {
  if (!text.startsWith('$')) return text;
  const value = new Map<string, unknown>(Object.entries(item)).get(text.slice(1));
  return typeof value === 'string' ? value : null;
}

const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/i;

/** A topic contains an address if its upper 12 bytes are zero. */
export function selectedAddress(text: string, item: SelectedItem): Address | null {
  const value = selectedText(text, item);
  if (value === null) return null;
  if (ADDRESS_WORD.test(value)) return parseAddress(`0x${value.slice(-40)}`);
  return isAddress(value) ? parseAddress(value) : null;
}
