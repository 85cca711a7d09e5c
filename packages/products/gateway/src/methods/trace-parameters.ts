import { blockOverrides, stateOverrides } from './call-object.ts';
import {
  address,
  block,
  boolean,
  type Check,
  listOf,
  type MethodParameter,
  mapOf,
  matching,
  membersOf,
  mustBe,
  number64,
} from './values.ts';

/** Any other text is a script, which runs in the node without a time limit. */
const TRACERS = [
  ...['callTracer', 'prestateTracer', 'flatCallTracer', '4byteTracer', 'noopTracer'],
  ...['muxTracer', 'erc7562Tracer', 'keccak256PreimageTracer'],
];
const TYPES = ['trace', 'vmTrace', 'stateDiff'];
const ADDRESSES_MAX = 1_000;

const flagName = matching(/^[A-Za-z0-9]{1,40}$/, 'tracerConfig: a name', 'a word');

export const TRACER: MethodParameter = {
  name: 'tracer',
  isOptional: true,
  check: membersOf('tracer', {
    tracer: oneOf('tracer', TRACERS),
    tracerConfig: mapOf('tracerConfig', flagName, boolean('tracerConfig: a setting')),
    timeout: matching(/^\d{1,4}(?:ms|s|m)$/, 'timeout', 'a time such as 5s'),
    reexec: count('reexec'),
    limit: count('limit'),
    disableStorage: boolean('disableStorage'),
    disableStack: boolean('disableStack'),
    disableMemory: boolean('disableMemory'),
    disableReturnData: boolean('disableReturnData'),
    enableMemory: boolean('enableMemory'),
    enableReturnData: boolean('enableReturnData'),
    stateOverrides,
    blockOverrides,
    txIndex: number64('txIndex'),
  }),
};

export const TRACE_TYPES: MethodParameter = {
  name: 'traceTypes',
  check: listOf('traceTypes', oneOf('traceTypes: a type', TYPES), TYPES.length),
};

export const TRACE_FILTER: MethodParameter = {
  name: 'filter',
  check: membersOf('filter', {
    fromBlock: block('fromBlock'),
    toBlock: block('toBlock'),
    fromAddress: listOf('fromAddress', address('fromAddress'), ADDRESSES_MAX),
    toAddress: listOf('toAddress', address('toAddress'), ADDRESSES_MAX),
    mode: oneOf('mode', ['union', 'intersection']),
    after: count('after'),
    count: count('count'),
  }),
};

function oneOf(name: string, allowed: readonly string[]): Check {
  const words: ReadonlySet<unknown> = new Set(allowed);
  return (value) => (words.has(value) ? null : mustBe(name, `one of ${allowed.join(', ')}`, value));
}

function count(name: string): Check {
  const quantity = number64(name);
  return (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? null : quantity(value));
}
