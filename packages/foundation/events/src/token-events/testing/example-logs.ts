/** Logs of NFT events as an independent encoder (viem) writes them, for tests. */
import { type Address, type Hash, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';

export const ALICE = `0x${'a1'.repeat(20)}` as Address;
export const BOB = `0x${'b0'.repeat(20)}` as Address;
export const CAROL = `0x${'ca'.repeat(20)}` as Address;
export const COLLECTION = `0x${'c0'.repeat(20)}` as Address;
export const UINT256_MAX = 2n ** 256n - 1n;

const ERC721 = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed id)']);
const ERC1155 = parseAbi([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
const ERC2309 = parseAbi([
  'event ConsecutiveTransfer(uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress)',
]);
const PUNKS = parseAbi([
  'event Assign(address indexed to, uint256 punkIndex)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event PunkTransfer(address indexed from, address indexed to, uint256 punkIndex)',
  'event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress)',
]);

/** Where a log stands; each of the builders' logs can be moved by spreading another place over it. */
export function placed(log: Log, place: Partial<Log>): Log {
  return { ...log, ...place };
}

function plainLog(address: Address, topics: readonly unknown[], data: Hex): Log {
  return {
    address,
    topics: topics.map((topic) => String(topic) as Hash),
    data,
    blockNumber: 7,
    blockHash: `0x${'44'.repeat(32)}` as Hash,
    transactionHash: `0x${'55'.repeat(32)}` as Hash,
    transactionIndex: 1,
    logIndex: 2,
    blockTimestamp: null,
  };
}

const words = (...values: readonly (bigint | Hex)[]): Hex =>
  `0x${values.map((value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')).join('')}`;

export function erc721Log(from: Address, to: Address, id: bigint, token = COLLECTION): Log {
  return plainLog(token, encodeEventTopics({ abi: ERC721, eventName: 'Transfer', args: { from, to, id } }), '0x');
}

export function singleLog(from: Address, to: Address, id: bigint, value: bigint, operator = CAROL): Log {
  const args = { operator, from, to };
  const data = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [id, value]);
  return plainLog(COLLECTION, encodeEventTopics({ abi: ERC1155, eventName: 'TransferSingle', args }), data);
}

export function batchLog(
  from: Address,
  to: Address,
  ids: readonly bigint[],
  values: readonly bigint[],
  operator = CAROL,
): Log {
  const args = { operator, from, to };
  const data = encodeAbiParameters([{ type: 'uint256[]' }, { type: 'uint256[]' }], [ids, values]);
  return plainLog(COLLECTION, encodeEventTopics({ abi: ERC1155, eventName: 'TransferBatch', args }), data);
}

/** A TransferBatch whose data is given word by word. */
export function rawBatchLog(...data: readonly bigint[]): Log {
  return placed(batchLog(ALICE, BOB, [], []), { data: words(...data) });
}

export function consecutiveLog(first: bigint, last: bigint, to = ALICE, from = ZERO_ADDRESS): Log {
  const args = { fromTokenId: first, fromAddress: from, toAddress: to };
  return plainLog(
    COLLECTION,
    encodeEventTopics({ abi: ERC2309, eventName: 'ConsecutiveTransfer', args }),
    words(last),
  );
}

/** CryptoKitties' Transfer: nothing is indexed. */
export function unindexedLog(from: Address, to: Address, id: bigint, token: Address): Log {
  const [topic0] = encodeEventTopics({ abi: ERC721, eventName: 'Transfer' });
  return plainLog(token, [topic0], words(from, to, id));
}

export function erc20Log(from: Address, to: Address, value: bigint, token = COLLECTION): Log {
  return plainLog(
    token,
    encodeEventTopics({ abi: PUNKS, eventName: 'Transfer', args: { from, to } }),
    words(value),
  );
}

export function punkAssignLog(punks: Address, to: Address, id: bigint): Log {
  return plainLog(punks, encodeEventTopics({ abi: PUNKS, eventName: 'Assign', args: { to } }), words(id));
}

export function punkTransferLog(punks: Address, from: Address, to: Address, id: bigint): Log {
  const topics = encodeEventTopics({ abi: PUNKS, eventName: 'PunkTransfer', args: { from, to } });
  return plainLog(punks, topics, words(id));
}

export function punkBoughtLog(punks: Address, from: Address, to: Address, id: bigint, value: bigint): Log {
  const args = { punkIndex: id, fromAddress: from, toAddress: to };
  return plainLog(punks, encodeEventTopics({ abi: PUNKS, eventName: 'PunkBought', args }), words(value));
}

/** IDs and amounts of any size, including those around the exact range of a double and the largest. */
export const numbers: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: UINT256_MAX }),
  fc.bigInt({ min: 2n ** 52n - 2n, max: 2n ** 53n + 2n }),
  fc.bigInt({ min: 0n, max: 20n }),
  fc.constantFrom(0n, 1n, UINT256_MAX),
);

export const accounts: fc.Arbitrary<Address> = fc.oneof(
  fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as Address),
  fc.constantFrom(ALICE, BOB, ZERO_ADDRESS),
);
