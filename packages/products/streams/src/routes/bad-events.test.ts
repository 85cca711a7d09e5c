import { FILTER_OPERATORS } from '../matching/filter-shape.ts';
import { TRANSFER_EVENT, TRANSFER_HASH, TRANSFER_SIGNATURE } from './testing/example-stream-api.ts';
import { testRefusals } from './testing/refusals.ts';

const SIGNATURE = 'must be an event signature such as Transfer(address,address,uint256), or its hash';
const logs = { includeContractLogs: true, topic0: [TRANSFER_SIGNATURE], abi: [TRANSFER_EVENT] };

testRefusals([
  ['a topic that is text', { topic0: TRANSFER_SIGNATURE }, 'topic0', 'invalid array', TRANSFER_SIGNATURE],
  ['something that is not a topic', { topic0: ['Transfer'] }, 'topic0.$0', SIGNATURE, 'Transfer'],
  ['a topic with a wrong type', { topic0: ['Transfer(adress)'] }, 'topic0.$0', SIGNATURE, 'Transfer(adress)'],
  ['a short hash', { topic0: ['0xddf252ad'] }, 'topic0.$0', SIGNATURE, '0xddf252ad'],
  [
    'a topic without an ABI',
    { topic0: [TRANSFER_SIGNATURE] },
    'topic0.$0',
    'has no event in the abi',
    TRANSFER_SIGNATURE,
  ],
  [
    'a topic of another ABI',
    { topic0: ['Approval(address,address,uint256)'], abi: [TRANSFER_EVENT] },
    'topic0.$0',
    'has no event in the abi',
    'Approval(address,address,uint256)',
  ],
  ['an ABI that is text', { abi: '[]' }, 'abi', 'invalid array', '[]'],
  ['an ABI item without type', { abi: [{ name: 'Transfer' }] }, 'abi.$0.type', "'type' is required"],
  ['an ABI item that is text', { abi: ['event Transfer()'] }, 'abi.$0', 'invalid object', 'event Transfer()'],
  [
    'an input without name',
    { abi: [{ type: 'event', name: 'E', inputs: [{ type: 'address' }] }] },
    'abi.$0.inputs.$0.name',
    "'name' is required",
  ],
  [
    'an unknown member of an ABI item',
    { abi: { type: 'function', name: 'f', selector: '0x1' } },
    'abi.$0.selector',
    '"selector" is an excess property and therefore is not allowed',
    '0x1',
  ],
  [
    'an event without a name',
    { abi: [{ type: 'event', inputs: [] }] },
    'abi.$0',
    'is not a valid event: it needs a name and known types',
    { type: 'event', inputs: [] },
  ],
  [
    'an option without topic',
    { advancedOptions: [{ filter: {} }] },
    'advancedOptions.$0.topic0',
    "'topic0' is required",
  ],
  [
    'an option with a bad topic',
    { advancedOptions: { topic0: 'Transfer' } },
    'advancedOptions.$0.topic0',
    SIGNATURE,
    'Transfer',
  ],
  [
    'a filter without its event',
    { advancedOptions: [{ topic0: TRANSFER_SIGNATURE, filter: { eq: ['value', '1'] } }] },
    'advancedOptions.$0.topic0',
    'has no event in the abi, which its filter needs',
    TRANSFER_SIGNATURE,
  ],
  [
    'a filter with an unknown operator',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { like: ['value', '1'] } }] },
    'advancedOptions.$0.filter',
    `like is not one of and, or, ${[...FILTER_OPERATORS.keys()].join(', ')}`,
  ],
  [
    'a filter on an unknown parameter',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { eq: ['amount', '1'] } }] },
    'advancedOptions.$0.filter.eq.$0',
    'is not a parameter of the event that can be compared',
    'amount',
  ],
  [
    'a filter with one member',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { and: [{ eq: ['value', '1'] }] } }] },
    'advancedOptions.$0.filter.and',
    'must have at least two filters',
  ],
  [
    'a filter of another type',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: { gt: ['value', 'many'] } }] },
    'advancedOptions.$0.filter.gt.$1',
    'must be a whole number, decimal or hexadecimal',
    'many',
  ],
  [
    'a filter that is text',
    { ...logs, advancedOptions: [{ topic0: TRANSFER_HASH, filter: '{}' }] },
    'advancedOptions.$0.filter',
    'invalid object',
    '{}',
  ],
]);
