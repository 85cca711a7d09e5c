/** A recorded block of Cronos in which a factory of the kind Uniswap v2 names a pair and two tokens, whose events are before and after that. */

import { createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { coverBlocks, createPartitions, listRecordedBlocks, readRecordedLogs } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { decodeEventLog, erc20Abi, toEventSelector } from 'viem';
import { expect, test } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { addContract } from '../definitions/add-contract.ts';

const BLOCK = 'cronos/6542';
const NUMBER = 6_542;
const scratch = scratchOfFile();
const chain = createChainRegistry().get('cronos');
const FACTORY = parseAddress('0xe9c29cb475c0ade80be0319b74ad112f1e80058f');
const EVENT = 'PairCreated(address indexed token0, address indexed token1, address pair, uint256)';
/** Place of its log. */
const CREATION = 19;
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

test.runIf(listRecordedBlocks().includes(BLOCK))('only events after the creation are stored', async () => {
  const logs = readRecordedLogs(BLOCK);
  const children = {
    token0: '0x0c2e6add37d5c74d25c5548e1f5ca4958d8d8f50',
    token1: '0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23',
  };
  for (const child of ['token0', 'token1'] as const) {
    await addContract(scratch.database, {
      ...{ name: child, chain, addresses: [FACTORY], firstBlock: NUMBER, events: ['Transfer'], indexed: [] },
      ...{ factory: { of: null, child, event: EVENT }, abi: erc20Abi },
    });
    await coverCreations(child);
  }
  await decodeAll(logs);
  const transfers = logs.flatMap(({ address, topics: [topic, from, to], data, logIndex }) => {
    if (topic !== TRANSFER || from === undefined || to === undefined) return [];
    const { args } = decodeEventLog({ abi: erc20Abi, eventName: 'Transfer', topics: [topic, from, to], data });
    return [{ logIndex, contract: address, value: String(args.value) }];
  });
  for (const child of ['token0', 'token1'] as const) {
    const created = await scratch.database.query<object>(
      sql`SELECT log_index, ${rawSql(child)} AS child, arg3::text AS pairs FROM analytics.contract_${rawSql(child)}_pair_created`,
    );
    expect(created).toEqual([{ logIndex: CREATION, child: children[child], pairs: '30' }]);
    const stored = await scratch.database.query<object>(
      sql`SELECT log_index, contract, value::text FROM analytics.contract_${rawSql(child)}_transfer ORDER BY log_index`,
    );
    const ofChild = transfers.filter(({ contract }) => contract === children[child]);
    expect(stored).toEqual(ofChild.filter(({ logIndex }) => logIndex > CREATION));
    // The one token has a transfer afterwards, the other one has all of them before.
    expect([ofChild.length, stored.length]).toEqual(child === 'token0' ? [1, 1] : [3, 0]);
  }
});

/** The datasets of children are offered once the blocks of the factory are covered. */
async function coverCreations(name: string): Promise<void> {
  await coverBlocks(scratch.database, chain.id, `contracts.${name}_pair_created`, NUMBER, NUMBER, 'none');
}

async function decodeAll(logs: readonly Log[]): Promise<void> {
  const datasets = await readContractDatasets(scratch.database);
  await scratch.database.transaction(async (transaction) => {
    for (const { decode, dependent, table } of datasets) {
      const lines = decode(logs, { chain, timestampOf: () => 1_636_000_000 }).map((row) => table.copyLine(row));
      const blocks = { range: { from: NUMBER, to: NUMBER }, datasets: new Set(datasets.map(({ name }) => name)) };
      const chosen = await dependent?.select(transaction, chain, blocks, lines);
      await createPartitions(transaction, table.name, chain.id);
      await transaction.copy(table.name, table.columns, chosen ?? lines);
    }
  });
}
