import type { ChainId, Receipt } from '@chainstead/core';
import { parseBlock, parseReceipt } from '@chainstead/rpc';
import { createScriptedChain, type JsonObject, scriptedSigners, writeEraFolder } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { openEraSource } from './open-era-source.ts';
import { emptyFolder, mainnet, readAll, readPages } from './testing/era-files.ts';

const FIRST = 8_100;

test.each(['era1', 'ere'] as const)('a scripted chain is read back from %s files', async (format) => {
  const chain = createScriptedChain({ seed: 5, firstBlock: FIRST, chainId: 1, creationShare: 0.2 });
  chain.mine(150);
  const range = { from: FIRST, to: chain.head };
  const folder = await emptyFolder();
  const paths = await writeEraFolder({ folder, network: 'devnet', format, blocks: chain.blocksIn(range) });
  expect(paths).toHaveLength(2);
  const source = openEraSource({ folder, chain: { id: mainnet.id, key: 'devnet' } });
  // Mainnet's files have another name.
  expect(await source.available(new AbortController().signal)).toEqual([]);

  const own = openEraSource({
    folder,
    chain: { id: 31_337 as ChainId, key: 'devnet' },
    recoverSigners: scriptedSigners(chain.blocksIn(range)),
  });
  expect(await own.available(new AbortController().signal)).toEqual([range]);
  const blocks = await readAll(own, range);
  expect(blocks).toHaveLength(151);
  for (const { block, receipts, lacks } of blocks) {
    const scripted = chain.blockAt(block.header.number);
    if (scripted === undefined) throw new RangeError('No such block');
    expect(lacks).toEqual([]);
    const { size: _size, ...header } = scripted.header;
    expect(block.header.raw).toMatchObject(header);
    // Scripted transactions pay their limit, whatever the base fee.
    const expected = parseBlock({ ...scripted.header, transactions: scripted.transactions }).transactions;
    expect(block.transactions?.map(withoutPrice)).toEqual(expected?.map(withoutPrice));
    expect(receipts.map(withoutRaw)).toEqual(
      scripted.receipts.map((receipt) => withoutRaw(parseReceipt(receipt))),
    );
    for (const [index, { raw }] of receipts.entries()) {
      const { logs: _logs, ...receipt } = scripted.receipts[index] ?? {};
      expect(withoutPrice(raw)).toEqual(withoutPrice(receipt));
    }
  }
  const [page] = await readPages(own, { range, topics: [] });
  expect(page?.logs).toEqual(blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs)));
});

function withoutPrice({ gasPrice: _price, effectiveGasPrice: _paid, ...others }: JsonObject): JsonObject {
  return others;
}

function withoutRaw({ raw: _raw, ...others }: Receipt): Omit<Receipt, 'raw'> {
  return others;
}
