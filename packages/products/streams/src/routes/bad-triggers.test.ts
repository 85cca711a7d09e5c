import { TRANSFER_EVENT, TRANSFER_SIGNATURE } from './testing/example-stream-api.ts';
import { testRefusals } from './testing/refusals.ts';

const balanceOf = {
  type: 'function',
  name: 'balanceOf',
  stateMutability: 'view',
  inputs: [{ name: 'owner', type: 'address' }],
  outputs: [{ name: 'balance', type: 'uint256' }],
};
const trigger = {
  type: 'erc20transfer',
  contractAddress: '$contract',
  functionAbi: balanceOf,
  inputs: ['$from'],
};

testRefusals([
  [
    'a selector without $',
    { getNativeBalances: [{ type: 'tx', selectors: ['fromAddress'] }] },
    'getNativeBalances.$0.selectors.$0',
    'must be a selector of an address of type tx: $fromAddress, $toAddress, $receiptContractAddress',
    'fromAddress',
  ],
  [
    'a selector of another type',
    { getNativeBalances: { type: 'erc20transfer', selectors: ['$from', '$owner'] } },
    'getNativeBalances.$0.selectors.$1',
    'must be a selector of an address of type erc20transfer: $contract, $from, $to',
    '$owner',
  ],
  [
    'a selector of no address',
    { getNativeBalances: [{ type: 'nfttransfer', selectors: ['$tokenId'] }] },
    'getNativeBalances.$0.selectors.$0',
    'must be a selector of an address of type nfttransfer: $contract, $operator, $from, $to',
    '$tokenId',
  ],
  [
    'balances of an unknown type',
    { getNativeBalances: [{ type: 'block', selectors: [] }] },
    'getNativeBalances.$0.type',
    "should be one of the following; ['tx','log','erc20transfer','erc20approval','nfttransfer','internalTx']",
    'block',
  ],
  [
    'a trigger without function',
    { triggers: [{ ...trigger, functionAbi: undefined }] },
    'triggers.$0.functionAbi',
    "'functionAbi' is required",
  ],
  [
    'a trigger of an unknown type',
    { triggers: [{ ...trigger, type: 'internalTx' }] },
    'triggers.$0.type',
    "should be one of the following; ['tx','log','erc20transfer','erc20approval','nfttransfer']",
    'internalTx',
  ],
  [
    'a trigger on no address',
    { triggers: [{ ...trigger, contractAddress: 'usdt.eth' }] },
    'triggers.$0.contractAddress',
    'must be an address or a selector of one',
    'usdt.eth',
  ],
  [
    'a trigger from no address',
    { triggers: [{ ...trigger, callFrom: '$value' }] },
    'triggers.$0.callFrom',
    'must be a selector of an address of type erc20transfer: $contract, $from, $to',
    '$value',
  ],
  [
    'a trigger that would write',
    { triggers: [{ ...trigger, functionAbi: { ...balanceOf, stateMutability: 'payable' } }] },
    'triggers.$0.functionAbi.stateMutability',
    'must be view or pure',
    'payable',
  ],
  [
    'a trigger that calls an event',
    { triggers: [{ ...trigger, functionAbi: TRANSFER_EVENT }] },
    'triggers.$0.functionAbi.type',
    'must be function',
    'event',
  ],
  [
    'a trigger without a function name',
    { triggers: [{ ...trigger, functionAbi: { ...balanceOf, name: '' } }] },
    'triggers.$0.functionAbi.name',
    "'name' is required",
  ],
  [
    'a trigger with too few inputs',
    { triggers: [{ ...trigger, inputs: [] }] },
    'triggers.$0.inputs',
    'must have 1 items, as functionAbi has inputs',
    [],
  ],
  [
    'a trigger with a bad input',
    { triggers: [{ ...trigger, inputs: ['$value'] }] },
    'triggers.$0.inputs.$0',
    'must be a selector of an address of type erc20transfer: $contract, $from, $to',
    '$value',
  ],
  [
    'a trigger with a topic of a transfer',
    { triggers: [{ ...trigger, topic0: TRANSFER_SIGNATURE }] },
    'triggers.$0.topic0',
    'is allowed with type log only',
    TRANSFER_SIGNATURE,
  ],
  [
    'a trigger with an unknown type',
    { triggers: [{ ...trigger, functionAbi: { ...balanceOf, outputs: [{ name: '', type: 'money' }] } }] },
    'triggers.$0.functionAbi.outputs',
    'has a type that does not exist',
  ],
]);
