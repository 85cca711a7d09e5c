import { decodeEventLog, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { type JsonObject, logsOf } from '../nodes/chain-source.ts';
import { createScriptedChain, type ScriptedChain } from './scripted-chain.ts';
import { MAX_UINT256, TRANSFER_TOPIC } from './scripted-event.ts';
import {
  CONSECUTIVE_TRANSFER_TOPIC,
  TRANSFER_BATCH_TOPIC,
  TRANSFER_SINGLE_TOPIC,
} from './scripted-nft-events.ts';
import { SEAPORT_ADDRESS } from './seaport-sale-log.ts';

const chainOf = (seed: number, blocks: number): ScriptedChain => {
  const chain = createScriptedChain({ seed });
  chain.mine(blocks);
  return chain;
};
const hashes = (chain: ScriptedChain): string[] =>
  chain.blocksIn({ from: 0, to: chain.head }).map((block) => block.hash);

describe('createScriptedChain', () => {
  it('makes the same chain from the same seed and another from another', () => {
    expect(hashes(chainOf(1, 30))).toEqual(hashes(chainOf(1, 30)));
    expect(hashes(chainOf(2, 30))[5]).not.toBe(hashes(chainOf(1, 30))[5]);
  });

  it('moves NFTs in every way that an indexer must cope with', () => {
    const chain = chainOf(5, 400);
    const moves = chain.expectedNftMoves();
    const zero = `0x${'0'.repeat(40)}`;
    const topics = new Set(
      chain
        .blocksIn({ from: 0, to: chain.head })
        .flatMap(logsOf)
        .map((log) => (log.topics as string[])[0]),
    );
    for (const topic of [TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC, CONSECUTIVE_TRANSFER_TOPIC])
      expect(topics).toContain(topic);
    expect(moves.some((move) => move.from === zero)).toBe(true);
    expect(moves.some((move) => move.to === zero)).toBe(true);
    expect(moves.some((move) => move.from === move.to)).toBe(true);
    expect(moves.some((move) => move.amount === 0n)).toBe(true);
    expect(moves.some((move) => move.amount > 1n)).toBe(true);
    expect(moves.some((move) => move.tokenId > 2n ** 255n)).toBe(true);
    expect(moves.filter((move) => move.from !== zero && move.from !== move.to).length).toBeGreaterThan(100);
  });

  it('knows the sales of NFTs that Seaport tells of', () => {
    const abi = parseAbi([
      'struct Offered { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
      'struct Received { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
      'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, Offered[] offer, Received[] consideration)',
    ]);
    const chain = chainOf(5, 400);
    const sold = chain
      .blocksIn({ from: 0, to: chain.head })
      .flatMap(logsOf)
      .filter((log) => log.address === SEAPORT_ADDRESS)
      .map((log) => {
        const topics = log.topics as [`0x${string}`, ...`0x${string}`[]];
        const { args } = decodeEventLog({ abi, topics, data: log.data as `0x${string}` });
        const [{ token, identifier } = { token: '', identifier: 0n }] = args.offer;
        const price = args.consideration.reduce((sum, { amount }) => sum + amount, 0n);
        return [
          Number(log.blockNumber),
          Number(log.logIndex),
          token,
          identifier,
          args.offerer,
          args.recipient,
          price,
        ]
          .join(' ')
          .toLowerCase();
      });
    const sales = chain.expectedNftSales();
    expect(
      sales.map((sale) =>
        [sale.blockNumber, sale.logIndex, sale.token, sale.tokenId, sale.seller, sale.buyer, sale.price].join(
          ' ',
        ),
      ),
    ).toEqual(sold);
    expect(sales.length).toBeGreaterThan(30);
  });

  it('has every kind of block, transfer, transaction and log that an indexer must cope with', () => {
    const chain = chainOf(6, 400);
    const blocks = chain.blocksIn({ from: 1, to: chain.head });
    const logs = blocks.flatMap(logsOf);
    const transfers = chain.expectedTransfers();
    const zero = `0x${'0'.repeat(40)}`;
    const shape = (log: JsonObject): string =>
      `${(log.topics as string[])[0] === TRANSFER_TOPIC}/${(log.topics as string[]).length}/${(String(log.data).length - 2) / 2}`;
    const shapes = new Set(logs.map(shape));
    for (const expected of [
      'true/3/32',
      'true/3/64',
      'true/3/0',
      'true/3/31',
      'true/2/64',
      'true/1/96',
      'true/4/0',
    ])
      expect(shapes).toContain(expected);
    expect(shapes).toContain('false/0/32');
    expect(blocks.some((block) => block.transactions.length === 0)).toBe(true);
    expect(new Set(blocks.flatMap((block) => block.receipts.map((one) => one.type)))).toEqual(
      new Set(['0x0', '0x1', '0x2']),
    );
    expect(blocks.some((block) => block.receipts.some((one) => one.status === '0x0'))).toBe(true);
    expect(transfers.some((row) => row.from === zero)).toBe(true);
    expect(transfers.some((row) => row.to === zero)).toBe(true);
    expect(transfers.some((row) => row.from === row.to)).toBe(true);
    expect(transfers.some((row) => row.value === 0n)).toBe(true);
    expect(transfers.some((row) => row.value === MAX_UINT256)).toBe(true);
    expect(transfers.some((row) => row.nft)).toBe(true);
  });
});

describe('reorg', () => {
  it('keeps the ancestors, replaces the rest, and includes most transactions again', () => {
    const chain = chainOf(8, 50);
    const before = hashes(chain);
    const { commonAncestor, orphaned, added } = chain.reorg(5, 7);
    const after = hashes(chain);
    expect(chain.head).toBe(52);
    expect(after.slice(0, 46)).toEqual(before.slice(0, 46));
    expect(after.slice(46, 51).filter((hash) => before.includes(hash))).toEqual([]);
    expect([commonAncestor.number, added[0]?.parentHash]).toEqual([45, commonAncestor.hash]);
    const old = new Set(orphaned.flatMap((block) => block.scripted.map((one) => one.hash)));
    const again = added.flatMap((block) => block.scripted).filter((one) => old.has(one.hash));
    expect(again.length).toBeGreaterThan(0);
    expect(chain.blockOfTransaction(again[0]?.hash ?? '')?.number).toBeGreaterThan(45);
  });

  it('leaves truth of the canonical chain only, and orphans known by hash', () => {
    const chain = chainOf(9, 40);
    const { orphaned } = chain.reorg(10);
    const lost = new Set(orphaned.map((block) => block.hash));
    expect(chain.expectedTransfers().filter((row) => lost.has(row.blockHash))).toEqual([]);
    expect(chain.blockByHash(orphaned[0]?.hash ?? '')).toBe(orphaned[0]);
    const all = chain
      .blocksIn({ from: 0, to: chain.head })
      .flatMap((block) => block.scripted.map((one) => one.hash));
    expect(new Set(all).size).toBe(all.length);
  });

  it('keeps the finalized block where it is unless the reorganisation goes below it', () => {
    const chain = createScriptedChain({ seed: 12, finalityDepth: 8 });
    chain.mine(30);
    expect(chain.finalized).toBe(22);
    chain.reorg(6, 3);
    expect(chain.finalized).toBe(22);
    chain.reorg(10, 10);
    expect(chain.finalized).toBe(19);
  });
});
