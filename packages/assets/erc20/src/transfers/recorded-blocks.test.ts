import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@chainstead/core';
import { exampleChain, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { erc20Transfers } from './dataset.ts';

const { folder: FOLDER, isMissing, title } = recordedData('data/evm');

interface Transfer {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly transactionHash: string;
  readonly logIndex: number | null;
}

/** The sending (or only) side of every transfer. */
function decode(folder: string): Transfer[] {
  return erc20Transfers
    .decode(readRecordedLogs(folder), { chain: exampleChain(), timestampOf: () => 0 })
    .filter((row) => row.direction !== 1)
    .map((row) => ({
      token: row.token,
      from: row.account,
      to: row.counterparty,
      value: row.value,
      transactionHash: row.transactionHash,
      logIndex: row.logIndex,
    }));
}

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  test.each(expectedFiles())('transfers of $folder equal $file', ({ folder, file }) => {
    const logs = readRecordedLogs(folder);
    const expected = readExpected(file).filter((transfer) => isErc20(transfer, logs));
    const withIndex = expected.every((transfer) => transfer.logIndex !== null);
    const actual = decode(folder).map((transfer) => (withIndex ? transfer : { ...transfer, logIndex: null }));
    expect(actual.length).toBeGreaterThan(0);
    expect(sorted(actual)).toEqual(sorted(expected));
  });
});

/** Expected files include ERC-721 transfers (four topics). Rows without a log index have an `erc20` member. */
function isErc20(transfer: Transfer & { readonly erc20?: boolean }, logs: readonly Log[]): boolean {
  if (transfer.erc20 !== undefined) return transfer.erc20;
  const log = logs.find(
    (one) => one.logIndex === transfer.logIndex && one.transactionHash === transfer.transactionHash,
  );
  return log?.topics.length === 3;
}

function expectedFiles(): { folder: string; file: string }[] {
  if (isMissing) return [];
  const root = join(FOLDER, 'expected', 'token-transfers');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(json|jsonl)$/.test(file))
    .map((file) => {
      const block = /(\d+)\.[a-z-]+\.jsonl?$/.exec(file)?.[1] ?? '';
      const chain = file.split('/')[0] ?? '';
      // SOURCES.md: "holesky" in that file is the development network whose block was recorded.
      return { folder: `${chain === 'holesky' ? 'devnet-7011893062' : chain}/${block}`, file: join(root, file) };
    })
    .filter(({ folder }) => existsSync(join(FOLDER, folder, 'receipts.json')));
}

function readExpected(file: string): (Transfer & { erc20?: boolean })[] {
  // Values are bare numbers beyond 2^53 in the .jsonl files.
  const text = readFileSync(file, 'utf8').replaceAll(/"value": (\d+)/g, '"value": "$1"');
  const rows: Record<string, unknown>[] = file.endsWith('.jsonl')
    ? text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : JSON.parse(text);
  return rows.map((row) => {
    const fromSource = 'token_address' in row;
    const position = fromSource ? row.log_index : row.logIndex;
    const transfer = {
      token: String(row[fromSource ? 'token_address' : 'tokenAddress']).toLowerCase(),
      from: String(row[fromSource ? 'from_address' : 'fromAddress']).toLowerCase(),
      to: String(row[fromSource ? 'to_address' : 'toAddress']).toLowerCase(),
      value: String(row.value),
      transactionHash: String(row[fromSource ? 'transaction_hash' : 'transactionHash']).toLowerCase(),
      // Protocol buffers omit zeros, so a missing index among others is 0.
      logIndex:
        position === undefined
          ? fromSource || rows.some((other) => 'logIndex' in other)
            ? 0
            : null
          : Number(position),
    };
    return fromSource ? transfer : { ...transfer, erc20: 'erc20' in row };
  });
}

function sorted(transfers: readonly Transfer[]): Transfer[] {
  return transfers
    .map(({ token, from, to, value, transactionHash, logIndex }) => ({
      token,
      from,
      to,
      value,
      transactionHash,
      logIndex,
    }))
    .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}
