import type { Address, Log } from '@chainstead/core';
import { listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { decodeEventLog, parseAbi } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { eth, type NftAnswer, openNftTransfersStage } from './testing/nft-transfers-stage.ts';
import { seedNftLogs } from './testing/seeded-moves.ts';

/** In chain order. */
const { isMissing, title } = recordedData('data/evm');
const folders = listRecordedBlocks()
  .filter((folder) => folder.startsWith('ethereum/'))
  .toSorted((one, other) => Number(one.split('/')[1]) - Number(other.split('/')[1]));

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 amount)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)',
]);

interface Move {
  readonly token: Address;
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly line: string;
}

/** Decodes a log with viem; nothing for anything else. Contracts that predate these standards are left out. */
function movesOf(log: Log): Move[] {
  const [signature, ...indexed] = log.topics;
  if (signature === undefined || indexed.length !== 3 || hasOwnEvents(log.address)) return [];
  try {
    const { eventName, args } = decodeEventLog({ abi: ABI, topics: [signature, ...indexed], data: log.data });
    const move = (id: bigint, amount: bigint, operator: string | null): Move => {
      const [from, to] = [args.from.toLowerCase(), args.to.toLowerCase()];
      const place = [log.blockNumber, log.transactionIndex, log.logIndex].join('.');
      const what = [log.address, id, amount, from, to, operator?.toLowerCase() ?? '', log.transactionHash];
      return { token: log.address, id: String(id), from, to, line: [place, ...what].join(' ') };
    };
    if (eventName === 'Transfer') return log.data === '0x' ? [move(args.id, 1n, null)] : [];
    if (eventName === 'TransferSingle') return [move(args.id, args.amount, args.operator)];
    const { ids, amounts, operator } = args;
    return ids.length === amounts.length ? ids.map((id, index) => move(id, amounts[index] ?? 0n, operator)) : [];
  } catch {
    return [];
  }
}

function hasOwnEvents(address: Address): boolean {
  return address === eth.cryptoPunks || eth.unindexedNfts.includes(address);
}

function linesOf(answers: readonly NftAnswer[]): string[] {
  return answers
    .flatMap(({ result }) => result)
    .filter((row) => !hasOwnEvents(row.token_address as Address) && row.last_token_id === undefined)
    .map((row) => {
      const place = [row.block_number, row.transaction_index, row.log_index].join('.');
      const what = [row.token_address, row.token_id, row.amount, row.from_address, row.to_address, row.operator];
      return [place, ...what.map((value) => value ?? ''), row.transaction_hash].join(' ');
    });
}

/** Number of lists compared per kind: enough to be sure, in a minute. */
const COMPARED = 40;

describe.skipIf(isMissing)(title('recorded blocks of Ethereum'), () => {
  const stage = stageOfFile(openNftTransfersStage);
  let moves: readonly Move[] = [];

  beforeAll(async () => {
    const logs = folders.flatMap(readRecordedLogs);
    moves = logs.flatMap(movesOf);
    await seedNftLogs(stage.database, eth, logs);
    await stage.cover(0, Math.max(...logs.map(({ blockNumber }) => blockNumber)));
  });

  test('the pages of collections, tokens and wallets are what viem reads of their logs', async () => {
    expect(moves.length).toBeGreaterThan(200);
    const lists = new Map<string, string[]>();
    const add = (path: string, line: string): void => {
      lists.set(path, [...(lists.get(path) ?? []), line]);
    };
    for (const { token, id, from, to, line } of moves) {
      add(`/nft/${token}/transfers`, line);
      add(`/nft/${token}/${id}/transfers`, line);
      for (const wallet of new Set([from, to])) add(`/${wallet}/nft/transfers`, line);
    }
    const kinds = [/^\/nft\/\w+\/transfers/, /^\/nft\/\w+\/\w+\/transfers/, /^\/\w+\/nft\/transfers/];
    for (const kind of kinds) {
      const compared = [...lists].filter(([path]) => kind.test(path)).slice(0, COMPARED);
      expect(compared.length).toBeGreaterThan(20);
      for (const [path, lines] of compared)
        expect(linesOf(await stage.pages(`${path}?order=ASC`)), path).toEqual(lines);
    }
  });
});
