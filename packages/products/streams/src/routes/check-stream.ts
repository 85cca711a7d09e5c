import type { Chain } from '@chainstead/chains';
import { type ChainId, type Hash, isAddress } from '@chainstead/core';
import { itemTypeOf, type SelectorType, TRIGGER_TYPES } from '../item-types.ts';
import { eventsByTopic, topicOf, topicOfEvent } from '../matching/compile-stream.ts';
import { checkFilter, type FieldKinds } from '../matching/filter.ts';
import type {
  AbiItem,
  AbiParameter,
  AdvancedOption,
  NativeBalanceSelector,
  StreamConfig,
  StreamTrigger,
} from '../stream.ts';
import { type Problem, ValidationFailedError } from './validation-failed.ts';

type ChainOf = (id: ChainId) => Chain | null;

/** Refuses configurations that can never work. @throws ValidationFailedError */
export function checkStream(config: StreamConfig, chainOf: ChainOf): void {
  const problems = [
    ...includeProblems(config),
    ...chainProblems(config, chainOf),
    ...contractProblems(config),
    ...eventProblems(config),
    ...optionProblems(config.advancedOptions ?? [], config.abi ?? []),
    ...balanceProblems(config.getNativeBalances),
    ...triggerProblems(config.triggers ?? []),
  ];
  if (problems.length > 0) throw new ValidationFailedError(problems);
}

function includeProblems(config: StreamConfig): readonly Problem[] {
  const { includeNativeTxs, includeContractLogs, includeInternalTxs, includeAllTxLogs } = config;
  const byOption = (config.advancedOptions ?? []).some((option) => option.includeNativeTxs === true);
  if (!includeNativeTxs && !includeContractLogs && !includeInternalTxs && !byOption) {
    const message = 'at least one of includeNativeTxs, includeContractLogs and includeInternalTxs must be true';
    return [{ path: 'includeNativeTxs', message, value: includeNativeTxs }];
  }
  if (includeAllTxLogs && !includeNativeTxs && !includeContractLogs)
    return [{ path: 'includeAllTxLogs', message: 'needs includeNativeTxs or includeContractLogs', value: true }];
  return [];
}

function chainProblems({ chainIds, includeInternalTxs }: StreamConfig, chainOf: ChainOf): readonly Problem[] {
  if (!includeInternalTxs) return [];
  const without = chainIds.flatMap((id) => {
    const chain = chainOf(id);
    return chain === null || chain.internalTransactions ? [] : [chain.key];
  });
  if (without.length === 0) return [];
  const message = `internal transactions are not available on ${without.join(', ')}`;
  return [{ path: 'includeInternalTxs', message, value: true }];
}

function contractProblems({ contracts, includeContractLogs }: StreamConfig): readonly Problem[] {
  if (includeContractLogs || contracts === null || contracts.length === 0) return [];
  return [{ path: 'contracts', message: 'needs includeContractLogs', value: contracts }];
}

function eventProblems({ abi, topic0, allAddresses }: StreamConfig): readonly Problem[] {
  const problems: Problem[] = [];
  const events = new Set<Hash>();
  for (const [index, item] of (abi ?? []).entries()) {
    const topic = topicOfEvent(item);
    if (topic !== null) events.add(topic);
    else if (item.type === 'event' && item.anonymous !== true)
      problems.push({
        path: `abi.${index}`,
        message: 'is not a valid event: it needs a name and known types',
        value: item,
      });
  }
  for (const [index, signature] of (topic0 ?? []).entries()) {
    const topic = topicOf(signature);
    if (topic !== null && events.has(topic)) continue;
    problems.push({
      path: `topic0.${index}`,
      message: topic === null ? NOT_A_SIGNATURE : 'has no event in the abi',
      value: signature,
    });
  }
  if (allAddresses && (events.size === 0 || (topic0 ?? []).length === 0))
    problems.push({ path: 'allAddresses', message: 'needs topic0 and an abi with its events', value: true });
  return problems;
}

function optionProblems(options: readonly AdvancedOption[], abi: readonly AbiItem[]): readonly Problem[] {
  const events = eventsByTopic(abi);
  return options.flatMap(({ topic0, filter }, index): readonly Problem[] => {
    const path = `advancedOptions.${index}`;
    const topic = topicOf(topic0);
    if (topic === null) return [{ path: `${path}.topic0`, message: NOT_A_SIGNATURE, value: topic0 }];
    if (filter === undefined || Object.keys(filter).length === 0) return [];
    const abis = events.get(topic);
    if (abis === undefined)
      return [
        { path: `${path}.topic0`, message: 'has no event in the abi, which its filter needs', value: topic0 },
      ];
    const kinds = abis.map(
      ({ fields }): FieldKinds => new Map([...fields].map(([name, { kind }]) => [name, kind])),
    );
    return checkFilter(filter, kinds, `${path}.filter`);
  });
}

const TOPIC0_TYPES = TRIGGER_TYPES.filter((type) => itemTypeOf(type).hasTopic0 === true);

/** docs/api/streams-matching.md#matching */
export function triggerProblems(triggers: readonly StreamTrigger[]): readonly Problem[] {
  return triggers.flatMap((trigger, index) => [
    ...(['contractAddress', 'callFrom'] as const).flatMap((member) => {
      const value = trigger[member];
      const message = value === undefined ? null : addressProblem(trigger.type, value);
      return message === null ? [] : [{ path: `triggers.${index}.${member}`, message, value }];
    }),
    ...topicProblems(trigger, `triggers.${index}.topic0`),
    ...functionProblems(trigger, `triggers.${index}`),
  ]);
}

function balanceProblems(balances: readonly NativeBalanceSelector[]): readonly Problem[] {
  return balances.flatMap(({ type, selectors }, index) =>
    selectors.flatMap((value, position) => {
      const message = selectorProblem(type, value, 'address');
      return message === null
        ? []
        : [{ path: `getNativeBalances.${index}.selectors.${position}`, message, value }];
    }),
  );
}

function addressProblem(type: SelectorType, text: string): string | null {
  if (isSelector(text)) return selectorProblem(type, text, 'address');
  return isAddress(text) ? null : 'must be an address or a selector of one';
}

const NOT_A_SIGNATURE = 'must be an event signature such as Transfer(address,address,uint256), or its hash';

function topicProblems({ type, topic0 }: StreamTrigger, path: string): readonly Problem[] {
  if (topic0 === undefined) return [];
  if (itemTypeOf(type).hasTopic0 !== true)
    return [{ path, message: `is allowed with type ${TOPIC0_TYPES.join(', ')} only`, value: topic0 }];
  return topicOf(topic0) === null ? [{ path, message: NOT_A_SIGNATURE, value: topic0 }] : [];
}

function functionProblems({ type, functionAbi, inputs = [] }: StreamTrigger, path: string): readonly Problem[] {
  const at = `${path}.functionAbi`;
  const parameters = functionAbi.inputs ?? [];
  if (functionAbi.type !== 'function')
    return [{ path: `${at}.type`, message: 'must be function', value: functionAbi.type }];
  if (functionAbi.name === undefined || functionAbi.name === '')
    return [{ path: `${at}.name`, message: "'name' is required" }];
  if (!hasKnownTypes(parameters)) return [{ path: `${at}.inputs`, message: 'has a type that does not exist' }];
  if (!hasKnownTypes(functionAbi.outputs ?? []))
    return [{ path: `${at}.outputs`, message: 'has a type that does not exist' }];
  const isView = functionAbi.stateMutability === 'view' || functionAbi.stateMutability === 'pure';
  if (!isView && functionAbi.constant !== true)
    return [
      { path: `${at}.stateMutability`, message: 'must be view or pure', value: functionAbi.stateMutability },
    ];
  if (inputs.length !== parameters.length) {
    const message = `must have ${parameters.length} items, as functionAbi has inputs`;
    return [{ path: `${path}.inputs`, message, value: inputs }];
  }
  return parameters.flatMap((parameter, index) => {
    const input = inputs[index];
    const message = input === undefined ? null : inputProblem(type, parameter.type, input);
    return message === null ? [] : [{ path: `${path}.inputs.${index}`, message, value: input }];
  });
}

/** Functions and events have the same types; a signature with a topic has only known ones. */
function hasKnownTypes(parameters: readonly AbiParameter[]): boolean {
  return topicOfEvent({ type: 'event', name: 'types', inputs: parameters }) !== null;
}

function inputProblem(type: SelectorType, abiType: string, input: string | readonly string[]): string | null {
  const [, item, count] = /^(.+)\[(\d*)\]$/.exec(abiType) ?? [];
  if (item === undefined)
    return typeof input === 'string'
      ? valueProblem(type, abiType, input)
      : `must be one value of type ${abiType}`;
  if (item.endsWith(']') || item.startsWith('tuple')) return `values of type ${abiType} can't be given`;
  if (typeof input === 'string') return `must be an array of ${item}`;
  if (count !== '' && input.length !== Number(count)) return `must have ${count} items`;
  return input.map((value) => valueProblem(type, item, value)).find((message) => message !== null) ?? null;
}

function valueProblem(type: SelectorType, abiType: string, value: string): string | null {
  if (abiType.startsWith('tuple')) return "values of type tuple can't be given";
  if (abiType === 'address') return addressProblem(type, value);
  if (isSelector(value)) return selectorProblem(type, value, 'any');
  return isLiteral(abiType, value) ? null : `must be a value of type ${abiType} or a selector`;
}

function isLiteral(abiType: string, value: string): boolean {
  const [, family, size] = /^(uint|int|bytes|bool|string|function)(\d*)$/.exec(abiType) ?? [];
  switch (family) {
    case 'uint':
    case 'int':
      return isInteger(value, family === 'int', size === '' ? 256 : Number(size));
    case 'bytes':
      return isBytes(value, size === '' ? null : Number(size));
    case 'function':
      return isBytes(value, 24);
    case 'bool':
      return value === 'true' || value === 'false';
    default:
      return family === 'string';
  }
}

function isInteger(value: string, isSigned: boolean, bits: number): boolean {
  if (!/^(?:-?\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value)) return false;
  const number = BigInt(value);
  const magnitude = isSigned ? 2n ** BigInt(bits - 1) : 2n ** BigInt(bits);
  return number < magnitude && number >= (isSigned ? -magnitude : 0n);
}

function isBytes(value: string, size: number | null): boolean {
  return /^0x(?:[0-9a-f]{2})*$/i.test(value) && (size === null || value.length === 2 + 2 * size);
}

function isSelector(text: string): boolean {
  return text.startsWith('$');
}

/** Null: none. `address`: it must select an address. */
export function selectorProblem(type: SelectorType, selector: string, kind: 'address' | 'any'): string | null {
  const { addresses, others } = itemTypeOf(type);
  const name = selector.slice(1);
  const allowed: readonly string[] = kind === 'address' ? addresses : [...addresses, ...others];
  if (isSelector(selector) && allowed.includes(name)) return null;
  const list = allowed.map((field) => `$${field}`).join(', ');
  return `must be a selector of ${kind === 'address' ? 'an address' : 'a member'} of type ${type}: ${list}`;
}
