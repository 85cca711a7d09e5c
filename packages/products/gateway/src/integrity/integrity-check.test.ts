import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { encodeTransaction } from '@chainstead/proof';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { createIntegrityCheck } from './integrity-check.ts';

type Json = Record<string, unknown>;

const { folder: DATA, isMissing, title } = recordedData('data/evm');

const ETHEREUM = createIntegrityCheck({ chain: { headerHash: true, receiptsRoot: 'ethereum' } });

function read(folder: string, file: string): unknown {
  return JSON.parse(readFileSync(join(DATA, folder, file), 'utf8'));
}

interface Recorded {
  readonly folder: string;
  readonly chain: string;
  readonly conv: string;
}

/** Blocks whose every field is as a node returned it, or recomputed from the block's own bytes. */
function faithful(): { folder: string; check: ReturnType<typeof createIntegrityCheck> }[] {
  const index: Recorded[] = !isMissing ? (read('', 'index.json') as Recorded[]) : [];
  const ids = (!isMissing ? read('', 'chain-ids.json') : {}) as Record<string, number>;
  const registry = createChainRegistry();
  return index.flatMap(({ folder, chain, conv }) => {
    const known = registry.find(ids[chain] ?? 0);
    if (known === null || folder.startsWith('partial/') || !/^(as recorded|block decoded from)/.test(conv))
      return [];
    return [{ folder, check: createIntegrityCheck({ chain: known }) }];
  });
}

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  test.each(faithful())(
    '$folder: block, transactions and receipts are what their hashes say',
    ({ folder, check }) => {
      const block = read(folder, 'block.json') as Json & { transactions: Json[] };
      const receipts = read(folder, 'receipts.json') as Json[];
      expect(check.inspect('eth_getBlockByHash', [block.hash, true], block)).toBeNull();
      expect(check.inspect('eth_getBlockByNumber', [block.number, true], block)).toBeNull();
      expect(check.inspect('eth_getBlockReceipts', [block.hash], receipts)).toBeNull();
      for (const transaction of block.transactions) {
        const { hash, blockHash, transactionIndex } = transaction;
        expect(check.inspect('eth_getTransactionByHash', [hash], transaction)).toBeNull();
        const place = [blockHash, transactionIndex];
        expect(check.inspect('eth_getTransactionByBlockHashAndIndex', place, transaction)).toBeNull();
      }
      for (const receipt of receipts)
        expect(check.inspect('eth_getTransactionReceipt', [receipt.transactionHash], receipt)).toBeNull();
    },
  );

  describe('of Ethereum', () => {
    const folder = 'ethereum/12244145';
    const block = (!isMissing ? read(folder, 'block.json') : { transactions: [] }) as Json & {
      transactions: Json[];
    };
    const receipts = (!isMissing ? read(folder, 'receipts.json') : []) as Json[];
    const [first = {}, second = {}] = block.transactions;
    const byHash = [block.hash, true];

    test('hold transactions that can be encoded', () => {
      expect(block.transactions.length).toBeGreaterThan(10);
      expect(block.transactions.filter((one) => encodeTransaction(one) === null)).toEqual([]);
    });

    test.each(['parentHash', 'stateRoot', 'miner', 'timestamp', 'gasUsed', 'receiptsRoot', 'logsBloom'])(
      'with another %s are refused',
      (field) => {
        const value = String(block[field]);
        const changed = { ...block, [field]: `${value.slice(0, -1)}${value.endsWith('1') ? '2' : '1'}` };
        expect(ETHEREUM.check('eth_getBlockByHash', byHash, JSON.stringify(changed))).toContain('hash');
      },
    );

    test.each<[string, Json[]]>([
      ['a transaction missing', block.transactions.slice(1)],
      ['transactions swapped', [second, first, ...block.transactions.slice(2)]],
      ['another value', [{ ...first, value: '0x1' }, ...block.transactions.slice(1)]],
      ['another hash', [{ ...first, hash: second.hash }, ...block.transactions.slice(1)]],
      ['a transaction of another block', [{ ...first, blockHash: second.hash }, ...block.transactions.slice(1)]],
    ])('with %s are refused', (_what, transactions) => {
      const text = JSON.stringify({ ...block, transactions });
      expect(ETHEREUM.check('eth_getBlockByHash', byHash, text)).not.toBeNull();
    });

    test('other than the one asked for are refused', () => {
      const text = JSON.stringify(block);
      expect(ETHEREUM.check('eth_getBlockByHash', [first.hash, true], text)).toContain('hash');
      expect(ETHEREUM.check('eth_getBlockByNumber', ['0x1', true], text)).toContain('number');
      expect(ETHEREUM.check('eth_getBlockByNumber', ['latest', true], text)).toBeNull();
    });

    test('a transaction with another field or in another place is refused', () => {
      const changed = { ...first, to: second.to, input: '0x' };
      expect(ETHEREUM.inspect('eth_getTransactionByHash', [first.hash], changed)?.kind).toBe(
        'transaction-hash-mismatch',
      );
      expect(ETHEREUM.inspect('eth_getTransactionByHash', [first.hash], second)?.kind).toBe(
        'transaction-hash-mismatch',
      );
      const place = [block.hash, '0x1'];
      expect(ETHEREUM.check('eth_getTransactionByBlockHashAndIndex', place, JSON.stringify(first))).toContain(
        'transactionIndex',
      );
    });

    test('a receipt of another transaction, and logs of another block, are refused', () => {
      const [receipt = {}] = receipts.filter(({ logs }) => Array.isArray(logs) && logs.length > 0);
      expect(ETHEREUM.inspect('eth_getTransactionReceipt', [block.hash], receipt)).not.toBeNull();
      const logs = (receipt.logs as Json[]).map((log) => ({ ...log, blockHash: first.hash }));
      const changed = { ...receipt, logs };
      expect(ETHEREUM.inspect('eth_getTransactionReceipt', [receipt.transactionHash], changed)).not.toBeNull();
      expect(ETHEREUM.inspect('eth_getBlockReceipts', [block.hash], [changed])).not.toBeNull();
    });

    test('are not checked where the chain commits to nothing', () => {
      const check = createIntegrityCheck({ chain: { headerHash: false, receiptsRoot: 'none' } });
      expect(
        check.check('eth_getBlockByHash', byHash, JSON.stringify({ ...block, stateRoot: block.hash })),
      ).toBeNull();
    });
  });
});

test('null, other methods and tags are nothing to check', () => {
  expect(ETHEREUM.check('eth_getBlockByHash', ['0x'], 'null')).toBeNull();
  expect(ETHEREUM.check('eth_gasPrice', [], '"0x1"')).toBeNull();
  expect(ETHEREUM.check('eth_getBlockReceipts', ['latest'], '[]')).toBeNull();
});

test('what is no block at all is refused', () => {
  for (const text of ['{}', '"0x1"', '5', '[{}]', '[5]', '{'])
    expect(ETHEREUM.check('eth_getBlockReceipts', ['0x1'], text)).not.toBeNull();
  expect(ETHEREUM.check('eth_getBlockByHash', [], '{"hash":"0x1","transactions":[]}')).not.toBeNull();
  expect(ETHEREUM.check('eth_getTransactionReceipt', [], '{}')).not.toBeNull();
});
