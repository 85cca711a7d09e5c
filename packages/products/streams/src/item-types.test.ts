import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { itemsOf, selectedAddress, selectedText } from './enrichment/read-triggers.ts';
import { ITEM_TYPES, itemTypeOf, SELECTOR_TYPES, TRIGGER_TYPES } from './item-types.ts';
import { exampleHash, exampleLog } from './matching/testing/example-block.ts';
import {
  ERC20_TRANSFER,
  ERC721_TRANSFER,
  eventItem,
  exampleAddress,
  exampleStream,
} from './matching/testing/example-stream.ts';
import { renderBody } from './payload/render-body.ts';
import { enrichedMatch } from './payload/testing/enriched-match.ts';
import { exampleMatch, exampleToken } from './payload/testing/example-match.ts';
import { selectorProblem } from './routes/check-stream.ts';
import { nativeBalanceSchema, triggerSchema } from './routes/stream-schema.ts';

const [ALICE, BOB, TOKEN, NFT] = [0xa1, 0xb0, 0xee, 0xef].map(exampleAddress) as [
  Address,
  Address,
  Address,
  Address,
];
const ETHEREUM = createChainRegistry().get('eth');
const ERC20_APPROVAL = eventItem('event Approval(address indexed owner, address indexed spender, uint256 value)');

/** A block with an item of each type. Add one for each new type. */
const MATCH = exampleMatch([
  {
    from: ALICE,
    to: TOKEN,
    logs: [
      exampleLog(TOKEN, ERC20_TRANSFER, { from: ALICE, to: BOB, value: 1_500_000n }),
      exampleLog(NFT, ERC721_TRANSFER, { from: ALICE, to: BOB, tokenId: 7n }),
      exampleLog(TOKEN, ERC20_APPROVAL, { owner: ALICE, spender: BOB, value: 1n }),
    ],
    transfers: [{ from: TOKEN, to: ALICE, value: 5n }],
    transaction: {
      v: '0x1',
      r: '0x5',
      s: '0x6',
      type: '0x2',
      gas: '0x5208',
      nonce: '0x0',
      input: '0x',
      value: '0x0',
    },
    receipt: { gasUsed: '0x5208', cumulativeGasUsed: '0x5208', effectiveGasPrice: '0x1', status: '0x1' },
  },
]);
const tokens = new Map([TOKEN, NFT].map((address) => [address, exampleToken()]));
const { contents } = enrichedMatch(MATCH, ETHEREUM, { tokens });

describe.each(SELECTOR_TYPES)('items of type %s', (type) => {
  const [item] = itemsOf(type, contents);
  const { addresses, others } = itemTypeOf(type);

  test('have every member that selectors may name, and an address in one of those that hold one', () => {
    if (item === undefined) throw new Error(`The example has no item of type ${type}`);
    expect(Object.keys(item)).toEqual(expect.arrayContaining([...addresses, ...others]));
    const selected = addresses.map((name) => selectedAddress(`$${name}`, item));
    expect(selected.filter((address) => address !== null).length).toBeGreaterThan(0);
    expect(
      others.map((name) => selectedText(`$${name}`, item)).filter((text) => text !== null).length,
    ).toBeGreaterThan(0);
  });

  test('may be named by those selectors alone', () => {
    for (const name of addresses) expect(selectorProblem(type, `$${name}`, 'address')).toBeNull();
    for (const name of others) expect(selectorProblem(type, `$${name}`, 'any')).toBeNull();
    expect(selectorProblem(type, '$triggered_by', 'any')).toContain(`of type ${type}: $${addresses[0]}`);
  });

  test('may be asked for', () => {
    expect(nativeBalanceSchema.safeParse({ selectors: [], type }).success).toBe(true);
    const trigger = { type, contractAddress: '', functionAbi: { type: 'function' } };
    expect(triggerSchema.safeParse(trigger).success).toBe(TRIGGER_TYPES.some((other) => other === type));
  });
});

test('results of triggers of each type are shown with its items, and with no others', () => {
  for (const type of TRIGGER_TYPES) {
    const triggers = { [type]: new Map([[0, [{ name: 'output1', value: type }]]]) };
    const enriched = enrichedMatch(MATCH, ETHEREUM, { tokens, triggers });
    const block = { number: 1, hash: exampleHash(1), timestamp: 1 };
    const body = JSON.parse(renderBody({ stream: exampleStream(), chain: ETHEREUM, block, enriched }));
    const lists = Object.entries(body).filter(([, items]) => JSON.stringify(items).includes('"triggers"'));
    expect(lists.map(([list]) => list)).toEqual([ITEM_TYPES[type].list]);
    expect(body[ITEM_TYPES[type].list][0].triggers).toEqual([{ name: 'output1', value: type }]);
  }
});
