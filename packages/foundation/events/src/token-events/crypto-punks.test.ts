import { type Address, type Hash, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { exampleChain } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { decodeNftTransfers } from './decode-nft-transfers.ts';
import { MALFORMED_REASONS, NFT_TRANSFER_KINDS } from './nft-transfer.ts';
import {
  ALICE,
  BOB,
  CAROL,
  erc20Log,
  placed,
  punkAssignLog,
  punkBoughtLog,
  punkTransferLog,
} from './testing/example-logs.ts';

const PUNKS = `0x${'b4'.repeat(20)}` as Address;
const decode = (...logs: Log[]) => decodeNftTransfers(logs, exampleChain({ cryptoPunks: PUNKS }));
const moves = (...logs: Log[]) =>
  decode(...logs).transfers.map(({ tokenId, from, to }) => ({ tokenId, from, to }));
const unitFrom = (seller: Address, buyer: Address) => erc20Log(seller, buyer, 1n, PUNKS);
/** Events of acceptBidForPunk next to its Transfer: the bid was cleared before. */
const accepted = (seller: Address, id = 3740n) => punkBoughtLog(PUNKS, seller, ZERO_ADDRESS, id, 0n);

describe('CryptoPunks', () => {
  it('are assigned, given and bought; never moved by the Transfer beside', () => {
    const logs = [
      punkAssignLog(PUNKS, ALICE, 1n),
      unitFrom(ALICE, BOB),
      punkTransferLog(PUNKS, ALICE, BOB, 1n),
      unitFrom(BOB, CAROL),
      punkBoughtLog(PUNKS, BOB, CAROL, 1n, 5n),
    ];
    expect(moves(...logs)).toEqual([
      { tokenId: '1', from: ZERO_ADDRESS, to: ALICE },
      { tokenId: '1', from: ALICE, to: BOB },
      { tokenId: '1', from: BOB, to: CAROL },
    ]);
    expect(decode(...logs).transfers).toMatchObject(
      [0, 2, 4].map((index) => ({
        log: logs[index],
        kind: NFT_TRANSFER_KINDS.cryptoPunks,
        token: PUNKS,
        amount: '1',
        item: 0,
        lastTokenId: null,
        operator: null,
      })),
    );
    expect(decode(...logs).malformed).toEqual([]);
  });

  it('whose bid was accepted go to the receiver of the Transfer just before', () => {
    expect(moves(unitFrom(ALICE, BOB), accepted(ALICE))).toEqual([{ tokenId: '3740', from: ALICE, to: BOB }]);
    expect(moves(unitFrom(ALICE, BOB), accepted(ALICE, 1n), unitFrom(ALICE, CAROL), accepted(ALICE, 2n))).toEqual(
      [
        { tokenId: '1', from: ALICE, to: BOB },
        { tokenId: '2', from: ALICE, to: CAROL },
      ],
    );
  });

  it('that were given for nothing go to whom the event names', () => {
    const gift = punkBoughtLog(PUNKS, ALICE, CAROL, 1n, 0n);
    expect(moves(unitFrom(ALICE, BOB), gift)).toEqual([{ tokenId: '1', from: ALICE, to: CAROL }]);
  });

  it.each([
    ['no Transfer before', [accepted(ALICE)]],
    ['a Transfer of another seller', [unitFrom(CAROL, BOB), accepted(ALICE)]],
    [
      'a Transfer of another transaction',
      [placed(unitFrom(ALICE, BOB), { transactionIndex: 0 }), accepted(ALICE)],
    ],
    ['a Transfer of another block', [placed(unitFrom(ALICE, BOB), { blockNumber: 6 }), accepted(ALICE)]],
    ['a Transfer of another contract', [erc20Log(ALICE, BOB, 1n), accepted(ALICE)]],
    ['a Transfer after it', [accepted(ALICE), unitFrom(ALICE, BOB)]],
  ])('whose buyer nobody names are malformed, not burnt: %s', (_, logs) => {
    const { transfers, malformed } = decode(...logs);
    expect(transfers).toEqual([]);
    expect(malformed).toEqual([{ log: accepted(ALICE), reason: MALFORMED_REASONS.undecodable }]);
  });

  it.each([
    ['Assign without its receiver', withTopics(punkAssignLog(PUNKS, ALICE, 1n), 1)],
    ['Assign without data', placed(punkAssignLog(PUNKS, ALICE, 1n), { data: '0x' })],
    ['PunkTransfer with two topics', withTopics(punkTransferLog(PUNKS, ALICE, BOB, 1n), 2)],
    ['PunkBought with three topics', withTopics(punkBoughtLog(PUNKS, ALICE, BOB, 1n, 1n), 3)],
    ['PunkBought without data', placed(punkBoughtLog(PUNKS, ALICE, BOB, 1n, 1n), { data: '0x' })],
  ])('%s is malformed', (_, log) => {
    expect(decode(log)).toEqual({ transfers: [], malformed: [{ log, reason: MALFORMED_REASONS.undecodable }] });
  });

  it('are of one contract: the same events of others are nobody’s', () => {
    const other = `0x${'b5'.repeat(20)}` as Address;
    const logs = [
      punkAssignLog(other, ALICE, 1n),
      punkTransferLog(other, ALICE, BOB, 1n),
      punkBoughtLog(other, ALICE, BOB, 1n, 1n),
    ];
    expect(decode(...logs)).toEqual({ transfers: [], malformed: [] });
    expect(decodeNftTransfers([punkAssignLog(PUNKS, ALICE, 1n)], exampleChain()).transfers).toEqual([]);
  });
});

function withTopics(log: Log, count: number): Log {
  return { ...log, topics: log.topics.slice(0, count) as Hash[] };
}
