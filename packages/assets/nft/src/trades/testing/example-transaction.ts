/** Logs for tests of marketplace decoders: encoded with viem, one after the other in a transaction. */
import { type Address, type Hash, type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbi, parseAbiItem } from 'viem';

/** A log without its position. */
export type ExampleLog = Pick<Log, 'address' | 'topics' | 'data'>;

/** An example account or contract for a number; `0xa0…` avoids addresses with a meaning. */
export function exampleAddress(number: number): Address {
  return parseAddress(`0xa${number.toString(16).padStart(39, '0')}`);
}

/** The logs of one transaction, in this order. */
export function exampleTransaction(logs: readonly ExampleLog[], place: Partial<Log> = {}): Log[] {
  return logs.map((log, logIndex) => ({
    blockNumber: 1,
    blockHash: parseHash(`0x${'b'.repeat(64)}`),
    transactionHash: parseHash(`0x${'7'.repeat(64)}`),
    transactionIndex: 0,
    logIndex,
    blockTimestamp: null,
    ...log,
    ...place,
  }));
}

/** A log of any event. */
export function exampleLog(
  address: Address,
  event: AbiEvent,
  args: Readonly<Record<string, unknown>>,
): ExampleLog {
  const inputs = event.inputs.filter((input) => input.indexed !== true);
  return {
    address,
    topics: encodeEventTopics({ abi: [event], eventName: event.name, args }).map(
      (topic) => String(topic) as Hash,
    ),
    data: encodeAbiParameters(
      inputs,
      inputs.map((input) => args[input.name ?? '']),
    ),
  };
}

export function erc20Transfer(token: Address, from: Address, to: Address, value: bigint): ExampleLog {
  return exampleLog(token, ERC20_TRANSFER, { from, to, value });
}

export function erc721Transfer(token: Address, from: Address, to: Address, tokenId: bigint): ExampleLog {
  return exampleLog(token, ERC721_TRANSFER, { from, to, tokenId });
}

export function erc1155Transfer(
  token: Address,
  from: Address,
  to: Address,
  id: bigint,
  value: bigint,
): ExampleLog {
  return exampleLog(token, TRANSFER_SINGLE, { operator: from, from, to, id, value });
}

/** As CryptoKitties emits it: nothing indexed. */
export function unindexedTransfer(token: Address, from: Address, to: Address, tokenId: bigint): ExampleLog {
  return exampleLog(token, UNINDEXED_TRANSFER, { from, to, tokenId });
}

/** A log as it was recorded. */
export function recordedLog(address: string, topic: string, data: Hex): ExampleLog {
  return { address: parseAddress(address), topics: [parseHash(topic)], data };
}

const [ERC20_TRANSFER] = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);
const [ERC721_TRANSFER] = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
]);
const UNINDEXED_TRANSFER = parseAbiItem('event Transfer(address from, address to, uint256 tokenId)');
const TRANSFER_SINGLE = parseAbiItem(
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
);
