import { createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress } from '@chainstead/core';
import { listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { type DecodeEventLogReturnType, decodeEventLog, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { decodeNftTransfers } from './decode-nft-transfers.ts';

const { isMissing, title } = recordedData('data/evm');

const CRYPTO_KITTIES = parseAddress('0x06012c8cf97bead5deae237070f9587f8e7a266d');
const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event PunkBought(uint256 indexed id, uint256 value, address indexed from, address indexed to)',
]);
const UNINDEXED = parseAbi(['event Transfer(address from, address to, uint256 id)']);

interface Move {
  readonly place: string;
  readonly item: number;
  readonly token: string;
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

/** Ethereum's facts for all: only there are CryptoPunks and CryptoKitties at these addresses. */
const chain = createChainRegistry().get(1);

function movesOf(block: string): Move[] {
  const { transfers, malformed } = decodeNftTransfers(readRecordedLogs(block), chain);
  expect(malformed).toEqual([]);
  return transfers.map(({ log, item, token, tokenId, from, to, amount }) => ({
    place: `${log.transactionIndex}.${log.logIndex}`,
    item,
    token,
    id: tokenId,
    from,
    to,
    amount,
  }));
}

/** The same by viem, which refuses what does not fit an event. */
function movesByViem(block: string): Move[] {
  return readRecordedLogs(block).flatMap((log) => {
    const event = decodeByViem(log);
    if (event === null) return [];
    const common = {
      place: `${log.transactionIndex}.${log.logIndex}`,
      token: log.address,
      from: event.args.from.toLowerCase(),
      to: event.args.to.toLowerCase(),
    };
    if (event.eventName === 'TransferBatch')
      return event.args.ids.map((id, item) => ({
        ...common,
        item,
        id: id.toString(),
        amount: String(event.args.values[item]),
      }));
    const amount = event.eventName === 'TransferSingle' ? event.args.value : 1n;
    return [{ ...common, item: 0, id: event.args.id.toString(), amount: amount.toString() }];
  });
}

function decodeByViem(log: Log): DecodeEventLogReturnType<typeof ABI> | null {
  const abi = log.address === CRYPTO_KITTIES ? UNINDEXED : ABI;
  const [signature, ...indexed] = log.topics;
  if (signature === undefined) return null;
  try {
    return decodeEventLog({
      abi,
      topics: [signature, ...indexed],
      data: log.data,
    }) as DecodeEventLogReturnType<typeof ABI>;
  } catch {
    return null;
  }
}

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const blocks = listRecordedBlocks();

  const moves: (Move & { readonly block: string })[] = [];

  test.each(blocks)('of %s every NFT log is read once, as viem reads it', (block) => {
    const read = movesOf(block);
    expect(read).toEqual(movesByViem(block));
    expect(new Set(read.map(({ place, item }) => `${place} ${item}`)).size).toBe(read.length);
    moves.push(...read.map((move) => ({ ...move, block })));
  });

  test('together hold the logs that were counted when they were recorded', () => {
    const logs = new Set(moves.map(({ block, place }) => `${block} ${place}`));
    // 1,016 of ERC-721, 300 TransferSingle, 36 TransferBatch, 2 of CryptoKitties, 1 CryptoPunk.
    expect(logs.size).toBe(1_016 + 300 + 36 + 2 + 1);
    expect(moves.filter(({ token }) => token === CRYPTO_KITTIES)).toHaveLength(2);
    expect(moves.filter(({ token }) => token === chain.cryptoPunks)).toMatchObject([
      {
        id: '3740',
        from: '0x6639c089adfba8bb9968da643c6be208a70d6daa',
        to: '0x6d6a443ed637a23b0fc3a0e55a07e785a6b0caa8',
      },
    ]);
  });
});
