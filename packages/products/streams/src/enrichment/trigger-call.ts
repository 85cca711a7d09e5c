import { type Address, defineError, errorText, type Hex } from '@chainstead/core';
import { decodeMeasured } from '@chainstead/events/abi';
import { type AbiFunction, BaseError, encodeFunctionData } from 'viem';
import type { AbiItem, AbiParameter, StreamTrigger } from '../stream.ts';
import type { TriggerResult } from '../webhook.ts';
import { type SelectedItem, selectedAddress, selectedText } from './selector-value.ts';

export interface TriggerCall {
  readonly to: Address;
  readonly data: Hex;
  /** Null: the node's default, the zero address. */
  readonly from: Address | null;
}

export class TriggerInputError extends defineError('TRIGGER_INPUT', (text: string, wanted: string) => ({
  message: `${text} has no ${wanted} in this item`,
  facts: { selector: text, wanted },
})) {}

/** @throws TriggerInputError, viem encoding errors; `triggerError` formats them */
export function triggerCall(trigger: StreamTrigger, item: SelectedItem): TriggerCall {
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

export interface CallResults {
  readonly results: readonly TriggerResult[];
  readonly bytes: number;
}

export function triggerResults(trigger: StreamTrigger, answer: Hex, bytesMax: number): CallResults {
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
export function triggerError(error: unknown): readonly TriggerResult[] {
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
