import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { decodeEventLog, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { exampleStream } from '../matching/testing/example-stream.ts';
import { finishBody, renderBody } from './render-body.ts';
import { enrichedMatch } from './testing/enriched-match.ts';
import { bodyBlock, ETHEREUM, matchEverything } from './testing/example-match.ts';
import { receiveWebhook } from './testing/received-webhook.ts';
import { RECORDINGS, recordedBlocks, watchedBlock } from './testing/recorded-block.ts';

const blocks = recordedBlocks().filter(({ folder }) => !folder.startsWith('partial/'));
const ids: Record<string, number> = RECORDINGS.isMissing
  ? {}
  : JSON.parse(readFileSync(join(RECORDINGS.folder, 'chain-ids.json'), 'utf8'));
const registry = createChainRegistry();

const EVENTS = {
  erc20: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']),
  erc721: parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed value)']),
};

/** Transfers as another decoder (viem) finds them: `hash place from to value`. */
function transfersOf(
  logs: readonly Log[],
  abi: (typeof EVENTS)['erc20'] | (typeof EVENTS)['erc721'],
  topics: number,
): string[] {
  return logs.flatMap((log) => {
    if (log.topics.length !== topics) return [];
    try {
      const [topic0 = '0x', ...indexed] = log.topics;
      const { args } = decodeEventLog({ abi, topics: [topic0, ...indexed], data: log.data, strict: true });
      return `${log.transactionHash} ${log.logIndex} ${args.from} ${args.to} ${args.value}`.toLowerCase();
    } catch {
      // Some other event.
      return [];
    }
  });
}

const quantity = (value: unknown): string | null =>
  value === undefined || value === null ? null : BigInt(String(value)).toString();

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('bodies of recorded blocks'), () => {
  test.each(blocks)('$folder shows what the node says, and the official SDK accepts it', async (recorded) => {
    const block = watchedBlock(recorded);
    const chain = { ...(registry.find(ids[recorded.chain] ?? 1) ?? ETHEREUM), erc20Exclusions: [], unindexedNfts: [] };
    const match = matchEverything(block, chain);
    const rendered = renderBody({
      stream: exampleStream(),
      chain,
      block: bodyBlock(block),
      enriched: enrichedMatch(match, chain),
    });
    const body = await receiveWebhook(finishBody(rendered, { confirmed: true, retries: 1 }));

    expect(
      body.logs.map((log: { transactionHash: string; logIndex: string; data: string }) => [
        log.transactionHash,
        log.logIndex,
        log.data,
      ]),
    ).toEqual(block.logs.map((log) => [log.transactionHash, String(log.logIndex), log.data]));
    const receipts = new Map<string | undefined, Readonly<Record<string, unknown>>>(
      block.receipts.map((receipt) => [receipt.transactionHash, receipt.raw]),
    );
    expect(
      body.txs.map((tx: Record<string, string>) => [
        tx.hash,
        tx.fromAddress,
        tx.toAddress,
        tx.value,
        tx.gas,
        tx.nonce,
        tx.r,
        tx.receiptGasUsed,
        tx.receiptStatus,
      ]),
    ).toEqual(
      (block.block.transactions ?? []).map((tx, index) => {
        const hash = block.block.transactionHashes[index];
        const receipt = receipts.get(hash);
        const to = typeof tx.to === 'string' ? tx.to.toLowerCase() : null;
        return [
          hash,
          String(tx.from).toLowerCase(),
          to,
          ...[tx.value, tx.gas, tx.nonce, tx.r, receipt?.gasUsed, receipt?.status].map(quantity),
        ];
      }),
    );
    type Transfer = Record<
      'transactionHash' | 'logIndex' | 'from' | 'to' | 'value' | 'tokenId' | 'tokenContractType',
      string
    >;
    const shown = ({ transactionHash, logIndex, from, to, value, tokenId }: Transfer) =>
      `${transactionHash} ${logIndex} ${from} ${to} ${value ?? tokenId}`;
    expect(body.erc20Transfers.map(shown)).toEqual(transfersOf(block.logs, EVENTS.erc20, 3));
    const erc721 = body.nftTransfers.filter(({ tokenContractType }: Transfer) => tokenContractType === 'ERC721');
    expect(erc721.map(shown)).toEqual(transfersOf(block.logs, EVENTS.erc721, 4));
  });
});
