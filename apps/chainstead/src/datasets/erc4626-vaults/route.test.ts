import { createChainRegistry } from '@chainstead/chains';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { hashOf, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { seedLogs } from '../testing/seed-logs.ts';
import { erc4626Vaults } from './dataset.ts';
import { depositLog, OWNER, RECEIVER, SENDER, VAULT, withdrawLog } from './testing/example-event.ts';
import { walletVaultsRoute } from './wallet-vaults-route.ts';

const chain = createChainRegistry().get('eth');
const BLOCKS = [7, 8, 9, 10, 11];

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [walletVaultsRoute]));
beforeAll(() =>
  seedLogs(
    scratch.database,
    erc4626Vaults,
    chain,
    BLOCKS.map((blockNumber) => (blockNumber === 8 ? depositLog : withdrawLog)({}, { blockNumber })),
  ),
);

interface Page {
  readonly cursor: string | null;
  readonly result: readonly { readonly block_number: string }[];
}

async function get(query: string, wallet = OWNER): Promise<{ readonly status: number; readonly body: Page }> {
  const response = await api.request(`/api/v2.2/wallets/${wallet}/vaults${query}`, {
    headers: { 'X-API-Key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Page };
}

const blocksOf = ({ result }: Page): number[] => result.map(({ block_number }) => Number(block_number));

describe('the list', () => {
  test('shows each field of a row', async () => {
    const { status, body } = await get('?to_block=7');
    expect(status).toBe(200);
    expect(body).toEqual({
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '11', complete: true },
      result: [
        {
          vault_address: VAULT,
          kind: 'withdraw',
          sender: SENDER,
          owner: OWNER,
          receiver: RECEIVER,
          assets: '4000',
          shares: '5000',
          block_number: '7',
          block_timestamp: new Date(timestampOf(7) * 1_000).toISOString(),
          transaction_hash: hashOf(2, 7_003),
          log_index: 9,
        },
      ],
    });
  });

  test('is read page by page in either order', async () => {
    for (const [order, expected] of [
      ['DESC', BLOCKS.toReversed()],
      ['ASC', BLOCKS],
    ] as const) {
      const first = (await get(`?order=${order}&limit=3`)).body;
      const second = (await get(`?order=${order}&limit=3&cursor=${first.cursor}`)).body;
      expect([...blocksOf(first), ...blocksOf(second)]).toEqual(expected);
      expect(second.cursor).toBeNull();
    }
  });

  test('keeps to bounds of blocks and dates', async () => {
    expect(blocksOf((await get('?from_block=8&to_block=9')).body)).toEqual([9, 8]);
    const date = new Date(timestampOf(10) * 1_000).toISOString();
    expect(blocksOf((await get(`?from_date=${date}`)).body)).toEqual([11, 10]);
  });

  test('has what a wallet receives, and nothing of who only called the vault', async () => {
    expect(blocksOf((await get('', RECEIVER)).body)).toEqual([11, 10, 9, 7]);
    expect(blocksOf((await get('', SENDER)).body)).toEqual([]);
    expect((await get('?from_block=8&to_block=8')).body.result).toMatchObject([
      { kind: 'deposit', owner: OWNER, receiver: OWNER, sender: SENDER },
    ]);
  });

  test('rejects an unknown chain', async () => {
    expect((await get('?chain=nowhere')).status).toBe(400);
  });
});
