import type { Address } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exampleBlock, exampleLog } from '../matching/testing/example-block.ts';
import {
  ERC20_TRANSFER,
  ERC721_TRANSFER,
  eventItem,
  exampleAddress,
  exampleStream,
} from '../matching/testing/example-stream.ts';
import type { AbiItem } from '../stream.ts';
import { finishBody, renderBody, TEST_BODY } from './render-body.ts';
import { type Enrichment, enrichedMatch } from './testing/enriched-match.ts';
import { bodyBlock, ETHEREUM, exampleMatch, exampleToken } from './testing/example-match.ts';
import { receiveWebhook } from './testing/received-webhook.ts';

const [ALICE, BOB, TOKEN, NFT] = [0xa1, 0xb0, 0xee, 0xef].map(exampleAddress) as [
  Address,
  Address,
  Address,
  Address,
];
const APPROVAL_FOR_ALL = eventItem(
  'event ApprovalForAll(address indexed account, address indexed operator, bool approved)',
);
const ERC20_APPROVAL = eventItem('event Approval(address indexed owner, address indexed spender, uint256 value)');

const TRANSACTIONS = [
  {
    from: ALICE,
    to: TOKEN,
    logs: [
      exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 1_500_000n }),
      exampleLog(NFT, ERC721_TRANSFER, { from: ALICE, to: BOB, tokenId: 7n }),
      exampleLog(TOKEN, ERC20_APPROVAL, { owner: ALICE, spender: BOB, value: 1n }),
      exampleLog(NFT, APPROVAL_FOR_ALL, { account: ALICE, operator: BOB, approved: true }),
      exampleLog(TOKEN, ERC20_TRANSFER, { from: BOB, to: ALICE, value: 2n }),
    ],
    transfers: [{ from: TOKEN, to: ALICE, value: 5n }],
    transaction: { v: '0x1', r: '0x5', s: '0x6', type: '0x2', gas: '0x5208', nonce: '0x0', input: '0x' },
    receipt: { gasUsed: '0x5208', cumulativeGasUsed: '0x5208', effectiveGasPrice: '0x1' },
  },
];
const MATCH = exampleMatch(TRANSACTIONS);
const BLOCK = bodyBlock(exampleBlock(TRANSACTIONS));

function render(enrichment: Partial<Enrichment> = {}, config: Parameters<typeof exampleStream>[0] = {}): string {
  return renderBody({
    stream: exampleStream(config),
    chain: ETHEREUM,
    block: BLOCK,
    enriched: enrichedMatch(MATCH, ETHEREUM, enrichment),
  });
}

const STATE = { confirmed: false, retries: 0 };

describe('a body', () => {
  test('has every member, in a fixed order, and is read by the official SDK', async () => {
    const body = finishBody(render({ tokens: new Map([[TOKEN, exampleToken()]]) }), STATE);
    const parsed = await receiveWebhook(body);
    expect(Object.keys(parsed)).toEqual([
      'confirmed',
      'retries',
      'chainId',
      'abi',
      'streamId',
      'tag',
      'block',
      'logs',
      'txs',
      'txsInternal',
      'erc20Transfers',
      'erc20Approvals',
      'nftTokenApprovals',
      'nftApprovals',
      'nftTransfers',
      'nativeBalances',
    ]);
    expect(parsed).toMatchObject({
      confirmed: false,
      retries: 0,
      chainId: '0x1',
      abi: [],
      streamId: '5f263741-fcaf-447f-890d-6b1b82eea35c',
      tag: 'example',
      block: { number: '7', hash: BLOCK.hash, timestamp: '1700000000' },
      nativeBalances: [],
    });
    const counts = [
      'logs',
      'txs',
      'txsInternal',
      'erc20Transfers',
      'erc20Approvals',
      'nftTokenApprovals',
      'nftTransfers',
    ];
    expect(counts.map((name) => parsed[name].length)).toEqual([5, 1, 1, 2, 1, 1, 1]);
    expect(parsed.txsInternal[0]).toEqual({
      from: TOKEN,
      to: ALICE,
      value: '5',
      gas: '21000',
      transactionHash: MATCH.logs[0]?.transactionHash,
      triggered_by: [TOKEN, ALICE],
    });
  });

  test('describes events of named contracts after the ABI of the stream, each once', () => {
    const abiOf = (abi: readonly AbiItem[] | null, events: readonly AbiItem[]): unknown => {
      const enriched = enrichedMatch(MATCH, ETHEREUM, {});
      const rendered = {
        stream: exampleStream({ abi }),
        match: { events },
        chain: ETHEREUM,
        block: BLOCK,
        enriched,
      };
      return JSON.parse(renderBody(rendered)).abi;
    };
    expect(abiOf(null, [ERC20_APPROVAL])).toEqual([ERC20_APPROVAL]);
    expect(abiOf([ERC20_TRANSFER], [ERC20_APPROVAL])).toEqual([ERC20_TRANSFER, ERC20_APPROVAL]);
    // Equal except for the names of parameters: that of the owner counts.
    const renamed = eventItem('event Approval(address indexed a, address indexed b, uint256 c)');
    expect(abiOf([renamed], [ERC20_APPROVAL])).toEqual([renamed]);
  });

  test('is the same text for every attempt but for what differs between them', () => {
    const body = render();
    expect(finishBody(body, { confirmed: true, retries: 3 })).toBe(
      `{"confirmed":true,"retries":3,${body.slice(1)}`,
    );
    expect(JSON.parse(finishBody(body, { ...STATE, removed: true }))).toEqual({
      ...JSON.parse(finishBody(body, STATE)),
      removed: true,
    });
    expect(render()).toBe(body);
  });

  test('carries the ABI as its owner wrote it', async () => {
    const abi = [
      { type: 'event', inputs: [{ type: 'uint256', name: 'x', '7': 'odd', indexed: true }], name: 'Odd' },
    ];
    const body = finishBody(render({}, { abi }), STATE);
    expect((await receiveWebhook(body)).abi).toEqual(abi);
    expect(body).toContain(
      '{"type":"event","inputs":[{"7":"odd","type":"uint256","name":"x","indexed":true}],"name":"Odd"}',
    );
  });

  test('shows native balances in the order given, exact', async () => {
    const nativeBalances = [
      { address: BOB, wei: 2n ** 200n },
      { address: ALICE, wei: 0n },
    ];
    const parsed = await receiveWebhook(finishBody(render({ nativeBalances }), STATE));
    expect(parsed.nativeBalances).toEqual([
      {
        address: BOB,
        balance: (2n ** 200n).toString(),
        balanceWithDecimals: '1606938044258990275541962092341162602522202.993782792835301376',
      },
      { address: ALICE, balance: '0', balanceWithDecimals: '0' },
    ]);
  });

  test('shows results of triggers on their items, as JSON whatever they are', async () => {
    const triggers: Enrichment['triggers'] = {
      erc20transfer: new Map([
        [
          1,
          [
            { name: 'output1', value: 7n },
            { name: 'error', value: 'reverted \0' },
          ],
        ],
      ]),
      erc20approval: new Map([[0, [{ name: 'x', value: null }]]]),
      nfttransfer: new Map([[0, [{ name: 'owner', value: { a: [1n, undefined, '\ud800'] } }]]]),
      log: new Map([[2, [{ name: 'list', value: [true] }]]]),
      tx: new Map([[0, [{ name: 'name', value: 'SPACE ID' }]]]),
    };
    const parsed = await receiveWebhook(finishBody(render({ triggers }), STATE));
    expect(parsed.erc20Transfers.map((item: { triggers?: unknown }) => item.triggers)).toEqual([
      undefined,
      [
        { name: 'output1', value: '7' },
        { name: 'error', value: 'reverted ' },
      ],
    ]);
    expect(parsed.erc20Approvals[0].triggers).toEqual([{ name: 'x', value: null }]);
    expect(parsed.nftTransfers[0].triggers).toEqual([{ name: 'owner', value: { a: ['1', null, '\ufffd'] } }]);
    expect(parsed.logs.map((log: object) => 'triggers' in log)).toEqual([false, false, true, false, false]);
    expect(parsed.txs[0].triggers).toEqual([{ name: 'name', value: 'SPACE ID' }]);
  });

  test('survives every receiver whatever names, tags and results say', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
      fc.constantFrom(
        '</script>',
        '\u2028\u2029',
        '\\u0041',
        '"',
        '\ud83e\udd84',
        '\udd84\ud83e',
        '\0',
        '__proto__',
      ),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, fc.jsonValue(), async (name, symbol, tag, value) => {
        const tokens = new Map([
          [TOKEN, exampleToken({ name, symbol, logo: name })],
          [NFT, exampleToken({ name: symbol, symbol: name, decimals: null })],
        ]);
        const triggers = { log: new Map([[0, [{ name: symbol, value }]]]) };
        const body = finishBody(render({ tokens, triggers }, { tag }), STATE);
        expect(body.isWellFormed()).toBe(true);
        expect(body).not.toMatch(/\\u0000|\\ud[89a-f]/);
        const parsed = await receiveWebhook(body);
        expect(parsed.erc20Transfers[0].tokenName).toBe(name.replaceAll('\0', '').toWellFormed());
        expect(parsed.tag).toBe(tag.replaceAll('\0', '').toWellFormed());
      }),
      { numRuns: 300 },
    );
  });

  test('of the mandatory test is read by the official SDK too', async () => {
    expect((await receiveWebhook(TEST_BODY)).block).toEqual({ number: '', hash: '', timestamp: '' });
  });
});
