import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { parseBlock } from './formats/parse-block.ts';
import { matchReceipts, stateSyncHash } from './formats/parse-receipt.ts';
import { checkLogs } from './logs/check-logs.ts';

const { folder: DATA, isMissing, title } = recordedData('data/evm');

interface Recorded {
  readonly folder: string;
  readonly chain: string;
  readonly n: number;
  readonly hash: string;
  readonly tx: number;
  readonly stats: { readonly logs?: number };
}

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const index: Recorded[] = isMissing ? [] : JSON.parse(readFileSync(join(DATA, 'index.json'), 'utf8'));
  const complete = index.filter(({ folder }) => !folder.startsWith('partial/'));

  test('are all there', () => {
    expect(complete.length).toBe(119);
  });

  test.each(complete)('$folder parses, and its receipts match', ({ folder, n, hash, tx, stats }) => {
    const block = parseBlock(read(folder, 'block.json'));
    expect(block.header).toMatchObject({ number: n, hash });
    expect(block.header.raw).not.toHaveProperty('transactions');
    expect(block.transactionHashes.length).toBe(tx);
    const { receipts, missing } = matchReceipts(block, read(folder, 'receipts.json') as unknown[], {
      receiptsRoot: 'ethereum',
    });
    expect(missing).toEqual([]);
    expect(receipts.map((receipt) => receipt.transactionHash)).toEqual(block.transactionHashes);
    const logs = receipts.flatMap((receipt) => receipt.logs);
    expect(logs.length).toBe(stats.logs ?? 0);
    expect(checkLogs(logs, { range: { from: n, to: n }, topics: null, indexed: [], addresses: null })).toEqual(
      logs,
    );
  });

  test('that end with a state-sync receipt keep it where the block does not list it', () => {
    const block = parseBlock(read('polygon/35779968', 'block.json'));
    const last = block.transactionHashes.at(-1);
    expect(stateSyncHash(block.header)).toBe(last);
    const listed = { ...block, transactionHashes: block.transactionHashes.slice(0, -1) };
    const matched = matchReceipts(listed, read('polygon/35779968', 'receipts.json') as unknown[], {
      receiptsRoot: 'ethereum',
    });
    expect(matched.receipts.at(-1)?.transactionHash).toBe(last);
    expect(matched.receipts.length).toBe(block.transactionHashes.length);
  });

  const bodies = isMissing ? [] : readdirSync(join(DATA, 'partial/ethereum-blocks-only'));
  test.each(bodies)('the body of %s parses', (file) => {
    const block = parseBlock(JSON.parse(readFileSync(join(DATA, 'partial/ethereum-blocks-only', file), 'utf8')));
    expect(block.header.number).toBe(Number.parseInt(file, 10));
    expect(block.transactions?.length ?? 0).toBe(block.transactionHashes.length);
  });
});

function read(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(join(DATA, folder, file), 'utf8'));
}
