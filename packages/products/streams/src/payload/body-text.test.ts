import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Match } from '../matching/match.ts';
import { exampleBlock, exampleLog } from '../matching/testing/example-block.ts';
import { eventItem, exampleAddress, exampleStream } from '../matching/testing/example-stream.ts';
import { type BodyBlock, finishBody, renderBody } from './render-body.ts';
import { type Enrichment, enrichedMatch } from './testing/enriched-match.ts';
import { bodyBlock, ETHEREUM, matchEverything } from './testing/example-match.ts';
import { RECORDINGS, recordedBlocks, watchedBlock } from './testing/recorded-block.ts';
import { spelledBody } from './testing/spelled-body.ts';
import type { TokenNote } from './webhook-contents.ts';

const note: fc.Arbitrary<TokenNote> = fc.record({
  name: fc.option(fc.string()),
  symbol: fc.option(fc.string({ unit: 'grapheme' })),
  decimals: fc.option(fc.nat(77)),
  standard: fc.option(fc.constantFrom('erc20', 'erc721', 'erc1155')),
  logo: fc.option(fc.webUrl()),
  possibleSpam: fc.boolean(),
  verified: fc.boolean(),
});
const results = fc.array(fc.record({ name: fc.string(), value: fc.oneof(fc.string(), fc.boolean()) }), {
  maxLength: 2,
});

/** Possible data from nodes and the database for a match, covering some tokens and some items. */
function enrichmentOf(match: Match): fc.Arbitrary<Enrichment> {
  const contracts = [...new Set(match.logs.map(({ address }) => address))];
  const known = fc.array(fc.option(note), { minLength: contracts.length, maxLength: contracts.length });
  const byPlace = fc.array(fc.tuple(fc.nat(5), results), { maxLength: 3 }).map((given) => new Map(given));
  const types = ['tx', 'log', 'erc20transfer', 'erc20approval', 'nfttransfer'] as const;
  return fc.record({
    tokens: known.map((notes) => {
      const given = contracts.map((address, index) => [address, notes[index] ?? null] as const);
      return new Map(given.filter((one): one is readonly [Address, TokenNote] => one[1] !== null));
    }),
    triggers: fc
      .tuple(...types.map(() => byPlace))
      .map((maps) => Object.fromEntries(types.map((type, index) => [type, maps[index] ?? new Map()]))),
    nativeBalances: fc.array(
      fc.record({ address: fc.nat(200).map(exampleAddress), wei: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
      { maxLength: 3 },
    ),
  });
}

function expectSameText(match: Match, chain: Chain, block: BodyBlock, numRuns: number): void {
  fc.assert(
    fc.property(enrichmentOf(match), (enrichment) => {
      const enriched = enrichedMatch(match, chain, enrichment);
      const rendered = renderBody({ stream: exampleStream(), chain, block, enriched });
      const body = finishBody(rendered, { confirmed: false, retries: 0 });
      const spelled = spelledBody(match, chain, enrichment, block);
      // Compares objects to show the difference; comparing the texts would take minutes.
      if (body !== spelled) expect(JSON.parse(body)).toEqual(JSON.parse(spelled));
      expect(body === spelled).toBe(true);
    }),
    { numRuns },
  );
}

/** Without the contracts that have special decoding rules. */
const plainly = (chain: Chain): Chain => ({
  ...chain,
  erc20Exclusions: [],
  unindexedNfts: [],
  cryptoPunks: null,
});

const EVENTS = {
  erc20: eventItem('event Transfer(address indexed a, address indexed b, uint256 c)'),
  erc721: eventItem('event Transfer(address indexed a, address indexed b, uint256 indexed c)'),
  approval: eventItem('event Approval(address indexed a, address indexed b, uint256 c)'),
  tokenApproval: eventItem('event Approval(address indexed a, address indexed b, uint256 indexed c)'),
  approvalForAll: eventItem('event ApprovalForAll(address indexed a, address indexed b, bool c)'),
  single: eventItem(
    'event TransferSingle(address indexed a, address indexed b, address indexed c, uint256 d, uint256 e)',
  ),
  batch: eventItem(
    'event TransferBatch(address indexed a, address indexed b, address indexed c, uint256[] d, uint256[] e)',
  ),
  other: eventItem('event Other(address indexed a, uint256 c)'),
};

const address = fc.nat(9).map((number) => exampleAddress(0xa0 + number));
const word = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat(100).map(BigInt));
const eventLog = fc
  .record({
    contract: address,
    name: fc.constantFrom(...Object.keys(EVENTS)),
    a: address,
    b: address,
    c: word,
    e: word,
  })
  .map(({ contract, name, a, b, c, e }) => {
    if (name === 'single') return exampleLog(contract, EVENTS.single, { a, b, c: a, d: c, e });
    if (name === 'batch') return exampleLog(contract, EVENTS.batch, { a, b, c: b, d: [c, e], e: [e, c] });
    if (name === 'approvalForAll') return exampleLog(contract, EVENTS.approvalForAll, { a, b, c: c % 2n === 0n });
    return exampleLog(contract, EVENTS[name as 'erc20' | 'erc721' | 'approval' | 'tokenApproval' | 'other'], {
      a,
      b,
      c,
    });
  });
const quantity = fc.option(
  word.map((value) => `0x${value.toString(16)}`),
  { nil: undefined },
);
const transaction = fc.record({
  from: address,
  to: fc.option(address),
  logs: fc.array(eventLog, { maxLength: 6 }),
  transfers: fc.array(fc.record({ from: address, to: address, value: word }), { maxLength: 2 }),
  transaction: fc.record({
    gas: quantity,
    gasPrice: quantity,
    nonce: quantity,
    value: quantity,
    v: quantity,
    r: quantity,
  }),
  receipt: fc.record({ gasUsed: quantity, effectiveGasPrice: quantity, status: quantity, l1Fee: quantity }),
});

describe('the text of a body', () => {
  test('is that of the provider’s contract, whatever a block holds', () => {
    fc.assert(
      fc.property(fc.array(transaction, { minLength: 1, maxLength: 4 }), (transactions) => {
        const block = exampleBlock(transactions);
        const chain = plainly(ETHEREUM);
        expectSameText(matchEverything(block, chain), chain, bodyBlock(block), 3);
      }),
      { numRuns: 60 },
    );
  });

  const registry = createChainRegistry();
  const blocks = recordedBlocks().filter(({ folder }) => !folder.startsWith('partial/'));
  describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('of recorded blocks'), () => {
    test.each(blocks)('$folder is that of the provider’s contract', (recorded) => {
      const block = watchedBlock(recorded);
      const chain = plainly(registry.find(recorded.chain) ?? ETHEREUM);
      expectSameText(matchEverything(block, chain), chain, bodyBlock(block), 3);
    });
  });
});
