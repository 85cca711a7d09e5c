import type { Log } from '@chainstead/core';
import { listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { decodeEventLog, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eth } from '../testing/example-wallet.ts';
import { seedCoverage, seedLogs } from '../testing/seeded-wallets.ts';
import { openTokenStage, type TokenStage } from './testing/token-stage.ts';

/** In the order of the chain. */
const { isMissing, title } = recordedData('data/evm');
const folders = listRecordedBlocks()
  .filter((folder) => folder.startsWith('ethereum/'))
  .toSorted((one, other) => Number(one.split('/')[1]) - Number(other.split('/')[1]));

const ABI = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);

/** What viem reads of a log, which refuses what does not fit the event; null for anything else. */
function lineOf(log: Log): string | null {
  const [signature, ...indexed] = log.topics;
  // CryptoPunks are no ERC-20, though they say so.
  if (signature === undefined || indexed.length !== 2 || log.data.length !== 66 || log.address === eth.cryptoPunks)
    return null;
  try {
    const { args } = decodeEventLog({
      abi: ABI,
      eventName: 'Transfer',
      topics: [signature, ...indexed],
      data: log.data,
    });
    const sides = [args.from, args.to].map((side) => side.toLowerCase());
    return [log.blockNumber, log.transactionIndex, log.logIndex, ...sides, args.value, log.transactionHash].join(' ');
  } catch {
    return null;
  }
}

describe.skipIf(isMissing)(title('recorded blocks of Ethereum'), () => {
  let stage: TokenStage;
  /** By token, in the order of the chain. */
  const expected = new Map<Log['address'], string[]>();

  beforeAll(async () => {
    stage = await openTokenStage();
    const logs = folders.flatMap(readRecordedLogs);
    for (const log of logs) {
      const line = lineOf(log);
      if (line !== null) expected.set(log.address, [...(expected.get(log.address) ?? []), line]);
    }
    await seedLogs(stage.database, eth, logs);
    await seedCoverage(stage.database, eth, 0, Math.max(...logs.map(({ blockNumber }) => blockNumber)));
  });
  afterAll(() => stage?.close());

  test('every token’s pages and count are what viem reads of its logs', async () => {
    expect(expected.size).toBeGreaterThan(100);
    for (const [token, lines] of expected) {
      const answers = await stage.pages('?order=ASC', token);
      const rows = answers.flatMap(({ result }) => result);
      expect(
        rows.map((row) => {
          const place = [row.block_number, row.transaction_index, row.log_index];
          return [...place, row.from_address, row.to_address, row.value, row.transaction_hash].join(' ');
        }),
        token,
      ).toEqual(lines);
      expect((await stage.request(`/erc20/${token}/stats`)).body.transfers, token).toEqual({
        total: String(lines.length),
      });
    }
  });
});
