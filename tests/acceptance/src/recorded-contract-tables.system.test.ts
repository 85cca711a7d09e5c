/** ERC-20 `Transfer` as a contract of the operator: its table equals `erc20_transfers` on all recorded blocks, row by row. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { addContract, readContractDatasets } from '@chainstead/contracts';
import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { readRecordedLogs, recordedData } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { erc20Abi, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { indexRecordedBlocks, recordedRanges } from './recorded-blocks.ts';

const { folder, isMissing, title } = recordedData('data/evm');
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const scratch = scratchOfFile();

/** Logs of recorded blocks, counted in their JSON: ERC-20 transfers, and other shapes of `Transfer` of the same contracts and of NFTs. */
const COUNTS: Readonly<Record<string, { readonly transfers: number; readonly others: number }>> = {
  arbitrum: { transfers: 10, others: 0 },
  base: { transfers: 211, others: 4 },
  'base-goerli': { transfers: 2, others: 0 },
  cronos: { transfers: 30, others: 0 },
  'devnet-7011893062': { transfers: 2, others: 0 },
  ethereum: { transfers: 1_988, others: 246 },
  hyperliquid: { transfers: 0, others: 0 },
  mumbai: { transfers: 3, others: 0 },
  optimism: { transfers: 23, others: 1 },
  polygon: { transfers: 2_208, others: 751 },
  ropsten: { transfers: 0, others: 0 },
  'stable-testnet': { transfers: 0, others: 0 },
  'tempo-moderato': { transfers: 57, others: 1 },
};

const PLACE = sql`block_number::text, transaction_index, log_index, block_time::text, transaction_hash`;
const FROM_DATASET = sql`SELECT ${PLACE}, token_address AS token, from_address AS sender, to_address AS receiver, base_units::text AS value
  FROM analytics.erc20_transfers AS stored`;
const FROM_CONTRACT = sql`SELECT ${PLACE}, contract AS token, from_ AS sender, to_ AS receiver, value::text
  FROM analytics.contract_tokens_transfer AS stored`;

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const chainIds: Record<string, number> = isMissing
    ? {}
    : JSON.parse(readFileSync(join(folder, 'chain-ids.json'), 'utf8'));
  const chains = createChainRegistry({
    additional: Object.entries(chainIds)
      .filter(([, id]) => createChainRegistry().find(id) === null)
      .map(([key, id]) => ({ key, id })),
  });

  test('are of the counted chains', () => {
    expect(Object.keys(chainIds)).toEqual(Object.keys(COUNTS));
  });

  // Filters by address, then whole receipts: two ways of reading, into equal rows.
  describe.each(['none', 'receipts'] as const)('read with the proof %s', (backfillProof) => {
    test.each(Object.entries(chainIds))('of %s have equal rows', async (name, id) => {
      const { database } = scratch;
      const chain = chains.get(id);
      const addresses = emittersOf(name).filter((address) => !chain.erc20Exclusions.includes(address));
      if (addresses.length === 0) return expect(COUNTS[name]).toEqual({ transfers: 0, others: 0 });
      await addContract(database, {
        ...{ name: 'tokens', chain, addresses, factory: null, abi: erc20Abi },
        ...{ firstBlock: null, events: ['Transfer'], indexed: [] },
      });
      const datasets = [erc20Transfers, ...(await readContractDatasets(database))];
      await indexRecordedBlocks({
        ...{ database, chain, folder, name, datasets, backfillProof },
        again: backfillProof === 'receipts',
      });
      const ofChain = sql`WHERE chain_id = ${id} ORDER BY stored.block_number, log_index`;
      const own = await database.query<object>(sql`${FROM_CONTRACT} ${ofChain}`);
      const transfers = await database.query<object>(sql`${FROM_DATASET} ${ofChain}`);
      const [undecoded] = await database.query<{ others: number }>(
        sql`SELECT count(*) AS others FROM contracts.tokens_transfer WHERE chain_id = ${id} AND undecoded IS NOT NULL`,
      );
      expect(own).toEqual(transfers);
      expect({ transfers: own.length, ...undecoded }).toEqual(COUNTS[name]);
    });
  });
});

/** Contracts that emit a `Transfer` of any shape, tokens and NFTs, from the recorded receipts. */
function emittersOf(name: string): readonly Address[] {
  const blocks = recordedRanges(folder, name).flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, index) => `${name}/${from + index}`),
  );
  const logs = blocks.flatMap(readRecordedLogs).filter(({ topics: [topic] }) => topic === TRANSFER);
  return [...new Set(logs.map(({ address }) => address))];
}
